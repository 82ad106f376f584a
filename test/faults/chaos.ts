// `npm run chaos`: the promises at full count, with the same rig as the tests. Bounded by --minutes where there is less time.
//   npm run chaos -- --seed 7 --kills 2000 --engine sqlite|postgres|both --minutes 30 --only resume
import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readStreamHead, type StreamHead } from '../../packages/gateway/src/store/stream-head.ts';
import { flipBackupBytes } from '../support/backups.ts';
import { killAtRandom, openChaosWorld, runKillRounds } from '../support/chaos.ts';
import { mountSmallDisk, surviveFullDisk } from '../support/chaos-disk.ts';
import { type Door, openLink } from '../support/chaos-link.ts';
import { inheritDescriptors, lockOut } from '../support/chaos-doors.ts';
import { freezePostgres, removeLock, type StoreChaos, takeStore } from '../support/chaos-store.ts';
import { watchSyncs } from '../support/chaos-strace.ts';
import { faultPoints, isElsewhere, killAt, runTenon } from '../support/fault-points.ts';
import { dieOnce, swapRounds, writeStorm } from '../support/extension-storms.ts';
import { FLOOD_BOUND, floodBounds, floodKinds, floodOnce } from '../support/extension-floods.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { lockOuts } from '../support/lock-out.ts';
import { growthOf, runLeaks, runSoak } from '../support/leaks.ts';
import { Ledger } from '../support/ledger.ts';
import type { Observer } from '../support/ledger-observer.ts';
import { startPostgres } from '../support/postgres.ts';
import { createRandom, type Random } from '../support/random.ts';
import { cutWal, flipWalBytes, makeStoreWithWal } from '../support/stores-damage.ts';
import { prepareLingering, stopAndStart } from '../support/stop-rounds.ts';
import type { Engine } from '../support/stores.ts';
import { runPluginChaos } from '../support/plugin-chaos.ts';
import { openHostWorld } from '../support/plugins.ts';
import { runScheduleChaos } from '../support/schedule-chaos.ts';
import { runTurnChaos } from '../support/turn-chaos.ts';
import { withExtensions } from '../support/written-extension.ts';
import { killTurnAt, LONGEST_STORY } from '../support/turn-kills.ts';

interface Part {
  readonly name: string;
  readonly promise: string;
  /** What is counted, such as kills, and how many of them make it whole. */
  readonly unit: string;
  readonly count: number;
  /** Works in steps of its own until the count is reached or the time is up; returns figures for the table. */
  run(part: Running): Promise<string>;
}

interface Running {
  readonly count: number;
  readonly seed: number;
  readonly isOver: () => boolean;
  step(done: number): void;
}

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '2000' },
    engine: { type: 'string', default: 'both' },
    minutes: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
  },
});
const seed = Number(given.seed);
const kills = Number(given.kills);
const minutes = Number(given.minutes);
/** Rounds in one world: what a ledger remembers stays small, and the end of the time is noticed. */
const ROUNDS_PER_WORLD = minutes > 0 ? 10 : 50;
/** Kills in one world of turns: its events stay within what the store keeps. */
const TURN_KILLS_PER_WORLD = 8;
const isBad = [seed, kills, minutes].some((value) => !Number.isFinite(value) || value < 0);
if (isBad || !['sqlite', 'postgres', 'both'].includes(given.engine)) {
  console.error('usage: npm run chaos -- [--seed N] [--kills N] [--engine sqlite|postgres|both] [--minutes N] [--only <name>]');
  process.exit(2);
}
const chosen = (['sqlite', 'postgres'] as const).filter((engine) => given.engine === 'both' || given.engine === engine);

