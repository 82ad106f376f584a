// Every `faultpoint('…')` of the source, and the scenarios that reach them: each kills the process there, starts again and
// compares. A point that no scenario reaches is a hole in the tests.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { migrationsAfter } from '../../packages/gateway/src/store/migrations.ts';
import { STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { APPLICATION_ID } from '../../packages/gateway/src/store/sqlite-file.ts';
import { type ChaosWorld, openChaosWorld } from './chaos.ts';
import { openLink } from './chaos-link.ts';
import { cleanEnv, type GatewayProcess, tenonBin } from './gateway.ts';
import { Ledger, readSessions } from './ledger.ts';
import { createRandom } from './random.ts';
import { type Engine, engines } from './stores.ts';
import { isTurnPoint, killTurnAt, storiesOf } from './turn-kills.ts';

export function faultPoints(): string[] {
  const folder = join(import.meta.dirname, '..', '..', 'packages', 'gateway', 'src');
  const names: string[] = [];
  for (const file of globSync('**/*.ts', { cwd: folder })) {
    const source = readFileSync(join(folder, file), 'utf8').replaceAll('function faultpoint(', '');
    const named = [...source.matchAll(/\bfaultpoint\('([^']+)'\)/g)].map((match) => match[1]!);
    assert.equal(named.length, source.split('faultpoint(').length - 1, `${file} has a faultpoint without a plain name`);
    names.push(...named);
  }
  assert.equal(new Set(names).size, names.length, `Two faultpoints share a name: ${names}`);
  return names.sort();
}

/** Those that have tests of their own: files, deliveries and their buttons in hand-over.test.ts, extensions in install.test.ts. */
export function isElsewhere(point: string): boolean {
  return isHandOverPoint(point) || isInstallPoint(point);
}

export function isHandOverPoint(point: string): boolean {
  return /^(press|delivery|attachment)\./.test(point);
}

export function isInstallPoint(point: string): boolean {
  return point.startsWith('install.');
}

/** Which of the times that a process comes by a point are taken: each one, or the first, second, fourth, eighth and so on. */
export type Taken = 'each' | 'doubling';

/** Resolves with how often the process was killed at the point; throws when a promise did not hold afterwards. */
export type Scenario = (point: string, seed: number, taken: Taken) => Promise<number>;

const onEach = (scenario: (engine: Engine) => Scenario, name: string): [string, Scenario][] =>
  engines.map((engine) => [`${name} on ${engine}`, scenario(engine)]);

export const scenarios: ReadonlyMap<string, Scenario> = new Map([
  ...onEach(killWhileWriting, 'writes'),
  ...onEach(killAtFirstStart, 'first start'),
  ...onEach(killInMigration, 'migration'),
  ...onEach(killInBackup, 'backup'),
  ...onEach(killInRestore, 'restore'),
  ['settings on sqlite', killWhileSetting],
  ...onEach(killInTurn, 'turns'),
]);

const expected: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^dispatch\./, ['writes on sqlite', 'writes on postgres']],
  [/^writer\./, ['writes on sqlite']],
  [/^file\./, ['first start on sqlite', 'settings on sqlite', 'restore on sqlite']],
  [/^store\.\w+-create$/, ['first start on sqlite']],
  [/^store\./, ['migration on sqlite']],
  [/^postgres\.migrating$/, ['first start on postgres', 'migration on postgres']],
  [/^postgres\./, ['writes on postgres']],
  [/^backup\.file-taken$/, ['backup on sqlite']],
  [/^backup\./, ['backup on sqlite', 'backup on postgres']],
  [/^restore\.(\w+-swap|file-written)$/, ['restore on sqlite']],
  [/^restore\.before-commit$/, ['restore on postgres']],
];

/** The scenarios that must reach the point; for a point that nobody has placed yet, all, of which one must. */
export function scenariosOf(point: string): readonly string[] | undefined {
  if (isTurnPoint(point)) return engines.map((engine) => `turns on ${engine}`);
  return expected.find(([names]) => names.test(point))?.[1];
}

