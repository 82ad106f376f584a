// `tenon ext dev`: an author changes files and sees what the extension says, what is wrong with it and what it lacks.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../../packages/gateway/src/cli/program.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { cleanEnv, tenonBin } from '../support/gateway.ts';
import { isRunning } from '../../packages/gateway/src/kernel/process-identity.ts';

const MANIFEST = 'name = "trial"\nversion = "1.0.0"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n[capabilities]\ntools = true\n';

/** Answers everything with what `answers.json` holds, and asks what the tool `ask` is told to. */
const MAIN = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
const say = (frame) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...frame }) + '\\n');
const { registrations, version, child } = JSON.parse(readFileSync('answers.json', 'utf8'));
const helper = child ? spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }) : undefined;
if (helper) process.stderr.write('helper ' + helper.pid + '\\n');
const waiting = new Map();
let asked = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) { waiting.get(id)?.(result ?? error); continue; }
  if (method === 'initialize') say({ id, result: { protocol_version: 1, extension: { name: 'trial', version }, registrations } });
  else if (method === 'tool/execute') {
    const own = ++asked;
    waiting.set(own, (answer) => say({ id, result: { content: JSON.stringify(answer) } }));
    say({ id: own, method: params.arguments.method, params: params.arguments.params });
  } else if (method === 'shutdown') { say({ id, result: {} }); process.exit(0); }
  else say({ id, result: {} });
}
`;

const ASK = { name: 'ask', description: 'Asks the host.', parameters: { type: 'object' } };

function makeFolder(t: TestContext, answers: object = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-dev-'));
  cleanUp(t, () => removeFolder(folder));
  mkdirSync(join(folder, 'trial'));
  writeFileSync(join(folder, 'trial', 'extension.toml'), MANIFEST);
  writeFileSync(join(folder, 'trial', 'main.mjs'), MAIN);
  writeFileSync(join(folder, 'trial', 'answers.json'), JSON.stringify({ version: '1', registrations: { tools: [ASK] }, ...answers }));
  return folder;
}

const PATIENCE_MS = 60_000;

function tooLate(wanted: RegExp, said: () => string): Promise<never> {
  return sleep(PATIENCE_MS, undefined, { ref: false }).then(() => assert.fail(`${wanted} was not said: ${said()}`));
}

function dev(t: TestContext, folder: string, ...words: string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: false });
  const interrupt = new AbortController();
  let out = '';
  let told = Promise.withResolvers<void>();
  const into = {
    write(text: string) {
      out += text;
      told.resolve();
    },
  };
  const code = runCli(['ext', 'dev', join(folder, 'trial'), ...words], {
    stdout: into,
    stderr: into,
    stdin,
    env: cleanEnv({ TENON_HOME: folder }),
    now: Date.now,
    interrupted: () => interrupt.signal,
  });
  void code.then(() => told.resolve());
  cleanUp(t, async () => {
    interrupt.abort();
    await code;
  });
  let seen = 0;
  return {
    /** What was said since the last time, up to this. */
    async until(wanted: RegExp): Promise<string> {
      for (;;) {
        const found = wanted.exec(out.slice(seen));
        if (found) {
          const said = out.slice(seen, seen + found.index + found[0].length);
          seen += said.length;
          return said;
        }
        assert.ok(!interrupt.signal.aborted, out);
        await Promise.race([told.promise, tooLate(wanted, () => out.slice(seen))]);
        told = Promise.withResolvers<void>();
      }
    },
    type: (line: string) => stdin.write(`${line}\n`),
    change: (file: string, text: string) => writeFileSync(join(folder, 'trial', file), text),
    async end(): Promise<number> {
      interrupt.abort();
      return code;
    },
    get out() {
      return out;
    },
  };
}

test('it shows what is said in both directions, and what is typed is a call', async (t) => {
  const session = dev(t, makeFolder(t));
  await session.until(/ready trial 1\.0\.0 in \d+ ms: tools ask\n/);
  session.type('nonsense');
  await session.until(/knows ask \{…\}, reload\n/);
  session.type('ask {"method":"ping","params":{}}');
  const said = await session.until(/← tool\/execute 2 = \{"content":"\{\}"\} \(\d+ ms\)\n/);
  assert.match(
    said,
    /→ tool\/execute 2 \{.*"context":\{"token":"\*\*\*","tier":"command"\}\}\n← ping 1 \{\}\n→ ping 1 = \{\} \(\d+ ms\)\n/,
  );
  session.type('ask [5]');
  await session.until(/wrong the arguments of a tool are a JSON object, such as \{"text": "hello"\}\n/);
  assert.equal(await session.end(), 0);
  assert.match(session.out, /→ shutdown 3 \{\}\n← shutdown 3 = \{\} \(\d+ ms\)\nended nothing of it is running\n$/);
});

test('every message is held against the schemas, and what is missing comes with the command that gives it', async (t) => {
  const session = dev(t, makeFolder(t), '--grant', 'tools.register');
  await session.until(/ready/);
  session.type('ask {"method":"kv/set","params":{"key":5,"value":1}}');
  await session.until(/wrong kv\/set: params\/key must be string\n/);
  session.type('ask {"method":"kv/get","params":{"key":"a"}}');
  await session.until(
    /missing kv\/get: its manifest does not ask for it; write kv = true under \[capabilities\], then: tenon ext trust trial\n/,
  );
  await session.until(/! \{"code":-32004,"message":"capability 'kv' is disabled"\}/);
  session.change('extension.toml', `${MANIFEST}kv = true\n`);
  await session.until(/changed starting it anew\n/);
  await session.until(/ready/);
  session.type('ask {"method":"kv/get","params":{"key":"a"}}');
  await session.until(/missing kv\/get: it is not granted; grant it with: tenon ext grant trial extension\.use:kv\n/);
  session.change(
    'answers.json',
    JSON.stringify({ version: '1', registrations: { tools: [ASK], commands: [{ name: 'c', description: '' }] } }),
  );
  await session.until(/missing commands c: .*write commands = true/);
});

test('a change starts it anew; one that is no good leaves the one before at work', async (t) => {
  const session = dev(t, makeFolder(t));
  await session.until(/ready trial/);
  session.change('answers.json', '{');
  await session.until(
    /failed it has ended with 1 before it introduced itself; the one before goes on; it is started again when a file changes\n/,
  );
  session.type('ask {"method":"ping","params":{}}');
  await session.until(/= \{"content":"\{\}"\}/);
  session.change('extension.toml', 'name = ');
  await session.until(/wrong extension\.toml: .*TOML.*\nwaits for a change of the manifest\n/);
  session.change('extension.toml', MANIFEST.replace('1.0.0', '1.0.1'));
  session.change('answers.json', JSON.stringify({ version: '2', registrations: {} }));
  await session.until(/ready trial 1\.0\.1 in \d+ ms: it registers nothing\n/);
});

test('a dialog is answered by the next line', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'trial', 'extension.toml'), `${MANIFEST}ui = true\n`);
  const session = dev(t, folder, '--json');
  await session.until(/"state":"ready"/);
  session.type('ask {"method":"ui/request","params":{"kind":"confirm","prompt":"Sure?"}}');
  await session.until(/"state":"asks","text":"Sure\? .*"\}\n/);
  session.type('y');
  await session.until(/\\"confirmed\\":true/);
});

test('a folder that is not there is exit code 1', async (t) => {
  const session = dev(t, join(tmpdir(), 'no such folder'));
  await session.until(/is not there; name the folder of an extension, or make one with: tenon ext new <name>\n/);
});

test('Ctrl-C leaves no process, also none that the extension has started', async (t) => {
  const folder = makeFolder(t, { child: true });
  const child = spawn(process.execPath, [tenonBin, 'ext', 'dev', 'trial', '--json'], {
    cwd: folder,
    env: cleanEnv({ TENON_HOME: folder }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUp(t, () => child.kill('SIGKILL'));
  let out = '';
  let isAsked = false;
  for await (const chunk of child.stdout) {
    out += String(chunk);
    if (isAsked || !/"state":"ready"/.test(out) || !/helper \d+/.test(out)) continue;
    isAsked = true;
    child.kill('SIGINT');
  }
  if (child.exitCode === null) await once(child, 'exit');
  assert.equal(child.exitCode, 0);
  const helper = Number(/helper (\d+)/.exec(out)?.[1]);
  assert.ok(!isRunning({ pid: helper }), `process ${helper} is left`);
  assert.match(out, /"text":"nothing of it is running"\}\n$/);
  assert.equal(readFileSync(join(folder, 'trial', 'extension.toml'), 'utf8'), MANIFEST);
});
