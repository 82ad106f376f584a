// Cost by the number of sessions: one gateway per size, all alive at once and measured in turn, so that the sizes can be
// compared round by round. Created sessions are deleted again: the store stays as large as its name says.
import { join } from 'node:path';
import type { GatewayProcess } from '../../test/support/gateway.ts';
import { createDatabase, startPostgres } from '../../test/support/postgres.ts';
import type { ListShape } from '../budgets.ts';
import { COMMON_WORD, fillHome, fillPostgres, RARE_WORD, sessionKey } from '../fill.ts';
import { measured, sum } from '../rounds.ts';
import { type Engine, type Group, OK, requestFrame, type World } from '../world.ts';

const PAGE = 100;
/** Writes of one turn. */
const WRITES = 100;
const FSYNCS = 100;
const BARE_READS = 50;

interface Filled {
  readonly size: number;
  readonly gateway: GatewayProcess;
  /** The name of its connection. */
  readonly name: string;
  /** Milliseconds of the same page without the gateway. */
  bareRead(shape: ListShape): Promise<number>;
}

export const sessions: Group = {
  name: 'sessions',
  what: 'sessions by their number',
  async run(world) {
    if (world.plan.engines.includes('sqlite')) await measureEngine(world, 'sqlite', (size) => fillSqlite(world, size), fsync);
    if (!world.plan.engines.includes('postgres')) return;
    const server = world.closing(await startPostgres(), (started) => started.remove());
    const { url } = await createDatabase(server.url);
    const update = async () => (await world.bareStore().call('postgres', { url, connections: 1, forMs: world.turnMs / 2 })).p50;
    await measureEngine(world, 'postgres', (size) => fillDatabase(world, server.url, size), update);
    await server.remove();

    function fsync(): Promise<number> {
      return world.bareStore().call('fsync', { folder: world.folder, count: FSYNCS });
    }
  },
};

async function measureEngine(
  world: World,
  engine: Engine,
  prepare: (size: number) => Promise<Filled>,
  bareCommit: () => Promise<number>,
): Promise<void> {
  const prefix = engine === 'sqlite' ? '' : `${engine}.`;
  const stores: Filled[] = [];
  for (const size of world.plan.sizes) stores.push(await prepare(size));
  await world.load().call('open', { name: 'bare', url: `${await world.bareSocket()}/echo` });
  for (const store of stores) {
    const shapes = await listRequests(world, store);
    for (const shape of Object.keys(shapes) as ListShape[]) {
      world.record(`${prefix}list.${shape}.${store.size}`, await measureList(world, store, shape, shapes[shape]));
    }
  }
  await measureWrites(world, stores, prefix, bareCommit);
  await world.load().call('close', { prefix: '' });
  for (const { gateway } of stores) await gateway.remove();
}

async function fillSqlite(world: World, size: number): Promise<Filled> {
  const home = join(world.folder, `sessions-${size}`);
  const file = await fillHome(home, size);
  const gateway = await world.startGateway({ home });
  const name = `sqlite ${size}`;
  await world.connect(name, gateway);
  const bareRead = (shape: ListShape) => {
    const query = bareQuery(
      shape,
      'session_words.rowid',
      'session_words join sessions on ord = session_words.rowid',
      'session_words match ?',
    );
    const values = bareValues(shape, size, (word) => `"${word}"*`);
    return world.bareStore().call('read', { file, query, values, count: BARE_READS });
  };
  return { size, gateway, name, bareRead };
}

async function fillDatabase(world: World, server: string, size: number): Promise<Filled> {
  const { url } = await createDatabase(server);
  const gateway = await world.startGateway({ args: ['--store-engine', 'postgres'], env: { TENON_STORE_URL: url } });
  await fillPostgres(url, size);
  const name = `postgres ${size}`;
  await world.connect(name, gateway);
  const bareRead = (shape: ListShape) => {
    const query = bareQuery(shape, 'ord', 'sessions', `array_to_tsvector(string_to_array(words, ' ')) @@ ?::tsquery`);
    const values = bareValues(shape, size, (word) => `'${word}':*`);
    return world.bareStore().call('readPostgres', { url, query, values, count: BARE_READS });
  };
  return { size, gateway, name, bareRead };
}