/** Kills at the point in every scenario where it is expected, and returns how often. */
export async function killAt(point: string, seed: number, taken: Taken): Promise<number> {
  const names = scenariosOf(point) ?? [...scenarios.keys()];
  let kills = 0;
  for (const name of names) {
    const reached = await scenarios.get(name)!(point, seed, taken).catch((error: unknown) => {
      throw new Error(`${point} in "${name}" with seed ${seed}: ${(error as Error).message}`, { cause: error });
    });
    if (scenariosOf(point)) assert.ok(reached > 0, `"${name}" does not reach ${point}`);
    kills += reached;
  }
  assert.ok(kills > 0, `No scenario reaches ${point}`);
  return kills;
}

function killWhileWriting(engine: Engine): Scenario {
  return async (point, seed) => {
    const random = createRandom(seed);
    await using world = await openChaosWorld(engine);
    const ledger = new Ledger({ seed, observers: 1, writers: 3 });
    const armed = await startArmed(world, point, 6 + random.below(24));
    if (armed) {
      await ledger.observe(armed);
      const load = await ledger.load(armed);
      await Promise.race([armed.exited, ledger.until(() => ledger.stats.sent >= 600).catch(() => armed.exited)]);
      const wasKilled = armed.child.signalCode === 'SIGKILL';
      await armed.kill();
      await load.stop();
      if (!wasKilled) return 0;
    }
    await checkLedger(world, ledger);
    return 1;
  };
}

function killAtFirstStart(engine: Engine): Scenario {
  return (point, seed, taken) =>
    untilItPasses(taken, async (nth) => {
      await using world = await openChaosWorld(engine);
      if (await startArmed(world, point, nth)) return false;
      await checkLedger(world, new Ledger({ seed, observers: 1, writers: 1 }));
      return true;
    });
}

function killInMigration(engine: Engine): Scenario {
  return (point, seed, taken) =>
    untilItPasses(taken, async (nth) => {
      await using world = await openChaosWorld(engine);
      await makeFirstSchema(world);
      if (await startArmed(world, point, nth)) return false;
      await using gateway = await world.start();
      assert.deepEqual([...(await sessionsOf(gateway)).keys()].sort(), OLD_SESSIONS, `seed ${seed}`);
      if (engine === 'sqlite') assert.equal(versionIn(join(world.home, `${STORE_FILE}.schema-1`)), 1, 'the copy from before the migration');
      return true;
    });
}

function killInBackup(engine: Engine): Scenario {
  return async (point, seed, taken) => {
    await using world = await openChaosWorld(engine);
    const ledger = new Ledger({ seed, observers: 1, writers: 2 });
    const gateway = await world.start();
    await writeSome(ledger, gateway, 60);
    await keepFile(gateway);
    const kills = await untilItPasses(taken, async (nth) => {
      const file = join(world.home, `backup-${nth}`);
      const first = await runTenon(['backup', file, '--home', world.home], { TENON_FAULT: `${point}:${nth}` });
      if (first.signal !== 'SIGKILL') {
        assert.equal(first.code, 0, first.stderr);
        return false;
      }
      assert.ok(!existsSync(file), 'a backup that was not finished has the name of one');
      const again = await runTenon(['backup', file, '--home', world.home]);
      assert.equal(again.code, 0, again.stderr);
      return true;
    });
    await gateway.kill();
    await checkLedger(world, ledger);
    return kills;
  };
}

