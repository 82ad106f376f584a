// A byte of the write-ahead log is flipped while the gateway is down, as an operator meets it: what start, doctor and backup say, and the
// way out.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openChaosWorld } from '../support/chaos.ts';
import { openLink } from '../support/chaos-link.ts';
import { runTenon } from '../support/fault-points.ts';
import { readSessions } from '../support/ledger.ts';
import { verifies } from '../support/verifies.ts';

test('a gateway whose log was damaged does not start without what it acknowledged, until an operator gives it up', async () => {
  verifies('R13:wal', 'R13:salvage');
  await using world = await openChaosWorld('sqlite');
  const { home } = world;
  const gateway = await world.start();
  const link = await openLink(gateway);
  for (let n = 0; n < 30; n++) {
    const created = await link.request('sessions.create', { key: `agent:main:s${n}`, title: 'x'.repeat(500), idempotencyKey: `k${n}` });
    assert.equal(created.kind, 'answered');
  }
  await link.cut();
  await gateway.kill();
  const log = join(home, 'tenon.db-wal');
  const bytes = readFileSync(log);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] as number) ^ 1;
  writeFileSync(log, bytes);

  const way = /tenon\.db-wal is broken at byte \d+.*tenon restore <backup>.*tenon salvage/;
  await assert.rejects(world.start(), (error: { exit?: { code: number }; stderr?: string }) => {
    assert.deepEqual([error.exit?.code, way.test(error.stderr ?? '')], [1, true], error.stderr);
    return true;
  });
  const doctor = await runTenon(['doctor', '--home', home]);
  assert.deepEqual([doctor.code, way.test(doctor.stdout)], [1, true], doctor.stdout);
  const backup = await runTenon(['backup', join(home, 'backup'), '--home', home]);
  assert.deepEqual([backup.code, way.test(backup.stderr)], [1, true], backup.stderr);
  assert.ok(readFileSync(log).equals(bytes), 'the log was changed');

  const salvage = await runTenon(['salvage', '--yes', '--home', home]);
  assert.equal(salvage.code, 0, salvage.stderr);
  assert.equal(readdirSync(home).filter((name) => /\.corrupt-\d+(-wal)?$/.test(name)).length, 3);
  const again = await world.start();
  assert.doesNotMatch(again.stderr(), /not the one/);
  const admin = await openLink(again);
  const left = (await readSessions(admin)).size;
  assert.ok(left > 5 && left < 30, `${left} sessions`);
  const audit = await admin.request('audit.list', { limit: 5 });
  assert.ok(audit.kind === 'answered' && audit.payload.chain.ok, JSON.stringify(audit));
  assert.match(JSON.stringify(audit.payload.records), /"store\.salvage"/);
  await admin.cut();
  assert.equal(await again.stop(), 0);
});
