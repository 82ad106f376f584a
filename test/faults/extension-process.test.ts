// Real processes of extensions that do what they should not. Whatever they do, the gateway's side goes on, says what
// happened, and nothing of them is left.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { limits, restartDelaysMs } from '@tenon/protocol/sep/wire';
import { createOrphanGuard } from '../../packages/gateway/src/host/sep/process/orphan-guard.ts';
import { peerFaults, type PeerFault } from '../../packages/gateway/src/host/sep/connection/peer.ts';
import { type ProcessLimits, processLimits, startProcess } from '../../packages/gateway/src/host/sep/process/process.ts';
import { createStderrRing } from '../../packages/gateway/src/host/sep/process/stderr-ring.ts';
import { createSupervisor } from '../../packages/gateway/src/host/sep/supervisor.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { randomId } from '../../packages/gateway/src/kernel/ids.ts';
import { verifies } from '../support/verifies.ts';

const fixture = join(import.meta.dirname, '../fixtures/extensions/unruly.mjs');
const folder = mkdtempSync(join(tmpdir(), 'tenon-extension-'));
const orphans = createOrphanGuard({ spawn, run: randomId() });
let processes = 0;

after(() => {
  orphans.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** Restarts come at once; everything else takes the time it takes. */
const random = () => 0.5;
const delays = new Set(restartDelaysMs.map((delayMs) => delayMs * 1.1));
const clock: Clock = { ...systemClock, after: (delayMs, call) => systemClock.after(delays.has(delayMs) ? 1 : delayMs, call) };

/** The patience of a stop is short as well. */
const hasty: Clock = { ...clock, after: (delayMs, call) => clock.after(delayMs === limits.shutdownMs.value ? 100 : delayMs, call) };

interface WorldOptions {
  readonly place?: string;
  readonly limits?: ProcessLimits;
  readonly time?: Clock;
}

function world({ place = '', limits = processLimits, time = clock }: WorldOptions = {}) {
  const logged: string[] = [];
  const states: { state: string; reason: string | undefined }[] = [];
  const pids: number[] = [];
  const faults = Object.fromEntries(peerFaults.map((fault) => [fault, 0])) as Record<PeerFault, number>;
  const stderr = createStderrRing({ clock: systemClock, log: (line) => logged.push(line) });
  let heard = 0;
  const supervisor = createSupervisor<object, string>({
    clock: time,
    random,
    launch(source) {
      const process = startProcess({
        command: [globalThis.process.execPath, fixture, source, place],
        cwd: folder,
        env: { PATH: globalThis.process.env.PATH ?? '/usr/bin:/bin' },
        spawn,
        clock: systemClock,
        stderr,
        orphans,
        number: ++processes,
        limits,
      });
      if (process.pid !== undefined) pids.push(process.pid);
      return process;
    },
    hello: () => ({ protocol_version: 1 }),
    readHello(result) {
      if (!Object.hasOwn(result as object, 'extension')) throw new Error('extension is missing');
      return result as object;
    },
    request: () => undefined,
    notification: () => () => heard++,
    noticed: (_generation, fault) => faults[fault]++,
    changed: (state, reason) => states.push({ state, reason }),
  });
  const use = (tool: string, timeoutMs = 30_000) => supervisor.request('tool/execute', { tool, arguments: {} }, { timeoutMs });
  /** Why is known when the process has ended, a moment after it was found to be gone. */
  const becomes = (state: string, reason: RegExp) =>
    until(() => states.some((each) => each.state === state && reason.test(each.reason ?? '')));
  return { supervisor, use, becomes, states, faults, stderr, logged, pids, heard: () => heard };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Processes that sleep for exactly this long. */
function sleepers(time: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8') === `sleep\0${time}\0`;
    } catch {
      return false;
    }
  });
}

let sleepTime = 100_000 + (process.pid % 100_000);
const newSleepTime = () => `${sleepTime++}.25`;

const crashes = {
  throw: /it ended with code 1/,
  reject: /it ended with code 1/,
  exit: /it ended with code 7/,
  abort: /it ended with SIGABRT/,
  segv: /it ended with SIGSEGV/,
  'close-stdout': /closed its output/,
  'long-line': /a line of more than 1048576 bytes/,
};

