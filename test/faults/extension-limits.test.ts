// Extensions as the host has them, with real processes: what they may use up, how they die, what a gateway that starts anew knows of
// it, and files that are swapped while they are copied. All of it at full count: `npm run chaos -- --only extension`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '@tenon/protocol/sep/wire';
import { createOrphanGuard } from '../../packages/gateway/src/host/sep/process/orphan-guard.ts';
import { findMarked, tasksOfTree } from '../../packages/gateway/src/kernel/process-tree.ts';
import { confine, createConfinement } from '../../packages/gateway/src/host/sep/process/sandbox.ts';
import { makeTool } from '../../packages/gateway/src/agent/plugin-tools.ts';
import { detectSandbox } from '../../packages/gateway/src/kernel/sandbox/sandbox.ts';
import { processLimits, startProcess } from '../../packages/gateway/src/host/sep/process/process.ts';
import { createStderrRing } from '../../packages/gateway/src/host/sep/process/stderr-ring.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { randomId } from '../../packages/gateway/src/kernel/ids.ts';
import { cleanUp } from '../support/clean-up.ts';
import { dieOnce, doIn, swapRounds, writeStorm } from '../support/extension-storms.ts';
import { openHostWorld } from '../support/plugins.ts';
import { createRandom } from '../support/random.ts';
import { verifies } from '../support/verifies.ts';
import { toolCall, until, withExtensions, writeExtension } from '../support/written-extension.ts';

const BY = { by: 'test' };
const TOOLS = '[capabilities]\ntools = true';

/** A clock that can be made to go faster from some moment on. */
function fastClock(): Clock & { factor: number } {
  let factor = 1;
  let [real, mine] = [systemClock.monotonic(), systemClock.monotonic()];
  const monotonic = () => mine + (systemClock.monotonic() - real) * factor;
  return {
    ...systemClock,
    monotonic,
    // Looked at again and again: what waits already goes faster too.
    after(delayMs, call) {
      const due = monotonic() + delayMs;
      const timer = setInterval(() => {
        if (monotonic() < due) return;
        clearInterval(timer);
        call();
      }, 5);
      timer.unref();
      return { cancel: () => clearInterval(timer) };
    },
    get factor() {
      return factor;
    },
    set factor(next) {
      [mine, real] = [monotonic(), systemClock.monotonic()];
      factor = next;
    },
  };
}

test('S42, S43: however an extension dies, the reason is on record, another one goes on, and a retry brings it back', async () => {
  verifies('S42', 'S43', 'R09');
  await using world = await openHostWorld();
  writeStorm(world);
  const host = await world.open(withExtensions);
  for (const name of ['probe', 'other']) await host.enable(name, BY);
  const before = process.memoryUsage.rss();
  await assert.rejects(doIn(host, 'probe', { deed: 'endless', bytes: 2_147_483_648, quiet: true }));
  await until(() => /a line of more than 1048576 bytes/.test(host.get('probe')!.process!.reason ?? ''));
  assert.ok(process.memoryUsage.rss() - before < 100_000_000, `two gigabytes cost ${process.memoryUsage.rss() - before} bytes`);
  await host.reload('probe', BY);
  const random = createRandom(7);
  for (let round = 0; round < 6; round++) await dieOnce(host, random);
});

test('R10: one that is stopped by a signal in a call is found, replaced, and leaves no process behind', async () => {
  verifies('R10');
  const clock = fastClock();
  await using world = await openHostWorld(clock);
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS });
  const host = await world.open(withExtensions);
  const { pid } = (await host.enable('probe', BY)).process!;
  const waits = doIn(host, 'probe', { deed: 'signal', name: 'SIGSTOP', quiet: true });
  waits.catch(() => {});
  const isStopped = () => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  await until(isStopped);
  clock.factor = 100;
  await assert.rejects(waits);
  clock.factor = 1;
  await until(() => host.get('probe')!.process!.state === 'ready' && host.get('probe')!.process!.pid !== pid);
  assert.throws(() => process.kill(pid!, 0));
  assert.equal((await doIn(host, 'probe', { deed: 'isThere', path: '/' })).content, 'true');
});