const parts: readonly Part[] = [
  ...chosen.map((engine) => randomKills(engine, chosen.length === 1 ? kills : Math.round(kills / (engine === 'sqlite' ? 5 / 4 : 5)))),
  namedKills(),
  ...chosen.map(turns),
  ...chosen.map(plugins),
  ...chosen.map(schedules),
  extensionDeaths(),
  extensionSwaps(),
  extensionFloods(),
  stopsAndStarts(),
  descriptors(),
  localLockOut(),
  ...Object.keys(lockOuts).map(crowd),
  leaks(),
  soak(),
  ...chosen.map(turnCommits),
  ...chosen.map(resume),
  ...chosen.map(stops),
  walCuts(),
  walFlips(),
  backupFlips(),
  fullDisk(),
  storeTaken(),
  locksRemoved(),
  ...(chosen.includes('postgres') ? [frozenPostgres()] : []),
  syncBeforeReply(),
].filter(({ name }) => name.includes(given.only));

const postgres = await startPostgres();
process.env.TENON_TEST_POSTGRES = postgres.url;
try {
  process.exitCode = (await runParts()) === 0 ? 0 : 1;
} finally {
  await postgres.remove();
}

function extensionDeaths(): Part {
  return {
    name: 'extension deaths',
    promise: 'R09 S42 S43',
    unit: 'deaths',
    count: 500,
    async run({ count, seed: own, isOver, step }) {
      await using world = await openHostWorld();
      writeStorm(world);
      const host = await world.open(withExtensions);
      for (const name of ['probe', 'other']) await host.enable(name, { by: 'chaos' });
      const random = createRandom(own);
      const deaths = new Map<string, number>();
      for (let done = 0; done < count && !isOver(); done++) {
        const name = await dieOnce(host, random);
        deaths.set(name, (deaths.get(name) ?? 0) + 1);
        step(done + 1);
      }
      return [...deaths].map(([name, times]) => `${name} ${times}`).join(', ');
    },
  };
}

function crowd(name: string): Part {
  return {
    name: `kept out by ${name}`,
    promise: 'S09, S14',
    unit: 'tries',
    // More than all the sockets that the gateway has.
    count: 4_000,
    async run({ count, step }) {
      await using gateway = await startGatewayProcess();
      await lockOuts[name]!(gateway, count);
      step(count);
      return 'the operator got in all the while';
    },
  };
}

function stopsAndStarts(): Part {
  return {
    name: 'stop and start',
    promise: 'R14',
    unit: 'rounds',
    count: 20,
    async run({ count, step }) {
      const home = temporaryHome();
      try {
        await prepareLingering(home);
        await stopAndStart(home, count, step);
        return 'each start came up at once';
      } finally {
        rmSync(home, { recursive: true, force: true, maxRetries: 10 });
      }
    },
  };
}

function extensionSwaps(): Part {
  return {
    name: 'extension swaps',
    promise: 'S50',
    unit: 'copies',
    count: 10_000,
    async run({ count, isOver, step }) {
      const home = temporaryHome();
      try {
        let [copied, refused] = [0, 0];
        while (copied + refused < count && !isOver()) {
          const made = await swapRounds(home, 100, isOver);
          copied += made.copied;
          refused += made.refused;
          step(copied + refused);
        }
        return `${copied} copied, ${refused} refused`;
      } finally {
        rmSync(home, { recursive: true, force: true, maxRetries: 10 });
      }
    },
  };
}

function extensionFloods(): Part {
  return {
    name: 'extension floods',
    promise: 'S43 S44',
    unit: 'floods',
    count: floodKinds.length,
    async run({ count, isOver, step }) {
      const grown: string[] = [];
      for (const kind of floodKinds.slice(0, count)) {
        if (isOver()) break;
        const { before, most } = await floodOnce(kind);
        assert.ok(
          most - before < (floodBounds[kind] ?? FLOOD_BOUND),
          `${kind}: ${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most`,
        );
        grown.push(`${kind} +${(most - before).toFixed(0)} MB`);
        step(grown.length);
      }
      return grown.join(', ');
    },
  };
}

function descriptors(): Part {
  return {
    name: 'inherited descriptors',
    promise: 'S38 S83',
    unit: 'starts',
    count: 40,
    async run({ count, seed: first, isOver, step }) {
      let files = 0;
      for (let done = 0; done < count && !isOver(); step(++done)) {
        const inherited = await inheritDescriptors(createRandom(first + done));
        if (inherited === undefined) return 'there is no sandbox here';
        files += inherited;
      }
      return `${files} open files, none reached a program or an extension`;
    },
  };
}

