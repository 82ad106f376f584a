// A disk without room: reads go on, writes are refused and say so, nothing is damaged, and room alone cures it.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../packages/gateway/src/config.ts';
import { toStartError } from '../../packages/gateway/src/gateway.ts';
import { STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { openChaosWorld, readyBecomes, seed } from '../support/chaos.ts';
import { mountSmallDisk, surviveFullDisk } from '../support/chaos-disk.ts';
import { openLink, type Outcome } from '../support/chaos-link.ts';
import { sessionsOf } from '../support/fault-points.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { Ledger } from '../support/ledger.ts';
import { verifies } from '../support/verifies.ts';

test('a store that may grow no further reads, refuses to write, and is well again once sessions are deleted', async (t) => {
  verifies('R11');
  await using world = await openChaosWorld('sqlite', { settings: '[store]\nmaxBytes = 1500000\n' });
  const gateway = await world.start();
  const link = await openLink(gateway);
  const create = (n: number) =>
    link.request('sessions.create', {
      key: `agent:main:s${n}`,
      idempotencyKey: `c${n}`,
      title: `${n} ${'word '.repeat(100)}`.slice(0, 500),
    });

  let created = 0;
  let refused: Outcome;
  for (;;) {
    refused = await create(created);
    if (refused.kind !== 'answered') break;
    created++;
  }
  assert.ok(refused.kind === 'refused', 'the gateway is still there');
  assert.equal(refused.error.code, 'STORAGE');
  assert.equal((refused.error as { retryable?: boolean }).retryable, true);
  t.diagnostic(`${created} sessions fit`);

  await readyBecomes(gateway, 503, 5_000);
  assert.equal((await sessionsOf(gateway)).size, created, 'reads go on, and nothing is half there');
  const read = await link.request('sessions.get', { key: `agent:main:s${created - 1}` });
  assert.equal(read.kind, 'answered');
  const deep = await link.request('doctor.run', {});
  assert.equal(deep.kind, 'answered', JSON.stringify(deep));

  const doomed = Math.ceil(created * 0.8);
  for (let n = 0; n < doomed; n++) {
    const outcome = await link.request('sessions.delete', { key: `agent:main:s${n}`, idempotencyKey: `d${n}` });
    assert.equal(outcome.kind, 'answered', `deleting ${n}: ${JSON.stringify(outcome)}`);
  }
  await readyBecomes(gateway, 200, 10_000);
  assert.equal((await create(created)).kind, 'answered', 'the one that was refused, under its key');
  assert.equal((await sessionsOf(gateway)).size, created - doomed + 1);

  await gateway.kill();
  const again = await world.start();
  assert.equal((await sessionsOf(again)).size, created - doomed + 1);
  await again.stop();
  assertSound(world.home);
});

test('a disk that fills up while clients write loses nothing, and is written again when there is room', async (t) => {
  verifies('R11', 'R01');
  t.diagnostic(`seed ${seed}`);
  using disk = mountSmallDisk(8);
  if (!disk) return t.diagnostic('mounting is not permitted here: only the bound of the store was filled');
  const ledger = new Ledger({ seed, observers: 2 });
  await using world = await openChaosWorld('sqlite', { home: disk.folder });
  let gateway = await world.start();
  for (let round = 0; round < 3; round++) {
    await surviveFullDisk({ disk, ledger, gateway, ...(round === 1 ? { whileFull: startWhileFull } : {}) });
    if (round === 2) await gateway.kill();
  }
  gateway = await world.start();
  await ledger.observe(gateway);
  await ledger.compareEvents(await ledger.compare(gateway));
  t.diagnostic(JSON.stringify(ledger.stats));
  assert.equal(await gateway.stop(), 0);
  assertSound(world.home);

  /** Killed while full: it starts, or says in one line why not, and nothing is damaged by trying. */
  async function startWhileFull(): Promise<GatewayProcess> {
    await gateway.kill();
    const started = await world.start({ keepConfig: true }).catch((error: Error & { exit: { code: number }; stderr: string }) => {
      assert.equal(error.exit.code, 1, error.stderr);
      assert.match(error.stderr, /no space|full/i);
    });
    await started?.kill();
    disk?.free();
    gateway = await world.start();
    return gateway;
  }
});

test('a start without room says which disk is full and what to do, whatever it was about to write', async (t) => {
  verifies('R11:full-at-start');
  const refused = toStartError(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }), {
    home: '/srv/tenon',
  } as Config);
  assert.deepEqual([refused.exitCode, refused.code], [1, 'STORAGE']);
  assert.match(refused.message, FULL);
  using disk = mountSmallDisk(4);
  using crowded = mountSmallDisk(4, ',nr_inodes=4');
  if (!disk || !crowded) return t.diagnostic('mounting is not permitted here: only the sentence was looked at');
  const start = (home: string) =>
    startGatewayProcess({ home }).then(
      async (gateway) => void (await gateway.kill()),
      (error: { exit: { code: number }; stderr: string }) => error,
    );
  const told: string[] = [];
  // Each stops at another write: the pid, the key, the new store, the first commits.
  for (const left of [0, 4_096, 16_384, 65_536, 540_000, 600_000]) {
    const home = join(disk.folder, `home${left}`);
    mkdirSync(home, { mode: 0o700 });
    disk.fill(left);
    const error = await start(home);
    told.push(error ? `${left}: ${readdirSync(home).join(' ')}` : `${left}: started`);
    if (error) assertFull(error);
    disk.free();
    rmSync(home, { recursive: true });
  }
  // A home that was in use.
  const home = join(disk.folder, 'used');
  mkdirSync(home, { mode: 0o700 });
  assert.equal(await start(home), undefined);
  disk.fill();
  assertFull((await start(home)) ?? assert.fail('it started without room'));
  assertFull((await start(crowded.folder)) ?? assert.fail('it started without room for files'));
  t.diagnostic(told.join('\n'));
});

const FULL = /^The disk that holds .+ is full, or your quota on it is used up; free some space there .*--home$/;

function assertFull({ exit, stderr }: { exit: { code: number }; stderr: string }): void {
  assert.equal(exit.code, 1, stderr);
  const { code, message } = JSON.parse(stderr) as { code: string; message: string };
  assert.equal(code, 'STORAGE', stderr);
  assert.match(message, FULL);
}

function assertSound(home: string): void {
  const database = new DatabaseSync(join(home, STORE_FILE), { readOnly: true });
  try {
    assert.deepEqual({ ...database.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' });
  } finally {
    database.close();
  }
}