test('S42: however an extension dies in a call, that call fails, the reason is on record, and it is started again', async () => {
  verifies('S42');
  const dies = async ([tool, expected]: [string, RegExp]) => {
    const { supervisor, use, becomes, pids } = world();
    await supervisor.start('good');
    await assert.rejects(use(tool), /connection closed/, tool);
    await becomes('restarting', expected);
    await until(() => supervisor.state === 'ready' && pids.length === 2);
    assert.equal(isRunning(pids[0]!), false);
    await supervisor.stop();
    assert.ok(pids.every((pid) => !isRunning(pid)));
  };
  await Promise.all(Object.entries(crashes).map(dies));
});

test('G1, G4: lines that are no messages change nothing, and neither does a write to a process that has just died', async () => {
  verifies('sep:G1', 'sep:G4');
  const { supervisor, use, faults, pids } = world();
  await supervisor.start('garbage-at-start');
  assert.deepEqual(await use('garbage'), { content: 'still here' });
  assert.deepEqual([faults.malformed, faults['not-an-object'], faults.batch, faults['unknown-reply']], [3, 3, 1, 1]);
  process.kill(pids[0]!, 'SIGKILL');
  await Promise.allSettled(Array.from({ length: 200 }, () => use('env')));
  await supervisor.stop();
});

test('G2, R09: one that crashes at each start is quarantined after three times', async () => {
  verifies('R09', 'sep:G2');
  const { supervisor, becomes, pids } = world();
  await supervisor.start('exit-at-start');
  await becomes('quarantined', /crashed 3 times within 5 minutes, at last because it ended with code 3/);
  assert.equal(pids.length, 3);
  await supervisor.stop();
});

test('G5, G15: one that introduces itself wrongly leaves no process behind', async () => {
  verifies('sep:G5', 'sep:G15');
  const { supervisor, becomes, pids } = world();
  await supervisor.start('bad-introduction');
  await becomes('restarting', /it did not introduce itself: extension is missing/);
  assert.ok(pids.every((pid) => !isRunning(pid)));
  await supervisor.stop();
});

test('G6, S43: a line that never ends and a flood of messages cost little memory', async () => {
  verifies('S43', 'sep:G6');
  const { supervisor, use, becomes, heard } = world();
  await supervisor.start('good');
  const before = process.memoryUsage.rss();
  await assert.rejects(use('long-line'), /connection closed/);
  await becomes('restarting', /a line of more than/);
  await until(() => supervisor.state === 'ready');
  use('flood').catch(() => {});
  await until(() => heard() > 11_000);
  assert.ok(process.memoryUsage.rss() - before < 100_000_000, `${process.memoryUsage.rss() - before} bytes more`);
  await supervisor.stop();
});

test('G7, S45: one that stops reading is refused more, and what it was sent is freed at its deadline', async () => {
  verifies('S45', 'sep:G7');
  const { supervisor, use, faults } = world();
  await supervisor.start('good');
  use('stop-reading').catch(() => {});
  const big = 'x'.repeat(500_000);
  const send = () => supervisor.request('tool/execute', { tool: 'none', arguments: { big } }, { timeoutMs: 300 });
  const { peer } = supervisor.current!;
  const results = await Promise.allSettled(Array.from({ length: 100 }, send));
  assert.ok(results.every(({ status }) => status === 'rejected'));
  assert.ok(faults['not-read'] > 80, `${faults['not-read']} were refused`);
  assert.ok(peer.waitingBytes < 1_000, `${peer.waitingBytes} bytes wait`);
  await supervisor.stop();
});

test('G8: what it does after its answer to shutdown is waited for', async () => {
  verifies('sep:G8');
  const place = join(folder, 'put-away');
  const { supervisor } = world({ place });
  await supervisor.start('slow-exit');
  await supervisor.stop();
  assert.equal(readFileSync(place, 'utf8'), 'put away');
});

test('G9, S46: its children end with it, also those that have left its group', async () => {
  verifies('S46', 'sep:G9');
  const place = newSleepTime();
  const { supervisor, use } = world({ place });
  await supervisor.start('good');
  assert.deepEqual(await use('leave-behind'), { content: 'left' });
  await until(() => sleepers(place).length === 3);
  await supervisor.stop();
  assert.deepEqual(sleepers(place), []);
});

