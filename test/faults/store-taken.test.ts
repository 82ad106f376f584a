// The store is taken from a running gateway: its lock file is removed, its files are moved, another gateway claims it.
import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore, STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { type ChaosWorld, openChaosWorld, readyBecomes, seed } from '../support/chaos.ts';
import { type Link, openLink } from '../support/chaos-link.ts';
import { removeLock, takeStore } from '../support/chaos-store.ts';
import { sessionsOf } from '../support/fault-points.ts';
import { Ledger } from '../support/ledger.ts';
import { createRandom } from '../support/random.ts';
import { verifies } from '../support/verifies.ts';

const quiet = { events() {}, auditHead() {}, health() {} };

test('a gateway whose lock file is removed keeps its store: the next one exits with 3 and names it', async () => {
  verifies('R16:lock-removed');
  await using world = await openChaosWorld('sqlite');
  const gateway = await world.start();
  const link = await openLink(gateway);
  rmSync(join(world.home, 'gateway.lock'));
  await refusedToStart(world, gateway.pid);
  assert.equal((await create(link, 'a')).kind, 'answered');
  await link.cut();
  await gateway.kill();
  // Nobody holds it any more, though its lock file is another one.
  const next = await world.start();
  assert.deepEqual([...(await sessionsOf(next)).keys()], ['agent:main:a']);
  assert.equal(await next.stop(), 0);
});

test('a gateway whose files are moved says 503 and refuses to write, and is well again when they are back', async () => {
  verifies('R13:moved');
  await using world = await openChaosWorld('sqlite');
  const gateway = await world.start();
  const link = await openLink(gateway);
  const names = [STORE_FILE, `${STORE_FILE}-wal`];
  for (const round of [1, 2]) {
    assert.equal((await create(link, `before${round}`)).kind, 'answered');
    for (const name of names) renameSync(join(world.home, name), join(world.home, `${name}.away`));
    // The first time nobody writes: it finds out by itself.
    if (round === 2) assertStorage(await create(link, 'lost'), /tenon\.db was moved or deleted/);
    await readyBecomes(gateway, 503, 5_000);
    assertStorage(await create(link, 'lost'), /tenon\.db was moved or deleted/);
    for (const name of names) renameSync(join(world.home, `${name}.away`), join(world.home, name));
    await readyBecomes(gateway, 200, 10_000);
  }
  assert.equal((await create(link, 'after')).kind, 'answered');
  await link.cut();
  await gateway.kill();
  const next = await world.start();
  assert.deepEqual([...(await sessionsOf(next)).keys()].sort(), ['agent:main:after', 'agent:main:before1', 'agent:main:before2']);
});

test('a gateway whose store another one has claimed refuses to write, stops with 3, and leaves the files of the other alone', async () => {
  verifies('R16:fenced');
  await using world = await openChaosWorld('sqlite');
  const gateway = await world.start();
  const link = await openLink(gateway);
  assert.equal((await create(link, 'mine')).kind, 'answered');
  // As a gateway that knows nothing of locks would.
  const other = await openStore({ home: world.home, engine: 'sqlite', url: '', maxBytes: 0, now: 1 }, quiet);
  const files = ['gateway.json', 'gateway.pid'].map((name) => join(world.home, name));
  for (const file of files) {
    writeFileSync(`${file}.new`, 'of the other');
    renameSync(`${file}.new`, file);
  }
  try {
    const refused = await create(link, 'late');
    if (refused.kind !== 'unknown') assertStorage(refused, /Another gateway .* has taken over the store/);
    assert.deepEqual(await gateway.exited, { code: 3, signal: null });
    assert.match(gateway.stderr(), /has taken over the store; this gateway writes nothing any more and stops/);
    for (const file of files) assert.equal(readFileSync(file, 'utf8'), 'of the other');
    await other.write('sessions.create', { key: 'agent:main:theirs', fields: {}, at: 1 });
    const { sessions } = await other.read('sessions.list', { limit: 5 });
    assert.deepEqual(sessions.map(({ key }) => key).sort(), ['agent:main:mine', 'agent:main:theirs']);
  } finally {
    await other.close();
  }
});

test('under load: nothing that was answered is missing, whatever is taken away and whoever is killed meanwhile', async (t) => {
  verifies('R13:moved', 'R16:lock-removed', 'R01', 'R05');
  t.diagnostic(`seed ${seed}`);
  await using world = await openChaosWorld('sqlite');
  const ledger = new Ledger({ seed, observers: 1 });
  const chaos = { world, ledger, random: createRandom(seed) };
  let gateway = await world.start();
  for (let round = 0; round < 3; round++) {
    const [name, next] = await takeStore(chaos, gateway);
    gateway = next;
    t.diagnostic(name);
  }
  gateway = await removeLock(chaos, gateway);
  await ledger.observe(gateway);
  await ledger.compareEvents(await ledger.compare(gateway));
  t.diagnostic(JSON.stringify(ledger.stats));
});

const create = (link: Link, name: string) => link.request('sessions.create', { key: `agent:main:${name}`, idempotencyKey: name });

function assertStorage(outcome: Awaited<ReturnType<typeof create>>, message: RegExp): void {
  assert.ok(outcome.kind === 'refused', outcome.kind);
  assert.equal(outcome.error.code, 'STORAGE');
  assert.match(outcome.error.message, message);
}

async function refusedToStart(world: ChaosWorld, pid: number): Promise<void> {
  await assert.rejects(world.start(), (error: Error & { exit: { code: number }; stderr: string }) => {
    assert.equal(error.exit.code, 3, error.stderr);
    assert.match(error.stderr, new RegExp(`lock file was removed.*pid ${pid}`));
    return true;
  });
}
