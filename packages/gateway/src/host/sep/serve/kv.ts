// `kv/*`: values that an extension keeps with the gateway. Whose they are says the pipe that the request came through, and nothing in
// it. What one extension asks in a row happens in that row.
import type { JsonValue } from '@tenon/protocol';
import { limits } from '@tenon/protocol/sep/wire';
import type { Clock } from '../../../kernel/clock.ts';
import type { Store } from '../../../store/store.ts';
import { refusedBy } from './refused.ts';
import type { Served } from './serve.ts';

export interface ServeKvDeps {
  readonly extension: string;
  readonly store: Pick<Store, 'read' | 'write'>;
  readonly clock: Clock;
}

export function serveKv({ extension: pluginId, store, clock }: ServeKvDeps): Served {
  const lane = `values\n${pluginId}`;
  /** All of either kind that were asked so far: writes share a commit and reads go side by side, but neither overtakes the other. */
  let written: Promise<unknown> = Promise.resolve();
  let seen: Promise<unknown> = Promise.resolve();

  function write<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = seen.then(work);
    written = Promise.allSettled([written, mine]);
    return refusedBy(mine);
  }

  function read<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = written.then(work);
    seen = Promise.allSettled([seen, mine]);
    return refusedBy(mine);
  }

  return {
    'kv/get': ({ key }) => (isKey(key) ? read(() => store.read('extensionValues.get', { pluginId, name: key })) : { value: null }),
    'kv/list': async ({ prefix }) => {
      const { names } = await read(() => store.read('extensionValues.list', { pluginId, ...(prefix === undefined ? {} : { prefix }) }));
      return { keys: names };
    },
    'kv/set': async ({ key, value }) => {
      await write(() => store.write('extensionValues.put', { pluginId, name: key, value: value as JsonValue, lane, at: clock.now() }));
    },
    'kv/delete': async ({ key }) => {
      if (isKey(key)) await write(() => store.write('extensionValues.remove', { pluginId, name: key, lane }));
    },
    'kv/compare_and_set': ({ key, expected, value }) => {
      const swap = { pluginId, name: key, expected: expected as JsonValue, value: value as JsonValue, lane, at: clock.now() };
      return write(() => store.write('extensionValues.swap', swap));
    },
  };
}

const { value: MOST_CHARS } = limits.kvKeyChars;

/** Nothing can be kept under a longer one. */
const isKey = (key: string) => key.length <= MOST_CHARS;
