// The reference extensions of spec/sep, in JavaScript and in Python, as real processes: each scripted exchange goes as it is
// written, and every frame is one that a writer may send.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type ExtensionManifest, readManifest, wire } from '@tenon/protocol/sep';
import { exchanges, type Exchange } from '@tenon/protocol/sep/conformance';
import { parse } from 'smol-toml';
import { connectExtension, type Connection, type ExtensionUnderTest } from '../support/sep-exchange.ts';
import { verifies } from '../support/verifies.ts';

const folder = (language: string) => join(import.meta.dirname, '../../spec/sep/reference', language);

const python = spawnSync('python3', ['--version'], { encoding: 'utf8' });
const languages: Readonly<Record<string, string | false>> = {
  javascript: false,
  python: python.status === 0 ? false : 'there is no python3 on this machine',
};

const hello: Exchange = exchanges.find(({ name }) => name === 'registrations')!;
const further: Exchange = exchanges.find(({ name }) => name === 'seam-registrations')!;

for (const [language, skip] of Object.entries(languages)) {
  describe(`the reference extension in ${language}`, { skip }, () => {
    const open: Connection[] = [];
    const shared = new Map<string, Promise<Connection>>();
    after(async () => {
      for (const connection of open) await connection.close();
    });

    async function start(): Promise<Connection> {
      const connection = await connectExtension(extensionIn(language));
      open.push(connection);
      return connection;
    }

    /** One for all exchanges that need none of their own, with and without what is beyond SEP. */
    function running(greeting: Exchange): Promise<Connection> {
      const known =
        shared.get(greeting.name) ??
        start().then(async (connection) => {
          await connection.play(greeting);
          return connection;
        });
      shared.set(greeting.name, known);
      return known;
    }

    test('has a manifest that can be read', () => {
      manifestIn(language);
    });

    const { capabilities = {} } = manifestIn(language);
    for (const exchange of exchanges.filter(({ groups = [] }) => groups.every((group) => capabilities[group] === true))) {
      test(`${exchange.name}: ${exchange.summary}`, async () => {
        verifies('sep:references');
        const connection = exchange.fresh ? await start() : await running(exchange.groups ? further : hello);
        await connection.play(exchange);
      });
    }
  });
}

function manifestIn(language: string): ExtensionManifest {
  const read = readManifest(parse(readFileSync(join(folder(language), 'extension.toml'), 'utf8')));
  assert.ok(read.ok && read.unknown.length === 0, JSON.stringify(read));
  return read.manifest;
}

function extensionIn(language: string): ExtensionUnderTest {
  const { command, args = [] } = manifestIn(language).run;
  return { command: command === 'node' ? process.execPath : command, args, cwd: folder(language) };
}

test('the reference in Python has every group, that in JavaScript those of SEP; their commands are named apart', () => {
  verifies('sep:references', 'sep:seams');
  const on = (language: string) => wire.groupNames.filter((group) => manifestIn(language).capabilities?.[group] === true);
  assert.deepEqual(on('python'), wire.groupNames);
  assert.deepEqual(
    on('javascript'),
    wire.groupNames.filter((group) => !('beyond' in wire.groups[group])),
  );
});