function killInRestore(engine: Engine): Scenario {
  return async (point, seed, taken) => {
    await using source = await openChaosWorld('sqlite');
    const saved = new Ledger({ seed, observers: 1, writers: 2 });
    const file = join(source.home, 'backup');
    const before = await writeAndStop(source, saved, 40, keepFile);
    assert.equal((await runTenon(['backup', file, '--home', source.home])).code, 0);
    return await untilItPasses(taken, async (nth) => {
      await using world = await openChaosWorld(engine);
      const present = await writeAndStop(world, new Ledger({ seed: seed + 1, observers: 1, writers: 1 }), 20);
      const restore = ['restore', file, '--yes', '--home', world.home];
      const first = await runTenon(restore, { TENON_FAULT: `${point}:${nth}` });
      if (first.signal !== 'SIGKILL') {
        assert.equal(first.code, 0, first.stderr);
        return false;
      }
      const between = await world.start();
      const found = await sessionsOf(between);
      assert.ok(
        [present, before].some((whole) => isSame(whole, found)),
        `neither the old store nor the restored one: ${[...found.keys()]}`,
      );
      assert.equal(await between.stop(), 0, between.stderr());
      const again = await runTenon(restore);
      assert.equal(again.code, 0, again.stderr);
      const restored = await world.start();
      assert.ok(isSame(before, await sessionsOf(restored)), 'the repeated restore');
      assert.equal(await readFile(restored), FILE_TEXT, 'its file');
      return true;
    });
  };
}

function killWhileSetting(point: string, seed: number, taken: Taken): Promise<number> {
  return untilItPasses(taken, async (nth) => {
    await using world = await openChaosWorld('sqlite');
    await (await world.start()).stop();
    const armed = await startArmed(world, point, nth);
    const budgets = [1_001, 1_002, 1_003];
    let acknowledged = 25_000;
    if (armed) {
      const link = await openLink(armed);
      for (const budget of budgets) {
        const outcome = await link.request('config.patch', { idempotencyKey: `b${budget}`, set: { 'gateway.shutdownBudgetMs': budget } });
        if (outcome.kind === 'answered') acknowledged = budget;
        else break;
      }
      await link.cut();
      await armed.stop();
      if (armed.child.signalCode !== 'SIGKILL') return false;
    }
    const gateway = await world.start({ keepConfig: true });
    const link = await openLink(gateway);
    const found = await link.request('config.get', {});
    assert.ok(found.kind === 'answered');
    const { value } = found.payload.settings['gateway.shutdownBudgetMs'] as { value: number };
    const next = budgets.find((budget) => budget > acknowledged || acknowledged === 25_000);
    assert.ok(value === acknowledged || value === next, `${value} after ${acknowledged} was acknowledged, seed ${seed}`);
    for (const budget of budgets) {
      const outcome = await link.request('config.patch', { idempotencyKey: `b${budget}`, set: { 'gateway.shutdownBudgetMs': budget } });
      assert.equal(outcome.kind, 'answered');
    }
    await link.cut();
    return true;
  });
}

function killInTurn(engine: Engine): Scenario {
  return async (point) => {
    let kills = 0;
    for (const story of storiesOf(point)) kills += await killTurnAt(story, point, engine);
    return kills;
  };
}

/** Arms the first call, then a later one and so on, until one goes through untouched. Returns how many did not. */
async function untilItPasses(taken: Taken, killedAt: (nth: number) => Promise<boolean>): Promise<number> {
  let kills = 0;
  for (let nth = 1; await killedAt(nth); nth = taken === 'each' ? nth + 1 : nth * 2) kills++;
  return kills;
}

/** Undefined when it was killed before it was ready. */
async function startArmed(world: ChaosWorld, point: string, nth: number): Promise<GatewayProcess | undefined> {
  try {
    return await world.start({ env: { TENON_FAULT: `${point}:${nth}` } });
  } catch (error) {
    if ((error as { exit?: { signal?: string } }).exit?.signal === 'SIGKILL') return undefined;
    throw error;
  }
}

/** Starts, compares, and sees that the gateway takes further work. */
async function checkLedger(world: ChaosWorld, ledger: Ledger): Promise<void> {
  const gateway = await world.start();
  await ledger.compare(gateway);
  await ledger.observe(gateway);
  await writeMore(ledger, gateway, 20);
  await ledger.compareEvents(await ledger.compare(gateway));
  await gateway.kill();
}

