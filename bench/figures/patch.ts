// A durable write: `sessions.patch` with one and with 64 in flight, with and without an idempotency key, on both engines.
import { createDatabase, startPostgres } from '../../test/support/postgres.ts';
import type { GatewayProcess } from '../../test/support/gateway.ts';
import { measured, sum } from '../rounds.ts';
import { type Group, OK, requestFrame, type World } from '../world.ts';

const SESSIONS = 64;
const IN_FLIGHT = 64;
const FSYNCS = 100;
/** As many as the gateway opens. */
const POSTGRES_CONNECTIONS = 12;

export type PatchKind = 'plain' | 'keyed';

export function patchFrame(kind: PatchKind, key = 'agent:main:s{m}'): string {
  return requestFrame('sessions.patch', { key, title: 'Title {n}', ...(kind === 'keyed' ? { idempotencyKey: 'key-{n}' } : {}) });
}

/** The sessions that `patchFrame` names. */
export async function createSessions(world: World, name: string, count = SESSIONS): Promise<void> {
  const text = requestFrame('sessions.create', { key: 'agent:main:s{m}' });
  await world.load().call('drive', { name, text, spread: count, inFlight: 16, count, marker: OK });
}

export const patch: Group = {
  name: 'patch',
  what: 'durable writes',
  async run(world) {
    if (world.plan.engines.includes('sqlite')) await onSqlite(world);
    if (world.plan.engines.includes('postgres')) await onPostgres(world);
  },
};

async function onSqlite(world: World): Promise<void> {
  const gateway = await prepare(world);
  const one = await world.alternate({
    plain: () => patchOne(world, 'plain'),
    echo: () => echoOne(world),
    fsync: () => world.bareStore().call('fsync', { folder: world.folder, count: FSYNCS }),
    keyed: () => patchOne(world, 'keyed'),
  });
  const limit = sum(one.echo, one.fsync);
  world.record('patch.p50', measured(one.plain, limit));
  world.record('patch.keyed.p50', measured(one.keyed, limit));

  const many = await world.alternate({
    plain: () => patchMany(world, 'plain'),
    bare: () => world.bareStore().call('groupCommit', { folder: world.folder, group: IN_FLIGHT, forMs: world.turnMs }),
    keyed: () => patchMany(world, 'keyed'),
  });
  world.record('patch.rate', measured(many.plain, many.bare));
  world.record('patch.keyed.rate', measured(many.keyed, many.bare));
  await world.load().call('close', { prefix: '' });
  await gateway.remove();
}

async function onPostgres(world: World): Promise<void> {
  const server = world.closing(await startPostgres(), (started) => started.remove());
  const [own, bare] = [await createDatabase(server.url), await createDatabase(server.url)];
  const gateway = await prepare(world, ['--store-engine', 'postgres'], { TENON_STORE_URL: own.url });
  const barePostgres = (connections: number) => world.bareStore().call('postgres', { url: bare.url, connections, forMs: world.turnMs });

  const one = await world.alternate({
    tenon: () => patchOne(world, 'plain'),
    echo: () => echoOne(world),
    update: async () => (await barePostgres(1)).p50,
  });
  world.record('postgres.patch.p50', measured(one.tenon, sum(one.echo, one.update)));

  const many = await world.alternate({
    plain: () => patchMany(world, 'plain'),
    bare: async () => (await barePostgres(POSTGRES_CONNECTIONS)).rate,
    keyed: () => patchMany(world, 'keyed'),
  });
  world.record('postgres.patch.rate', measured(many.plain, many.bare));
  world.record('postgres.patch.keyed.rate', measured(many.keyed, many.bare));
  await world.load().call('close', { prefix: '' });
  await gateway.remove();
  await server.remove();
}

async function prepare(world: World, args: string[] = [], env: Record<string, string> = {}): Promise<GatewayProcess> {
  const gateway = await world.startGateway({ args, env });
  await world.connect('tenon', gateway);
  await world.load().call('open', { name: 'bare', url: `${await world.bareSocket()}/echo` });
  await createSessions(world, 'tenon');
  for (const kind of ['plain', 'keyed'] as const) await patchMany(world, kind);
  return gateway;
}

async function patchOne(world: World, kind: PatchKind): Promise<number> {
  const driven = await world
    .load()
    .call('drive', { name: 'tenon', text: patchFrame(kind), spread: SESSIONS, inFlight: 1, forMs: world.turnMs, marker: OK });
  return driven.p50;
}

async function patchMany(world: World, kind: PatchKind): Promise<number> {
  const driven = await world
    .load()
    .call('drive', { name: 'tenon', text: patchFrame(kind), spread: SESSIONS, inFlight: IN_FLIGHT, forMs: world.turnMs, marker: OK });
  return driven.rate;
}

/** A round trip of the same bytes with nothing behind it. */
export async function echoOne(world: World): Promise<number> {
  const { p50 } = await world
    .load()
    .call('drive', { name: 'bare', text: patchFrame('plain'), spread: SESSIONS, inFlight: 1, forMs: world.turnMs / 2, marker: 'req' });
  return p50;
}
