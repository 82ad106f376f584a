// Extensions that do what they should not, round after round, and files that are swapped while they are copied: a few rounds for
// the tests, all of them for `npm run chaos`. After each round nothing of the extension is left, and another one has gone on.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PluginHost } from '../../packages/gateway/src/host/plugin-host.ts';
import { createTreeCopies } from '../../packages/gateway/src/host/sep/process/tree-copy.ts';
import { hashTree } from '../../packages/gateway/src/host/tree-hash.ts';
import type { HostWorld } from './plugins.ts';
import { put } from './plugins.ts';
import type { Random } from './random.ts';
import { toolCall, until, writeExtension } from './written-extension.ts';

const BY = { by: 'test' };
const TOOLS = '[capabilities]\ntools = true';

/** Each of them ends its process. `reason`: as it is on record. */
export const deadly: Readonly<Record<string, { readonly how?: object; readonly reason: RegExp }>> = {
  exit: { reason: /code 3/ },
  abort: { reason: /SIGABRT/ },
  throws: { reason: /code 1/ },
  rejects: { reason: /code 1/ },
  closeOutput: { reason: /closed its output/ },
  segv: { how: { deed: 'signal', name: 'SIGSEGV' }, reason: /SIGSEGV/ },
  kill: { how: { deed: 'signal', name: 'SIGKILL' }, reason: /closed its output|SIGKILL/ },
  // Two gigabytes without an end of the line; cut off at the first.
  endless: { how: { bytes: 2_147_483_648 }, reason: /a line of more than 1048576 bytes/ },
};

export function writeStorm(world: HostWorld): void {
  for (const name of ['probe', 'other']) writeExtension(world, name, { fixture: 'probe.mjs', manifest: TOOLS });
}

export function doIn(host: PluginHost, name: string, how: object, signal?: AbortSignal): Promise<{ content?: unknown }> {
  const tool = host.registry.findAny('tool', `${name}__do`)?.item;
  assert.ok(tool, `there is no tool of ${name}`);
  return Promise.resolve(tool.execute(how as never, toolCall(signal)));
}

/** One death, drawn. The caller has enabled both, and its clock does not wait for restarts. */
export async function dieOnce(host: PluginHost, random: Random): Promise<string> {
  const name = random.pick(Object.keys(deadly));
  const { how = {}, reason } = deadly[name]!;
  const { pid } = host.get('probe')!.process!;
  await assert.rejects(doIn(host, 'probe', { deed: name, quiet: true, ...how }), name);
  assert.equal((await doIn(host, 'other', { deed: 'isThere', path: '/' })).content, 'true', `${name}: the other one goes on`);
  await until(() => host.get('probe')!.process!.state !== 'ready' || host.get('probe')!.process!.pid !== pid);
  const seen = () => host.get('probe')!.process!;
  await until(() => reason.test(seen().reason ?? '') || seen().state === 'ready');
  await until(() => !isRunning(pid!));
  // Whoever is asked to try again does; that forgets its crashes.
  const [again] = await host.reload('probe', BY);
  assert.equal(again?.state, 'loaded', `${name}: ${again?.reason}`);
  return name;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Somebody swaps a file while the files are copied to be run: what runs is what was trusted, or nothing. */
export async function swapRounds(
  place: string,
  rounds: number,
  isOver: () => boolean = () => false,
): Promise<{ copied: number; refused: number }> {
  const folder = join(place, 'swapped');
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (let each = 0; each < 8; each++) put(join(folder, `file-${each}.mjs`), `export const n = ${each};`);
  const file = join(folder, 'file-7.mjs');
  const good = readFileSync(file, 'utf8');
  const tree = await hashTree(folder);
  assert.ok(tree.ok);
  let isSwapping = true;
  let flips = 0;
  const swap = (): void => {
    const other = join(place, 'other.mjs');
    writeFileSync(other, ++flips % 2 ? 'evil();' : good, { mode: 0o644 });
    renameSync(other, file);
    if (isSwapping) setImmediate(swap);
  };
  setImmediate(swap);
  const copies = createTreeCopies(join(place, 'copies'));
  let copied = 0;
  let refused = 0;
  try {
    for (let round = 0; round < rounds && !isOver(); round++) {
      // A copy of its own each time, so that each is made.
      await copies.clear();
      const copy: string | undefined = await copies.of(folder, tree.hash).catch((error: Error) => {
        assert.match(error.message, /changed while|cannot be read|ENOENT/);
        return undefined;
      });
      if (copy === undefined) refused++;
      else {
        copied++;
        assert.equal(readFileSync(join(copy, 'file-7.mjs'), 'utf8'), good, 'only what was trusted');
        assert.equal(readdirSync(copy).length, 8);
      }
    }
  } finally {
    isSwapping = false;
    await new Promise((resolve) => setImmediate(resolve));
    await copies.clear();
  }
  return { copied, refused };
}