async function listRequests(world: World, { name, size }: Filled): Promise<Record<ListShape, string>> {
  const cursor = await walkTo(world, name, Math.floor(size / 2));
  return {
    first: requestFrame('sessions.list', { limit: PAGE }),
    middle: requestFrame('sessions.list', { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }),
    rare: requestFrame('sessions.list', { limit: PAGE, search: RARE_WORD }),
    common: requestFrame('sessions.list', { limit: PAGE, search: COMMON_WORD }),
  };
}

/** The cursor of the page that begins after so many sessions, found as a client would find it. */
async function walkTo(world: World, name: string, position: number): Promise<string | undefined> {
  let cursor: string | undefined;
  for (let passed = 0; passed + 200 <= position; passed += 200) {
    const text = requestFrame('sessions.list', { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    const answer = await world.load().call('ask', { name, text, marker: OK });
    cursor = (JSON.parse(answer) as { payload: { nextCursor?: string } }).payload.nextCursor;
  }
  return cursor;
}

const COLUMNS = 'ord, key, session_id, agent_id, title, label, pinned, archived, revision, created_at, updated_at';

function bareQuery(shape: ListShape, ord: string, source: string, match: string): string {
  if (shape === 'first' || shape === 'middle') {
    return `select ${COLUMNS} from sessions where archived = 0 and (updated_at, ord) < (?, ?) order by updated_at desc, ord desc limit ?`;
  }
  return `select ${COLUMNS} from ${source} where ${match} order by ${ord} desc limit ?`;
}

function bareValues(shape: ListShape, size: number, prefixOf: (word: string) => string): (string | number)[] {
  // Of rows with equal times only the number counts, and no row of the filled store is as late as now.
  if (shape === 'first') return [Date.now(), size + 1, PAGE + 1];
  if (shape === 'middle') return [Date.now() - 86_400_000 + Math.ceil(size / 2), size + 1, PAGE + 1];
  return [prefixOf(shape === 'rare' ? RARE_WORD : COMMON_WORD), PAGE + 1];
}

async function measureList(world: World, store: Filled, shape: ListShape, text: string) {
  const load = world.load();
  const { turnMs } = world;
  const { name } = store;
  const answer = await load.call('ask', { name, text, marker: OK });
  await load.call('open', { name: 'as many bytes', url: `${await world.bareSocket()}/answer/${answer.length}` });
  const ask = () => load.call('drive', { name, text, inFlight: 1, forMs: turnMs, marker: OK });
  await ask();
  const taken = await world.alternate({
    tenon: async () => (await ask()).p50,
    read: () => store.bareRead(shape),
    bare: async () => (await load.call('drive', { name: 'as many bytes', text, inFlight: 1, forMs: turnMs / 2, marker: 'x' })).p50,
  });
  await load.call('close', { prefix: 'as many bytes' });
  return measured(taken.tenon, sum(taken.read, taken.bare));
}

async function measureWrites(world: World, stores: readonly Filled[], prefix: string, bareCommit: () => Promise<number>): Promise<void> {
  const load = world.load();
  const create = requestFrame('sessions.create', { key: 'agent:main:new{m}', title: 'Session {n}' });
  const remove = requestFrame('sessions.delete', { key: 'agent:main:new{m}' });
  const patch = requestFrame('sessions.patch', { key: sessionKey('{m}'), title: 'Session {n}' });
  const sides: Record<string, () => Promise<number>> = {
    echo: async () => (await load.call('drive', { name: 'bare', text: create, inFlight: 1, forMs: world.turnMs / 2, marker: 'req' })).p50,
    commit: bareCommit,
  };
  for (const { size, name } of stores) {
    sides[`create.${size}`] = async () => {
      const { p50 } = await load.call('drive', { name, text: create, spread: WRITES, inFlight: 1, count: WRITES, marker: OK });
      await load.call('drive', { name, text: remove, spread: WRITES, inFlight: 16, count: WRITES, marker: OK });
      return p50;
    };
    sides[`patch.${size}`] = async () =>
      (await load.call('drive', { name, text: patch, spread: size, inFlight: 1, count: WRITES, marker: OK })).p50;
  }
  for (const side of Object.values(sides)) await side();
  const taken = await world.alternate(sides);
  const limit = sum(taken.echo!, taken.commit!);
  const sizes = stores.map(({ size }) => size);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  for (const method of ['create', 'patch']) {
    for (const { size } of stores) world.record(`${prefix}${method}.${size}`, measured(taken[`${method}.${size}`]!, limit));
    if (least === most) continue;
    world.record(`${prefix}${method}.flat`, measured(taken[`${method}.${most}`]!, taken[`${method}.${least}`]!));
  }
}