function localLockOut(): Part {
  return {
    name: 'local lock-out',
    promise: 'S09 S11 S14',
    unit: 'nuisances',
    count: 500,
    async run({ count, seed: first, isOver, step }) {
      for (let done = 0; done < count && !isOver(); ) {
        await using world = await openChaosWorld('sqlite');
        const rounds = Math.min(50, count - done);
        await lockOut(await world.start(), createRandom(first + done), rounds, (round) => step(done + round));
        done += rounds;
      }
      return 'after each the right token got in, by the socket and over HTTP';
    },
  };
}

async function runParts(): Promise<number> {
  const startedAt = performance.now();
  const rows: { part: Part; done: number; seconds: number; outcome: string; error?: Error }[] = [];
  console.log(`chaos with seed ${seed}`);
  for (const [index, part] of parts.entries()) {
    const partStartedAt = performance.now();
    const budgetMs = minutes > 0 ? (minutes * 60_000 - (partStartedAt - startedAt)) / (parts.length - index) : Number.POSITIVE_INFINITY;
    const row: (typeof rows)[number] = { part, done: 0, seconds: 0, outcome: '' };
    rows.push(row);
    try {
      row.outcome = await part.run({
        count: part.count,
        seed: seed + index * 1_000,
        isOver: () => performance.now() - partStartedAt > budgetMs,
        step(done) {
          row.done = done;
          showProgress(`${index + 1}/${parts.length} ${part.name}: ${done} of ${part.count} ${part.unit}`);
        },
      });
    } catch (error) {
      row.error = error as Error;
    }
    row.seconds = (performance.now() - partStartedAt) / 1000;
    if (!process.stdout.isTTY) console.log(`${part.name}: ${stateOf(row)}`);
  }
  showProgress('');
  for (const { part, done, seconds, outcome, error } of rows) {
    console.log(
      `${stateOf({ part, done, error })}  ${part.name.padEnd(24)} ${part.promise.padEnd(14)} ${`${done} of ${part.count} ${part.unit}`.padEnd(26)} ${seconds.toFixed(0).padStart(5)} s  ${outcome}`,
    );
  }
  const failed = rows.filter(({ error }) => error);
  for (const { part, error } of failed) console.log(`\n${part.name}: ${error?.stack}\n`);
  const cut = rows.filter(({ part, done, error }) => !error && done < part.count).length;
  console.log(`${rows.length - failed.length - cut} passed, ${failed.length} failed${cut > 0 ? `, ${cut} not run whole` : ''}`);
  for (const { part } of failed) {
    console.log(`replay: npm run chaos -- --seed ${seed} --kills ${kills} --engine ${given.engine} --only "${part.name}"`);
  }
  return failed.length;
}

/** A part that ran out of time has not shown what it was asked for. */
function stateOf({ part, done, error }: { part: Part; done: number; error?: Error | undefined }): string {
  if (error) return 'FAILED ';
  return done >= part.count ? 'passed ' : done > 0 ? 'partly ' : 'not run';
}

