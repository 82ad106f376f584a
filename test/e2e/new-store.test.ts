// The store is gone and the home is not: nobody gets an empty store without asking for it.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { type ChaosWorld, openChaosWorld } from '../support/chaos.ts';
import { openLink } from '../support/chaos-link.ts';
import { runTenon } from '../support/fault-points.ts';
import { createDatabase } from '../support/postgres.ts';
import { verifies } from '../support/verifies.ts';

test('a gateway whose store is gone does not start until the operator asks for a new one, which is on record', async () => {
  verifies('R13:no-silent-new-store');
  await using world = await openChaosWorld('sqlite');
  const { home } = world;
  const gateway = await world.start();
  const link = await openLink(gateway);
  assert.equal((await link.request('sessions.create', { key: 'agent:main:a', idempotencyKey: 'a' })).kind, 'answered');
  await link.cut();
  assert.equal(await gateway.stop(), 0);
  const store = join(home, 'tenon.db');
  renameSync(store, `${store}.away`);
  await refused(world, /There is no store at .*tenon\.db, but audit-head\.json tells of one with \d+ audit records.*tenon new-store/);
  assert.equal(existsSync(store), false);
  const doctor = await runTenon(['doctor', '--home', home]);
  assert.deepEqual([doctor.code, /There is no store at .*tenon new-store/.test(doctor.stdout)], [1, true], doctor.stdout);
  // What it tells is what keeps an empty store away: without the head it is the stream that does.
  renameSync(join(home, 'audit-head.json'), join(home, 'head.away'));
  await refused(world, /stream-head\.json tells of one with \d+ events/);
  renameSync(join(home, 'head.away'), join(home, 'audit-head.json'));

  // Another engine that has nothing yet is the same loss.
  const database = await createDatabase();
  try {
    writeFileSync(join(home, 'tenon.toml'), `[store]\nengine = "postgres"\nurl = "${database.url}"\n`);
    await refused(world, /There is no store in the PostgreSQL database that store\.url names.*tenon new-store/, { keepConfig: true });
    const client = new pg.Client(database.url);
    await client.connect();
    assert.equal((await client.query(`select from pg_tables where schemaname = 'public'`)).rowCount, 0, 'nothing was made there');
    await client.end();
  } finally {
    await database.drop();
  }
  world.writeConfig();

  const made = await runTenon(['new-store', '--yes', '--home', home]);
  assert.equal(made.code, 0, made.stderr);
  assert.equal(readdirSync(home).filter((name) => /-head\.json\.before-new-store-\d+$/.test(name)).length, 2);
  const already = await runTenon(['new-store', '--yes', '--home', home]);
  assert.deepEqual([already.code, /There is a store already/.test(already.stderr)], [1, true], already.stderr);
  const again = await world.start();
  assert.doesNotMatch(again.stderr(), /not the one/);
  const admin = await openLink(again);
  const audit = await admin.request('audit.list', { limit: 50 });
  assert.ok(audit.kind === 'answered' && audit.payload.chain.ok, JSON.stringify(audit));
  assert.match(JSON.stringify(audit.payload.records), /"store\.new".*before-new-store/);
  await admin.cut();
  assert.equal(await again.stop(), 0);
});

async function refused(world: ChaosWorld, message: RegExp, options = {}): Promise<void> {
  await assert.rejects(world.start(options), (error: { exit?: { code: number }; stderr?: string }) => {
    assert.equal(error.exit?.code, 1, error.stderr);
    assert.match(error.stderr ?? '', message);
    return true;
  });
}