async function writeSome(ledger: Ledger, gateway: GatewayProcess, count: number): Promise<void> {
  await ledger.observe(gateway);
  await writeMore(ledger, gateway, count);
}

async function writeMore(ledger: Ledger, gateway: GatewayProcess, count: number): Promise<void> {
  const load = await ledger.load(gateway);
  const target = ledger.stats.sent + count;
  await ledger.until(() => ledger.stats.sent >= target);
  await load.stop();
}

async function writeAndStop(
  world: ChaosWorld,
  ledger: Ledger,
  count: number,
  andThen: (gateway: GatewayProcess) => Promise<unknown> = async () => {},
): ReturnType<typeof readSessions> {
  const gateway = await world.start();
  await writeSome(ledger, gateway, count);
  await andThen(gateway);
  const { sessions } = await ledger.compare(gateway);
  assert.equal(await gateway.stop(), 0, gateway.stderr());
  return new Map(sessions);
}

const FILE_TEXT = 'kept with the rows';

/** A file that a client has sent. */
async function keepFile(gateway: GatewayProcess): Promise<void> {
  const link = await openLink(gateway);
  const ask = async (method: string, params: object) => {
    const outcome = await link.request(method, params);
    assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
    return outcome.payload as { uploadId: string };
  };
  const { uploadId } = await ask('attachments.begin', { name: 'kept.txt', bytes: FILE_TEXT.length });
  await ask('attachments.chunk', { uploadId, offset: 0, data: Buffer.from(FILE_TEXT).toString('base64') });
  await ask('attachments.commit', { uploadId });
  await link.cut();
}

async function readFile(gateway: GatewayProcess): Promise<string> {
  const link = await openLink(gateway);
  const listed = await link.request('attachments.list', {});
  await link.cut();
  assert.ok(listed.kind === 'answered', JSON.stringify(listed));
  const [{ handle }] = listed.payload.attachments as [{ handle: string }];
  const response = await fetch(`${gateway.url}/attachments/${handle}`, { headers: { authorization: `Bearer ${gateway.token}` } });
  return response.text();
}

export async function sessionsOf(gateway: GatewayProcess): ReturnType<typeof readSessions> {
  const link = await openLink(gateway);
  try {
    return await readSessions(link);
  } finally {
    await link.cut();
  }
}

function isSame(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  const inOrder = (sessions: ReadonlyMap<string, unknown>) => JSON.stringify([...sessions].sort(([x], [y]) => (x < y ? -1 : 1)));
  return inOrder(a) === inOrder(b);
}

const OLD_SESSIONS = ['agent:main:old1', 'agent:main:old2'];

/** A store as the first version of the schema left it. */
async function makeFirstSchema({ engine, home, databaseUrl }: ChaosWorld): Promise<void> {
  const [first] = migrationsAfter(0, engine);
  const rows = OLD_SESSIONS.map(
    (key, n) =>
      `insert into sessions (key, session_id, agent_id, title, label, pinned, archived, revision, words, created_at, updated_at)
       values ('${key}', 'abcdefghijklmnop${n}', 'main', 'old', null, 0, 0, 1, 'old main', 1, 1)`,
  );
  const statements = [...first!.statements, "insert into stream values (1, 'epoch-of-old', 0)", ...rows];
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(home, STORE_FILE));
    database.exec(`pragma application_id = ${APPLICATION_ID}; ${statements.join(';\n')}; pragma user_version = 1`);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `create table tenon_schema (version integer primary key, name text not null, applied_at timestamptz not null default now());
     insert into tenon_schema (version, name) values (1, 'foundation'); ${statements.join(';\n')}`,
  );
  await client.end();
}

function versionIn(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return (database.prepare('pragma user_version').get() as { user_version: number }).user_version;
  } finally {
    database.close();
  }
}

export async function runTenon(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [tenonBin, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: cleanEnv(env) });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, stdout, stderr };
}