function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${text}`);
}

function randomKills(engine: Engine, count: number): Part {
  return {
    name: `random kills ${engine}`,
    promise: 'R01 R03 R05 R17',
    unit: 'kills',
    count,
    async run({ seed: first, isOver, step }) {
      const sum = { answered: 0, unknown: 0, events: 0 };
      for (let done = 0; done < count && !isOver(); ) {
        const world = first + done;
        const rounds = Math.min(ROUNDS_PER_WORLD, count - done);
        const ledger = await killAtRandom({
          engine,
          random: createRandom(world),
          kills: rounds,
          ledger: { seed: world, observers: 4 },
          onRound: (round) => step(done + round),
        });
        done += rounds;
        sum.answered += ledger.stats.answered;
        sum.unknown += ledger.stats.unknown;
        sum.events += ledger.chronicle.size;
      }
      return `${sum.answered} answered, 0 missing; ${sum.unknown} cut off, all whole or absent; ${sum.events} events`;
    },
  };
}

function namedKills(): Part {
  const points = faultPoints().filter((point) => !isElsewhere(point));
  return {
    name: 'named kills',
    promise: 'R01 R02 R15',
    unit: 'times a point',
    count: points.length * 20,
    async run({ count, seed: first, isOver, step }) {
      let kills = 0;
      for (let done = 0; done < count && !isOver(); ) {
        kills += await killAt(points[done % points.length]!, first + done, 'each');
        step(++done);
      }
      return `${points.length} points, ${kills} kills`;
    },
  };
}

function turns(engine: Engine): Part {
  return {
    name: `turns ${engine}`,
    promise: 'R01 R03 R14',
    unit: 'kills',
    count: engine === 'sqlite' ? 200 : 50,
    async run({ count, seed: first, isOver, step }) {
      const sum = { acknowledged: 0, aborted: 0, answered: 0, programs: 0 };
      for (let done = 0; done < count && !isOver(); ) {
        const rounds = Math.min(TURN_KILLS_PER_WORLD, count - done);
        const world = first + done;
        const stats = await runTurnChaos({
          engine,
          seed: world,
          kills: rounds,
          sessions: 40,
          actsPerLife: 120,
          onRound: (round) => step(done + round),
        }).catch((error: unknown) => {
          throw new Error(`seed ${world}: ${(error as Error).message}`, { cause: error });
        });
        done += rounds;
        for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += stats[name];
      }
      return `${sum.acknowledged} runs, each ended once; ${sum.aborted} stopped, ${sum.answered} approvals, ${sum.programs} programs, none twice`;
    },
  };
}

function plugins(engine: Engine): Part {
  return {
    name: `plugins ${engine}`,
    promise: 'R03 R06 R07',
    unit: 'kills',
    count: engine === 'sqlite' ? 200 : 50,
    async run({ count, seed: first, isOver, step }) {
      const sum = { acknowledged: 0, repeated: 0, told: 0, turns: 0 };
      for (let done = 0; done < count && !isOver(); ) {
        const rounds = Math.min(TURN_KILLS_PER_WORLD, count - done);
        const world = first + done;
        const stats = await runPluginChaos({
          engine,
          seed: world,
          kills: rounds,
          sessions: 20,
          actsPerLife: 120,
          onRound: (round) => step(done + round),
        }).catch((error: unknown) => {
          throw new Error(`seed ${world}: ${(error as Error).message}`, { cause: error });
        });
        done += rounds;
        for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += stats[name];
      }
      return `${sum.acknowledged} presses, ${sum.repeated} repeats, each applied once; ${sum.told} injections, each in one of ${sum.turns} turns`;
    },
  };
}

function schedules(engine: Engine): Part {
  return {
    name: `schedules ${engine}`,
    promise: 'R04 R12',
    unit: 'kills',
    count: 300,
    async run({ count, seed: world, isOver, step }) {
      const size = { jobs: 500, days: 30 };
      const stats = await runScheduleChaos({ engine, seed: world, ...size, kills: count, isOver, killed: step });
      const states = Object.entries(stats.byState).map(([state, times]) => `${times} ${state}`);
      const beside = `${stats.runs} runs, ${stats.changes} changes by hand, ${stats.down} times while it was down`;
      return `${stats.times} times of ${size.jobs} jobs in ${size.days} days, each accounted for once: ${states.join(', ')}; ${beside}`;
    },
  };
}

function leaks(): Part {
  return {
    name: 'leaks',
    promise: 'A1 W15',
    unit: 'runs',
    count: minutes > 0 ? 5_000 : 100_000,
    async run({ count, step }) {
      const found = await runLeaks({ before: 1_000, all: count });
      assert.deepEqual(growthOf(found), []);
      step(found.runs);
      const heaps = `${found.first.heapMegabytes} MB after 1,000 runs, ${found.last.heapMegabytes} MB after all`;
      return `${Object.keys(found.last.maps).length} places that make maps, none holds more than before; ${heaps}`;
    },
  };
}

function soak(): Part {
  return {
    name: 'soak',
    promise: 'R19',
    unit: 'jobs',
    count: minutes > 0 ? 5_000 : 100_000,
    async run({ count, step }) {
      const { first, last, ...sums } = await runSoak({ jobs: count });
      assert.deepEqual(growthOf({ first, last }), []);
      assert.equal(sums.turns, sums.jobs + sums.messages);
      const heap = (last.heapMegabytes - first.heapMegabytes) / sums.virtualHours;
      assert.ok(heap < 1, `what is alive grows by ${heap.toFixed(2)} MB an hour`);
      step(sums.jobs);
      const alive = `${first.heapMegabytes.toFixed(0)} MB alive after a quarter, ${last.heapMegabytes.toFixed(0)} MB after all`;
      const size = `the process ${first.rssMegabytes.toFixed(0)} and ${last.rssMegabytes.toFixed(0)} MB (${sums.slope.toFixed(2)} MB an hour)`;
      return `${sums.virtualHours.toFixed(0)} virtual hours, ${sums.turns} turns, ${sums.sessions} sessions; no map holds more than before; ${alive}; ${size}`;
    },
  };
}

/** Before and after every commit from the start of a gateway to the end of a turn. */
function turnCommits(engine: Engine): Part {
  const store = engine === 'sqlite' ? 'writer' : 'postgres';
  return {
    name: `turn commits ${engine}`,
    promise: 'R01 R02 R03',
    unit: 'points',
    count: 2,
    async run({ count, isOver, step }) {
      let kills = 0;
      for (const [done, point] of [`${store}.before-commit`, `${store}.after-commit`].slice(0, count).entries()) {
        for (let nth = 1; !isOver() && (await killTurnAt(LONGEST_STORY, point, engine, nth)) === 1; nth++) kills++;
        if (!isOver()) step(done + 1);
      }
      return `${kills} commits`;
    },
  };
}

function resume(engine: Engine): Part {
  return {
    name: `resume ${engine}`,
    promise: 'R05',
    unit: 'events',
    count: engine === 'sqlite' ? 100_000 : 20_000,
    async run({ count, seed: first, isOver, step }) {
      const random = createRandom(first);
      const ledger = new Ledger({ seed: first, observers: 50, writers: 6 });
      await using world = await openChaosWorld(engine);
      let gateway = await world.start();
      const over = new AbortController();
      const cutting = ledger.observers.map((observer, n) => keepCutting(observer, () => gateway, createRandom(first + n), over.signal));
      let killed = 0;
      for (; killed < 20 && !isOver(); killed++) {
        const load = await ledger.load(gateway);
        // Repeats are answered too: about half of the answers are effects.
        const target = ledger.stats.answered + (1.7 * count) / 20;
        await ledger.until(() => ledger.stats.answered >= target);
        for (let turns = random.below(12); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
        await gateway.kill();
        await load.stop();
        gateway = await world.start();
        await ledger.compare(gateway);
        step(ledger.chronicle.size);
      }
      over.abort();
      await Promise.all(cutting);
      await ledger.observe(gateway);
      await ledger.compareEvents(await ledger.compare(gateway));
      const cuts = ledger.observers.reduce((sum, { resumes }) => sum + resumes, 0);
      const snapshots = ledger.observers.reduce((sum, each) => sum + each.snapshots, 0);
      return `50 clients, ${cuts} resumes, ${snapshots} snapshots, ${killed} kills, ${ledger.chronicle.size} events, no gap, no repeat`;
    },
  };
}

/** Connects, lives for a moment, is cut, and comes back. */
async function keepCutting(observer: Observer, door: () => Door, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !observer.failure) {
    // The gateway may be away.
    await observer.connect(door()).catch(() => {});
    await pause(50 + random.below(450));
    await observer.cut();
  }
}

function stops(engine: Engine): Part {
  const count = engine === 'sqlite' ? 160 : 40;
  return {
    name: `stops ${engine}`,
    promise: 'R14 R01',
    unit: 'stops',
    count,
    async run({ seed: first, isOver, step }) {
      let slowest = 0;
      let answered = 0;
      for (let done = 0; done < count && !isOver(); ) {
        const rounds = Math.min(ROUNDS_PER_WORLD, count - done);
        const ledger = new Ledger({ seed: first + done, observers: 2 });
        await using world = await openChaosWorld(engine);
        await runKillRounds({
          world,
          ledger,
          random: createRandom(first + done),
          kills: rounds,
          async end(gateway) {
            const startedAt = performance.now();
            assert.equal(await gateway.stop(), 0, gateway.stderr());
            slowest = Math.max(slowest, performance.now() - startedAt);
          },
          onRound: (round) => step(done + round),
        });
        done += rounds;
        answered += ledger.stats.answered;
      }
      assert.ok(slowest < 26_000, `a stop took ${slowest} ms`);
      return `${answered} answered, 0 lost; slowest ${slowest.toFixed(0)} ms`;
    },
  };
}

function walCuts(): Part {
  return {
    name: 'log cut',
    promise: 'R02',
    unit: 'bytes',
    count: 65_536,
    async run({ count, step }) {
      const home = temporaryHome();
      const origin = makeStoreWithWal(join(home, 'origin'), 120);
      const every = minutes > 0 ? 64 : 1;
      const { cuts, different } = cutWal(origin, join(home, 'cut'), {
        last: count,
        every,
        onCut: (done) => done % 64 === 0 && step(Math.min(count, done)),
      });
      rmSync(home, { recursive: true });
      step(Math.min(count, cuts));
      return `${cuts} cuts, ${different} different prefixes, nothing invented`;
    },
  };
}

/** Of a log that a gateway left behind under load: what it acknowledged is there, or the store is refused. */
function walFlips(): Part {
  return {
    name: 'log flips',
    promise: 'R13:wal R01',
    unit: 'flips',
    count: 2_000,
    async run({ count, seed: first, isOver, step }) {
      await using world = await openChaosWorld('sqlite');
      const ledger = new Ledger({ seed: first, observers: 0 });
      const gateway = await world.start();
      const load = await ledger.load(gateway);
      await ledger.until(() => ledger.stats.answered >= 300);
      await load.stop();
      const kept = await keptUpTo(world.home, await positionOf(gateway));
      await gateway.kill();
      const work = { flips: count, random: createRandom(first), isOver, onFlip: step };
      const { refused, whole } = flipWalBytes({ folder: world.home, kept }, join(world.home, 'flipped'), work);
      return `${ledger.stats.answered} answered, 0 lost silently; ${refused} times refused, ${whole} times whole`;
    },
  };
}

async function positionOf(gateway: Door): Promise<number> {
  const link = await openLink(gateway, { connect: { caps: ['resume'] } });
  await link.cut();
  return (link.hello.events as { seq: number }).seq;
}

async function keptUpTo(home: string, position: number): Promise<StreamHead> {
  for (;;) {
    const kept = readStreamHead(home);
    if (typeof kept === 'object' && kept.head >= position) return kept;
    await pause(20);
  }
}

function backupFlips(): Part {
  return {
    name: 'backup flips',
    promise: 'R13:backup',
    unit: 'flips',
    count: 1_000,
    async run({ count, seed: first, isOver, step }) {
      await using world = await openChaosWorld('sqlite');
      const ledger = new Ledger({ seed: first, observers: 0 });
      const gateway = await world.start();
      const load = await ledger.load(gateway);
      await ledger.until(() => ledger.stats.answered >= 300);
      await load.stop();
      const file = join(world.home, 'backup');
      const backup = await runTenon(['backup', file, '--home', world.home]);
      assert.equal(backup.code, 0, backup.stderr);
      flipBackupBytes(file, { flips: count, random: createRandom(first), isOver, onFlip: step });
      return `every one found, in ${(statSync(file).size / 1_048_576).toFixed(1)} MB`;
    },
  };
}

function fullDisk(): Part {
  return {
    name: 'full disk',
    promise: 'R11 R01',
    unit: 'times',
    count: 200,
    async run({ count, seed: first, isOver, step }) {
      let refused = 0;
      let answered = 0;
      for (let done = 0; done < count && !isOver(); ) {
        const random = createRandom(first + done);
        using disk = mountSmallDisk(8);
        if (!disk) return 'mounting is not permitted here; npm test fills the bound of the store';
        await using world = await openChaosWorld('sqlite', { home: disk.folder });
        const ledger = new Ledger({ seed: first + done, observers: 1 });
        const gateway = await world.start();
        for (let round = 0; round < 10 && done < count && !isOver(); round++) {
          await surviveFullDisk({ disk, ledger, gateway, after: 1 + random.below(120) });
          step(++done);
        }
        await gateway.kill();
        const again = await world.start();
        await ledger.observe(again);
        await ledger.compareEvents(await ledger.compare(again));
        refused += ledger.stats.refused;
        answered += ledger.stats.answered;
      }
      return `${answered} answered, 0 missing; ${refused} refused`;
    },
  };
}

function storeTaken(): Part {
  return {
    name: 'database moved',
    promise: 'R13 R01',
    unit: 'times',
    count: 200,
    async run(part) {
      const ways = new Map<string, number>();
      await inStoreWorlds('sqlite', part, async (chaos, gateway) => {
        const [name, next] = await takeStore(chaos, gateway);
        ways.set(name, (ways.get(name) ?? 0) + 1);
        return next;
      });
      return [...ways].map(([name, times]) => `${name} ${times}`).join(', ');
    },
  };
}

function locksRemoved(): Part {
  return {
    name: 'lock removed',
    promise: 'R16 R01',
    unit: 'times',
    count: 100,
    async run(part) {
      const answered = await inStoreWorlds('sqlite', part, removeLock);
      return `${answered} answered, 0 missing; no second gateway started`;
    },
  };
}

function frozenPostgres(): Part {
  return {
    name: 'PostgreSQL frozen',
    promise: 'R11 R01',
    unit: 'times',
    count: 100,
    async run(part) {
      const server = await startPostgres();
      const noticed: number[] = [];
      try {
        const answered = await inStoreWorlds(
          'postgres',
          part,
          async (chaos, gateway) => {
            noticed.push(await freezePostgres(chaos, gateway, server));
            return gateway;
          },
          server.url,
        );
        noticed.sort((a, b) => a - b);
        const [p50, max] = [noticed[noticed.length >> 1], noticed.at(-1)].map((ms) => `${Math.round(ms ?? 0)} ms`);
        return `${answered} answered, 0 missing; readyz 503 after ${p50} (p50), ${max} at most`;
      } finally {
        await server.remove();
      }
    },
  };
}

/** A world and a ledger of their own for each ten rounds; returns how many requests were answered. */
async function inStoreWorlds(
  engine: Engine,
  { count, seed: first, isOver, step }: Running,
  round: (chaos: StoreChaos, gateway: GatewayProcess) => Promise<GatewayProcess>,
  server?: string,
): Promise<number> {
  let answered = 0;
  for (let done = 0; done < count && !isOver(); ) {
    await using world = await openChaosWorld(engine, server === undefined ? {} : { postgres: server });
    const ledger = new Ledger({ seed: first + done, observers: 1 });
    const chaos = { world, ledger, random: createRandom(first + done) };
    let gateway = await world.start();
    for (let n = 0; n < 10 && done < count && !isOver(); n++) {
      gateway = await round(chaos, gateway);
      step(++done);
    }
    await ledger.observe(gateway);
    await ledger.compareEvents(await ledger.compare(gateway));
    answered += ledger.stats.answered;
  }
  return answered;
}

function syncBeforeReply(): Part {
  return {
    name: 'sync before reply',
    promise: 'R01',
    unit: 'replies',
    count: 1_000,
    async run({ count, step }) {
      await using world = await openChaosWorld('sqlite');
      const replies = await watchSyncs(await world.start(), count - 1);
      if (replies === undefined) return 'strace is not there or not permitted';
      assert.equal(replies, count);
      step(replies);
      return 'each after a sync of its own';
    },
  };
}