test('G14, S44: what it writes to standard error is kept in a ring, as lines, and a flood of it is not logged whole', async () => {
  verifies('S44', 'sep:G14');
  const { supervisor, use, stderr, logged } = world();
  await supervisor.start('good');
  await use('stderr-flood');
  await until(() => stderr.lines().at(-1)?.startsWith('line 19999') === true);
  assert.ok(stderr.lines().join('').length <= 262_144);
  assert.ok(stderr.dropped > 1_000_000 && stderr.unlogged > 10_000, `${stderr.dropped} and ${stderr.unlogged}`);
  assert.match(logged[0] ?? '', /^line 0 e+$/);
  await supervisor.stop();
});

test('S48: memory beyond the limit ends it, and the reason says so', async () => {
  const { supervisor, use, becomes } = world({ limits: { ...processLimits, memoryBytes: 300_000_000 } });
  await supervisor.start('good');
  await assert.rejects(use('hog'), /connection closed/);
  await becomes('restarting', /it uses more than 300000000 bytes of memory/);
  await supervisor.stop();
});

test('S46: more processes than the limit end it, with all of them', async () => {
  const { supervisor, use, becomes } = world({ limits: { ...processLimits, processes: 30 } });
  await supervisor.start('good');
  await assert.rejects(use('storm'), /connection closed/);
  await becomes('restarting', /more than 30 processes/);
  await supervisor.stop();
});

test('S38: it gets the environment that it is given, a number of its own, and nothing else of ours', async () => {
  verifies('S38');
  process.env.TENON_CANARY = 'secret';
  const { supervisor, use } = world();
  await supervisor.start('good');
  const { content } = (await use('env')) as { content: string };
  delete process.env.TENON_CANARY;
  const names = Object.keys(JSON.parse(content) as object).filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name));
  assert.deepEqual(names.sort(), ['PATH', 'TENON_EXTENSION_RUN']);
  await supervisor.stop();
});

test('a stop ends one that neither leaves nor listens to a signal', async () => {
  const { supervisor, pids } = world({ time: hasty });
  await supervisor.start('stays');
  await supervisor.stop();
  assert.equal(isRunning(pids[0]!), false);
});

test('S47: extensions end with a gateway that was killed, with their children', async () => {
  verifies('S47');
  const place = newSleepTime();
  const script = `
    import { spawn } from 'node:child_process';
    import { createOrphanGuard } from ${JSON.stringify(join(import.meta.dirname, '../../packages/gateway/src/host/sep/process/orphan-guard.ts'))};
    import { startProcess } from ${JSON.stringify(join(import.meta.dirname, '../../packages/gateway/src/host/sep/process/process.ts'))};
    import { systemClock as clock } from ${JSON.stringify(join(import.meta.dirname, '../../packages/gateway/src/kernel/clock.ts'))};
    const orphans = createOrphanGuard({ spawn, run: ${JSON.stringify(randomId())} });
    const stderr = { follow() {} };
    for (let number = 1; number <= 2; number++) {
      const { output } = startProcess({
        command: [process.execPath, ${JSON.stringify(fixture)}, 'stays', ${JSON.stringify(place)}],
        cwd: '/', env: { PATH: process.env.PATH }, spawn, clock, stderr, orphans, number,
      });
      output.write(JSON.stringify({ id: 1, method: 'tool/execute', params: { tool: 'leave-behind' } }) + '\\n');
    }
    setInterval(() => {}, 1_000);`;
  const gateway: ChildProcess = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { stdio: 'inherit' });
  const stay = () =>
    readdirSync('/proc').filter((name) => {
      const file = `/proc/${name}/cmdline`;
      return /^\d+$/.test(name) && existsSync(file) && textOf(file).includes(`unruly.mjs\0stays\0${place}`);
    });
  await until(() => sleepers(place).length === 6 && stay().length === 2);
  gateway.kill('SIGKILL');
  await until(() => sleepers(place).length === 0 && stay().length === 0);
});

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