test('R09: what a gateway knows of crashes, the next one knows: it waits as long, and what is quarantined stays down until a retry', async () => {
  verifies('R09');
  await using world = await openHostWorld();
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS });
  let host = await world.open(withExtensions);
  await host.enable('probe', BY);
  const stateOf = () => host.get('probe')!.process!;
  await assert.rejects(doIn(host, 'probe', { deed: 'exit', quiet: true }));
  await until(() => stateOf().state === 'restarting' && stateOf().crashes === 1);
  host = await world.open(withExtensions);
  await until(() => stateOf().crashes === 1);
  await until(() => stateOf().state === 'ready');
  const memory = {
    crashes: [1, 2, 3].map((ago) => ({ at: Date.now() - ago * 1_000, reason: 'it ended with code 3' })),
    restarts: 2,
    down: { state: 'quarantined' as const, reason: 'it crashed 3 times within 5 minutes' },
  };
  await host.close();
  await world.store.write('plugins.keepCrashes', { pluginId: 'probe', memory, at: 1 });
  const starts = () => world.logged.filter(({ message, state }) => message === 'an extension has changed' && state === 'starting').length;
  const before = starts();
  host = await world.open(withExtensions);
  await until(() => stateOf().state === 'quarantined');
  await until(() => host.get('probe')!.state === 'failed');
  assert.deepEqual([stateOf().reason, stateOf().crashes, starts()], ['it crashed 3 times within 5 minutes', 3, before]);
  const [again] = await host.reload('probe', BY);
  assert.deepEqual([again?.state, again?.process?.crashes], ['loaded', 0]);
  await until(async () => (await world.store.read('plugins.crashes', { pluginId: 'probe' })).memory === undefined);
  const audit = await world.store.read('audit.list', { limit: 50 });
  assert.ok(audit.some(({ action, target }) => action === 'extensions.down' && target === 'probe'));
  assert.ok(limits.quarantineCrashes.value === 3);
});

test('S46, S48: processes, files, the size of a file, memory, the processor and priority are bounded, with the reason', async (t) => {
  verifies('S46', 'S48');
  await using world = await openHostWorld();
  const place = join(world.home, 'grown');
  const orphans = createOrphanGuard({ spawn, run: randomId() });
  cleanUp(t, () => orphans.close());
  const folder = writeExtension(world, 'probe', { fixture: 'probe.mjs' });
  const start = (bounds: Partial<typeof processLimits>, clock: Clock = systemClock) =>
    startProcess({
      command: [process.execPath, 'main.mjs'],
      cwd: folder,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      spawn,
      clock,
      stderr: createStderrRing({ clock: systemClock, log: () => {} }),
      orphans,
      number: 1,
      limits: { ...processLimits, ...bounds },
    });
  const ask = (running: ReturnType<typeof start>, how: object) =>
    running.output.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tool/execute', params: { arguments: how } })}\n`);
  const answer = (running: ReturnType<typeof start>) =>
    new Promise<string>((resolve) => running.input.once('data', (chunk: Buffer) => resolve(JSON.parse(String(chunk)).result.content)));

  const one = start({ openFiles: 128, fileBytes: 8_388_608 });
  assert.equal(Number(/^(?:[^)]*\)) \S+ (?:\S+ ){15}(-?\d+)/.exec(readFileSync(`/proc/${one.pid}/stat`, 'utf8'))?.[1]), 5, 'niced');
  let said = answer(one);
  ask(one, { deed: 'files', count: 100_000 });
  assert.match(await said, /^no: EMFILE/);
  said = answer(one);
  ask(one, { deed: 'grow', path: place, bytes: 67_108_864, step: 4_194_304 });
  assert.match(await said, /^no: EFBIG/);
  assert.ok(statSync(place).size <= 16_777_216, `${statSync(place).size} bytes`);
  one.kill();
  await one.ended;

  // Stops at 500 by itself; it is ended long before.
  const storm = start({ processes: 32 });
  ask(storm, { deed: 'storm', count: 500 });
  const { overused } = await storm.ended;
  assert.match(overused!, /more than 32 processes/);
  const left = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'utf8').includes(`${orphans.run}.1`);
    } catch {
      return false;
    }
  });
  assert.deepEqual(left, []);

  const hog = start({ memoryBytes: 300_000_000 });
  ask(hog, { deed: 'memory', bytes: 4_294_967_296 });
  const end = await hog.ended;
  // Whichever is first: our look, or the kernel, by which the program fails.
  const isByKernel = end.signal === 'SIGABRT' || (end.code !== null && end.code !== 0);
  assert.ok(/more than 300000000 bytes of memory/.test(end.overused ?? '') || isByKernel, JSON.stringify(end));

  // By a clock that goes slower than the processor counts, so that a busy machine changes nothing.
  const slow: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() / 20 };
  const spin = start({ busyMs: 40 }, slow);
  ask(spin, { deed: 'spin' });
  assert.equal((await spin.ended).overused, 'it has used a whole processor for 40 ms');
});

