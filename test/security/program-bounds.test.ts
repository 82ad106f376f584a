// S43, S46, S48 for programs that an agent runs: what one can use up, and what it leaves behind. On every sandbox that works here, and
// without one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { homedir, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { createJobs, type JobEnd } from '../../packages/gateway/src/agent/tools/jobs.ts';
import { createSpool, MAX_KEPT_BYTES } from '../../packages/gateway/src/agent/tools/spool.ts';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { randomId } from '../../packages/gateway/src/kernel/ids.ts';
import { detectSandbox, wrap } from '../../packages/gateway/src/kernel/sandbox/sandbox.ts';
import type { ProgramLimits } from '../../packages/gateway/src/kernel/watch-program.ts';
import { verifies } from '../support/verifies.ts';

type Kind = 'bubblewrap' | 'unshare' | 'none';
const found = await Promise.all((['bubblewrap', 'unshare'] as const).map((kind) => detectSandbox(spawn, systemClock, [kind])));
const kinds = found.flatMap(({ kind }) => (kind === 'none' ? [] : [kind]));
const [major = 0, minor = 0] = release().split('.').map(Number);
const isAtLeast = (...[wantedMajor, wantedMinor]: [number, number]) =>
  major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);

interface Ended {
  readonly end: JobEnd;
  readonly said: string;
}

async function run(kind: Kind, script: string, usable?: ProgramLimits, onOutput?: () => void): Promise<Ended> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-bounds-')));
  const policy = { workspace: base, cwd: base, hidden: [], userHome: homedir(), readOnly: [], network: false };
  const argv = ['sh', '-c', script];
  const spool = createSpool(join(base, 'output'), randomId);
  const jobs = createJobs({ spawn, clock: systemClock, newId: randomId, spool, ...(usable ? { usable } : {}) });
  try {
    const job = jobs.start({
      sessionKey: 'agent:main:a',
      workspace: base,
      title: script,
      argv: kind === 'none' ? argv : wrap(kind, argv, policy),
      cwd: base,
      env: { PATH: process.env.PATH ?? '' },
      timeoutMs: 60_000,
      background: false,
      onUpdate() {},
      onOutput,
    });
    const end = await job.ended;
    return { end, said: job.output.told() };
  } finally {
    await jobs.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Processes that run this, whoever started them. */
function running(marker: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(`sleep\0${marker}`);
    } catch {
      return false;
    }
  });
}

for (const kind of kinds) {
  test(`S46 what a program leaves behind is gone when the call ends (${kind})`, async () => {
    verifies('S46:programs');
    const marker = `3601.${process.pid}`;
    const daemon = `setsid sh -c "sleep ${marker} & sleep ${marker}" >/dev/null 2>&1 &`;
    const { end } = await run(
      kind,
      `${daemon} (nohup sleep ${marker} >/dev/null 2>&1 &); while [ "$(grep -sl ${marker} /proc/[0-9]*/cmdline | wc -l)" -lt 3 ]; do :; done`,
    );
    assert.equal(end.code, 0);
    assert.deepEqual(running(marker), []);
  });

  test(`S46 the kernel bounds the processes of a program by itself, where it can (${kind})`, async () => {
    verifies('S46:programs');
    const { said } = await run(kind, 'cat /proc/self/limits /proc/sys/kernel/pid_max /proc/self/oom_score_adj');
    const { value } = limits.programProcesses;
    if (isAtLeast(5, 14)) assert.match(said, new RegExp(`Max processes +${value} +${value} `));
    // The limit does not count root.
    if (process.getuid?.() === 0 && kind === 'unshare' && isAtLeast(6, 14)) assert.match(said, new RegExp(`^${300 + value}$`, 'm'));
    assert.match(said, /^500$/m, 'it goes before the gateway when memory runs out');
  });
}

const everywhere = [...kinds, 'none'] as const;
const small = { processes: 40, memoryBytes: 100_000_000 };
for (const kind of process.platform === 'linux' ? everywhere : []) {
  test(`S46 a storm of processes is ended as a whole, and it says why (${kind})`, async () => {
    verifies('S46:programs');
    const marker = `3602.${process.pid}`;
    const { end } = await run(kind, `i=0; while [ $i -lt 100 ]; do sleep ${marker} & i=$((i+1)); done; wait`, small);
    assert.equal(end.overused, 'it has more than 40 processes');
    while (running(marker).length > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test(`S48 a program that takes too much memory is ended, and it says why (${kind})`, async () => {
    verifies('S48:programs');
    // Without an end of line it is kept whole.
    const { end } = await run(kind, '(head -c 200000000 /dev/zero; sleep 600) | tail', small);
    assert.equal(end.overused, 'it uses more than 100000000 bytes of memory');
  });
}

test('S43 output without an end is cut, and the memory of the gateway stays', async () => {
  verifies('S43:programs');
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const { said } = await run('none', 'head -c 150000000 /dev/zero', undefined, () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  });
  assert.match(said, new RegExp(`^\\[The last \\d+ of 150000000 bytes\\. Only the first ${MAX_KEPT_BYTES} bytes and these are kept\\.`));
  assert.ok(most < 10_000_000, `${most} bytes of buffers at a time`);
});
