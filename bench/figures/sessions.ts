// Cost by the number of sessions: one gateway per size, all alive at once and measured in turn, so that the sizes can be
// compared round by round. Created sessions are deleted again: the store stays as large as its name says.
import { join } from 'node:path';
import { STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import type { GatewayProcess } from '../../test/support/gateway.ts';
import { LIST_SHAPES, type ListShape, spell } from '../budgets.ts';
import { COMMON_WORD, fillHome, RARE_WORD, sessionKey } from '../fill.ts';
import { measured, sum } from '../rounds.ts';
import { type Group, OK, requestFrame, type World } from '../world.ts';

const PAGE = 100;
/** Writes of one turn. */
const WRITES = 100;
const FSYNCS = 100;

interface Filled {
  readonly size: number;
  readonly gateway: GatewayProcess;
  /** The name of its connection. */
  readonly name: string;
  readonly lists: readonly MeasuredList[];
}

interface MeasuredList {
  readonly shape: ListShape;
  readonly text: string;
  /** The same page without the gateway. */
  readonly bareQuery: string;
  readonly bareValues: (string | number)[];
  /** The connection that answers with as many bytes. */
  readonly bareName: string;
}

export const sessions: Group = {
  name: 'sessions',
  what: 'sessions by their number',
  async run(world) {
    const stores: Filled[] = [];
    for (const size of world.plan.sizes) stores.push(await prepare(world, size));
    await world.load().call('open', { name: 'bare', url: `${await world.bareSocket()}/echo` });
    for (const store of stores) for (const list of store.lists) await measureList(world, store, list);
    await measureWrites(world, stores);
    await world.load().call('close', { prefix: '' });
    for (const { gateway } of stores) await gateway.remove();
  },
};

async function prepare(world: World, size: number): Promise<Filled> {
  const home = join(world.folder, `sessions-${size}`);
  await fillHome(home, size);
  const gateway = await world.startGateway({ home });
  const name = `at ${spell(size)}`;
  await world.connect(name, gateway);
  const cursor = await walkTo(world, name, Math.floor(size / 2));
  const params: Record<ListShape, object> = {
    first: { limit: PAGE },
    middle: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
    rare: { limit: PAGE, search: RARE_WORD },
    common: { limit: PAGE, search: COMMON_WORD },
  };
  const lists: MeasuredList[] = [];
  for (const shape of Object.keys(LIST_SHAPES) as ListShape[]) {
    const text = requestFrame('sessions.list', params[shape]);
    const answer = await world.load().call('ask', { name, text, marker: OK });
    const bareName = `${name} ${shape}`;
    await world.load().call('open', { name: bareName, url: `${await world.bareSocket()}/answer/${answer.length}` });
    lists.push({ shape, text, bareName, ...bareList(shape, size) });
  }
  return { size, gateway, name, lists };
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

function bareList(shape: ListShape, size: number): Pick<MeasuredList, 'bareQuery' | 'bareValues'> {
  if (shape === 'first' || shape === 'middle') {
    return {
      bareQuery: `select ${COLUMNS} from sessions where archived = 0 and (updated_at, ord) < (?, ?) order by updated_at desc, ord desc limit ?`,
      bareValues: [Date.now(), shape === 'first' ? size + 1 : Math.ceil(size / 2), PAGE + 1],
    };
  }
  return {
    bareQuery: `select ${COLUMNS} from session_words join sessions on ord = session_words.rowid
      where session_words match ? order by session_words.rowid desc limit ?`,
    bareValues: [`"${shape === 'rare' ? RARE_WORD : COMMON_WORD}"*`, PAGE + 1],
  };
}

async function measureList(world: World, { size, gateway, name }: Filled, list: MeasuredList): Promise<void> {
  const load = world.load();
  const { turnMs } = world;
  const ask = () => load.call('drive', { name, text: list.text, inFlight: 1, forMs: turnMs, marker: OK });
  await ask();
  const taken = await world.alternate({
    tenon: async () => (await ask()).p50,
    read: () =>
      world.bareStore().call('read', {
        file: join(gateway.home, STORE_FILE),
        query: list.bareQuery,
        values: list.bareValues,
        count: 100,
      }),
    bare: async () => (await load.call('drive', { name: list.bareName, text: list.text, inFlight: 1, forMs: turnMs / 2, marker: 'x' })).p50,
  });
  world.record(`list.${list.shape}.${size}`, measured(taken.tenon, sum(taken.read, taken.bare)));
}

async function measureWrites(world: World, stores: readonly Filled[]): Promise<void> {
  const load = world.load();
  const create = requestFrame('sessions.create', { key: 'agent:main:new{m}', title: 'Session {n}' });
  const remove = requestFrame('sessions.delete', { key: 'agent:main:new{m}' });
  const patch = requestFrame('sessions.patch', { key: sessionKey('{m}'), title: 'Session {n}' });
  const sides: Record<string, () => Promise<number>> = {
    echo: async () => (await load.call('drive', { name: 'bare', text: create, inFlight: 1, forMs: world.turnMs / 2, marker: 'req' })).p50,
    fsync: () => world.bareStore().call('fsync', { folder: world.folder, count: FSYNCS }),
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
  const limit = sum(taken.echo!, taken.fsync!);
  for (const method of ['create', 'patch']) {
    for (const { size } of stores) world.record(`${method}.${size}`, measured(taken[`${method}.${size}`]!, limit));
    if (stores.length > 1) {
      const sizes = stores.map(({ size }) => size);
      const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
      world.record(`${method}.flat`, measured(taken[`${method}.${most}`]!, taken[`${method}.${least}`]!));
    }
  }
}
