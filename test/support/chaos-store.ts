// The store is taken from a gateway under load: its files are moved, its lock file is removed, its PostgreSQL hangs. Nothing that was
// answered is missing afterwards, and what cannot be written is not answered.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { type ChaosWorld, readyBecomes } from './chaos.ts';
import type { GatewayProcess } from './gateway.ts';
import type { Ledger } from './ledger.ts';
import type { Postgres } from './postgres.ts';
import type { Random } from './random.ts';

export interface StoreChaos {
  readonly world: ChaosWorld;
  readonly ledger: Ledger;
  readonly random: Random;
}

/** Each takes the store away and returns how it comes back. */
const takings: Readonly<Record<string, (home: string) => () => void>> = {
  moved: (home) => moveFiles(home, [STORE_FILE, `${STORE_FILE}-wal`, `${STORE_FILE}-shm`]),
  'moved without its index': (home) => moveFiles(home, [STORE_FILE, `${STORE_FILE}-wal`]),
  'without its log': (home) => moveFiles(home, [`${STORE_FILE}-wal`]),
  'home renamed': (home) => {
    renameSync(home, `${home}-away`);
    return () => renameSync(`${home}-away`, home);
  },
  replaced: (home) => {
    const file = join(home, STORE_FILE);
    renameSync(file, `${file}.away`);
    cpSync(`${file}.away`, file);
    return () => renameSync(`${file}.away`, file);
  },
};

/** One round; the gateway goes on in it, or is killed while its store is away. Returns what was done. */
export async function takeStore({ world, ledger, random }: StoreChaos, gateway: GatewayProcess): Promise<[string, GatewayProcess]> {
  const name = random.pick(Object.keys(takings));
  await ledger.observe(gateway);
  const load = await ledger.load(gateway);
  const target = ledger.stats.answered + 1 + random.below(150);
  await ledger.until(() => ledger.stats.answered >= target);
  for (let turns = random.below(8); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  const putBack = takings[name]!(world.home);
  await ledger.until(() => ledger.stats.refused > 0);
  await readyBecomes(gateway, 503, 10_000);
  await load.stop();
  const isKilled = random.chance(0.5);
  if (isKilled) await gateway.kill();
  putBack();
  if (!isKilled) await readyBecomes(gateway, 200, 20_000);
  const next = isKilled ? await world.start() : gateway;
  await ledger.compare(next);
  return [isKilled ? `${name}, killed` : name, next];
}

/** One round: the lock file is removed under load, and nobody else gets in; then the gateway ends, and the next one does. */
export async function removeLock({ world, ledger, random }: StoreChaos, gateway: GatewayProcess): Promise<GatewayProcess> {
  await ledger.observe(gateway);
  const load = await ledger.load(gateway);
  const target = ledger.stats.answered + 1 + random.below(150);
  await ledger.until(() => ledger.stats.answered >= target);
  rmSync(join(world.home, 'gateway.lock'));
  if (random.chance(0.5)) rmSync(join(world.home, 'gateway.pid'), { force: true });
  await assert.rejects(world.start({ keepConfig: true }), (error: Error & { exit?: { code: number } }) => {
    assert.equal(error.exit?.code, 3, error.message);
    return true;
  });
  const more = ledger.stats.answered + 20;
  await ledger.until(() => ledger.stats.answered >= more);
  await (random.chance(0.5) ? gateway.kill() : gateway.stop());
  await load.stop();
  const next = await world.start();
  await ledger.compare(next);
  return next;
}

/** One round: PostgreSQL hangs under load until the gateway says so, and goes on. Returns how long that took. */
export async function freezePostgres({ ledger, random }: StoreChaos, gateway: GatewayProcess, server: Postgres): Promise<number> {
  await ledger.observe(gateway);
  const load = await ledger.load(gateway);
  const target = ledger.stats.answered + 1 + random.below(150);
  await ledger.until(() => ledger.stats.answered >= target);
  server.freeze();
  const since = performance.now();
  let noticedMs: number;
  try {
    // Long before the first of the writes gives up.
    await readyBecomes(gateway, 503, 10_000);
    noticedMs = performance.now() - since;
    await pause(random.below(500));
  } finally {
    server.thaw();
  }
  await readyBecomes(gateway, 200, 20_000);
  const more = ledger.stats.answered + 30;
  await ledger.until(() => ledger.stats.answered >= more);
  await load.stop();
  await ledger.compare(gateway);
  return noticedMs;
}

function moveFiles(home: string, names: readonly string[]): () => void {
  const away = `${home}-away`;
  mkdirSync(away);
  for (const name of names) renameSync(join(home, name), join(away, name));
  return () => {
    for (const name of names) renameSync(join(away, name), join(home, name));
    rmSync(away, { recursive: true });
  };
}
