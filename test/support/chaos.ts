// A gateway that is meant to be killed, on either engine, in a home that outlives it; and the rounds that kill it.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type GatewayProcess, type StartOptions, startGatewayProcess, temporaryHome } from './gateway.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';
import { createDatabase } from './postgres.ts';
import type { Random } from './random.ts';
import type { Engine } from './stores.ts';

export interface ChaosWorld extends AsyncDisposable {
  readonly engine: Engine;
  readonly home: string;
  /** Text of tenon.toml. */
  readonly config: string;
  readonly databaseUrl: string | undefined;
  writeConfig(): void;
  /** Writes tenon.toml anew, unless what is there is to be kept. */
  start(options?: Omit<StartOptions, 'home' | 'config'> & { keepConfig?: boolean }): Promise<GatewayProcess>;
}

export async function openChaosWorld(
  engine: Engine,
  more: { postgres?: string; settings?: string; home?: string } = {},
): Promise<ChaosWorld> {
  const home = more.home ?? temporaryHome();
  const database = engine === 'postgres' ? await createDatabase(more.postgres) : undefined;
  const config = `${database ? `[store]\nengine = "postgres"\nurl = "${database.url}"\n` : ''}${more.settings ?? ''}`;
  const started = new Set<GatewayProcess>();
  return {
    engine,
    home,
    config,
    databaseUrl: database?.url,
    writeConfig: () => writeFileSync(join(home, 'tenon.toml'), config),
    async start({ keepConfig = false, ...options } = {}) {
      const gateway = await startGatewayProcess({ ...options, home, ...(keepConfig ? {} : { config }) });
      started.add(gateway);
      return gateway;
    },
    async [Symbol.asyncDispose]() {
      for (const gateway of started) await gateway.remove();
      await database?.drop();
      if (more.home === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export interface KillRounds {
  readonly world: ChaosWorld;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly kills: number;
  /** How a round ends; kill -9 unless said otherwise. */
  readonly end?: (gateway: GatewayProcess) => Promise<unknown>;
  readonly onRound?: (done: number) => void;
}

/** Load, kill at a moment that the seed chooses, start again, compare; at the end the events are compared too. */
export async function runKillRounds({
  world,
  ledger,
  random,
  kills,
  end = (gateway) => gateway.kill(),
  onRound,
}: KillRounds): Promise<void> {
  let gateway = await world.start();
  for (let round = 1; round <= kills; round++) {
    await ledger.observe(gateway);
    const load = await ledger.load(gateway);
    const target = ledger.stats.sent + 1 + random.below(random.chance(0.3) ? 20 : 300);
    await ledger.until(() => ledger.stats.sent >= target);
    if (ledger.observers.length > 0 && random.chance(0.4)) await random.pick(ledger.observers).cut();
    for (let turns = random.below(12); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    await end(gateway);
    await load.stop();
    gateway = await world.start();
    await ledger.compare(gateway);
    onRound?.(round);
  }
  await ledger.observe(gateway);
  await ledger.compareEvents(await ledger.compare(gateway));
  await gateway.kill();
}

/** A world and a ledger of its own for each part of the kills: what a run remembers stays bounded. */
export async function killAtRandom(options: {
  engine: Engine;
  random: Random;
  kills: number;
  ledger: LedgerOptions;
  postgres?: string;
  onRound?: (done: number) => void;
}): Promise<Ledger> {
  const ledger = new Ledger(options.ledger);
  await using world = await openChaosWorld(options.engine, options.postgres === undefined ? {} : { postgres: options.postgres });
  await runKillRounds({ ...options, world, ledger });
  return ledger;
}

/** Waits for the gateway to say that it is ready, or that it is not. */
export async function readyBecomes(gateway: GatewayProcess, status: 200 | 503, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = (await fetch(`${gateway.url}/readyz`)).status;
    if (found === status) return;
    assert.ok(performance.now() < deadline, `readyz is ${found} and not ${status} after ${withinMs} ms`);
    await pause(25);
  }
}

/** The seed of this run: the same on every machine unless TENON_SEED says otherwise. */
export const seed = Number(process.env.TENON_SEED ?? 20_260_101);