const { kind: sandbox } = await detectSandbox(spawn, systemClock);

test('S48: in the sandbox too, one that spins gives way and is ended, one that hogs memory is ended with the reason, and a storm leaves nothing', async (t) => {
  verifies('S48', 'S46');
  await using world = await openHostWorld();
  const orphans = createOrphanGuard({ spawn, run: randomId() });
  cleanUp(t, () => orphans.close());
  const folder = writeExtension(world, 'probe', { fixture: 'probe.mjs' });
  const confinement = createConfinement(sandbox === 'none' ? 'off' : 'require', spawn, systemClock);
  const { command } = await confine([process.execPath, 'main.mjs'], folder, { net: false, read: [], write: [] }, new Set(), {
    name: 'probe',
    home: world.home,
    workspace: world.workspace,
    userHome: '/root',
    node: process.execPath,
    confinement,
    wish: sandbox === 'none' ? 'off' : 'require',
  });
  let number = 0;
  const start = (bounds: Partial<typeof processLimits>, how: object, clock: Clock = systemClock) => {
    const running = startProcess({
      command,
      cwd: folder,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      spawn,
      clock,
      stderr: createStderrRing({ clock: systemClock, log: () => {} }),
      orphans,
      number: ++number,
      limits: { ...processLimits, ...bounds },
    });
    running.output.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tool/execute', params: { arguments: how } })}\n`);
    return running;
  };

  const hog = await start({ memoryBytes: 300_000_000 }, { deed: 'memory', bytes: 4_294_967_296 }).ended;
  const isByKernel = hog.signal === 'SIGABRT' || (hog.code !== null && hog.code !== 0);
  assert.ok(/more than 300000000 bytes of memory/.test(hog.overused ?? '') || isByKernel, JSON.stringify(hog));

  // By a clock that goes slower than the processor counts, so that a busy machine changes nothing.
  const slow: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() / 20 };
  const spin = start({ yieldMs: 20, busyMs: 150 }, { deed: 'spin' }, slow);
  const seen = new Set<number | undefined>();
  const watching = setInterval(() => {
    for (const task of tasksOfTree(spin.pid!, 64)) seen.add(niceOf(task));
  }, 20);
  const ended = await spin.ended;
  clearInterval(watching);
  assert.ok(seen.has(19), 'it gave way');
  assert.equal(ended.overused, 'it has used a whole processor for 150 ms');

  const storm = await start({ processes: 32 }, { deed: 'storm', count: 500 }).ended;
  assert.match(storm.overused!, /more than 32 processes/);
  assert.deepEqual(await findMarked(`TENON_EXTENSION_RUN=${orphans.run}.${number}`), []);
});

function niceOf(task: number): number | undefined {
  try {
    return getPriority(task);
  } catch {
    return undefined;
  }
}

test('S42: a call whose extension sends only garbage ends at its deadline with an error that names the extension', async () => {
  verifies('S42');
  const clock = fastClock();
  await using world = await openHostWorld(clock);
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS });
  const host = await world.open(withExtensions);
  await host.enable('probe', BY);
  const tool = makeTool(host.registry.findAny('tool', 'probe__do')!, host);
  const place = { ...toolCall(), workspace: world.workspace } as unknown as Parameters<typeof tool.prepare>[1];
  const prepared = await tool.prepare({ deed: 'line', text: '{"half":', quiet: true }, place);
  const call = prepared.run({ signal: new AbortController().signal, onUpdate: () => {} } as unknown as Parameters<typeof prepared.run>[0]);
  const failed = assert.rejects(Promise.resolve(call), /Plugin probe .*no answer/);
  await until(() => host.logs('probe', 0, 50).lines.some(({ level, text }) => level === 'warn' && /a line is not taken/.test(text)));
  clock.factor = 1_000;
  await failed;
});

test('S50: files that are swapped while they are copied are never what runs', async () => {
  verifies('S50');
  await using world = await openHostWorld();
  const { copied, refused } = await swapRounds(world.home, 12);
  assert.equal(copied + refused, 12);
  assert.ok(refused > 0, 'somebody was swapping');
});
