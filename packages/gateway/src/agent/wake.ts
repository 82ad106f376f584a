// When a turn or a call of a plugin has ended, and plugins want something told in a session where nothing runs or waits, the
// agent goes on by itself: one turn, and a bounded number of them after each message of a person. Only plugins that may start
// turns wake it, and only if the operator has not switched it off. The store decides, in the commit that ends the turn.
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { WakeWish } from '../store/continuations.ts';
import type { Store } from '../store/store.ts';
import type { PluginParts } from './plugin-tools.ts';

/** Turns that begin by themselves, after one that a person asked for. */
export const WAKE_DEPTH = 3;
const PAGE = 200;

export interface WakeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The setting `plugins.wake`. */
  readonly isOn: boolean;
  readonly plugins: () => PluginParts | undefined;
  readonly accepted: (sessionKey: string) => void;
}

export interface Wake {
  /** To be decided with the end of a turn. */
  afterTurn(): WakeWish | undefined;
  /** To be decided with what a person has asked a plugin to do, and the plugin has queued. */
  afterCall(plugin: string): WakeWish | undefined;
  /** Turns that a former life still owed. */
  resume(): Promise<void>;
}

export function createWake({ store, clock, log, isOn, plugins, accepted }: WakeDeps): Wake {
  function wakers(): WakeWish['wakers'] {
    const parts = plugins();
    if (!isOn || !parts) return [];
    return parts.list().flatMap(({ id }) => (mayWake(id, parts) ? [{ pluginId: id, pluginName: nameOf(id, parts) }] : []));
  }

  function afterTurn(): WakeWish | undefined {
    const list = wakers();
    return list.length === 0 ? undefined : { runId: newRunId(), wakers: list, depth: WAKE_DEPTH };
  }

  function afterCall(plugin: string): WakeWish | undefined {
    const list = wakers().filter(({ pluginId }) => pluginId === plugin);
    return list.length === 0 ? undefined : { runId: newRunId(), wakers: list };
  }

  return {
    afterTurn,
    afterCall,
    async resume() {
      const pluginIds = wakers().map(({ pluginId }) => pluginId);
      let after: string | undefined;
      do {
        const at = clock.now();
        const page = await store.read('injections.sessions', { pluginIds, limit: PAGE, at, ...(after === undefined ? {} : { after }) });
        for (const key of page.keys) {
          const wake = afterTurn();
          if (!wake) return;
          const { woken } = await store.write('runs.wake', { key, wake, afterTurn: true, at });
          if (woken === undefined) continue;
          log.info({ sessionKey: key, runId: woken }, 'the agent goes on with what plugins had queued before the gateway stopped');
          accepted(key);
        }
        after = page.next;
      } while (after !== undefined);
    },
  };
}

function mayWake(plugin: string, parts: PluginParts): boolean {
  return parts.holds(plugin, 'turns.start') && parts.holds(plugin, 'prompt.inject');
}

function nameOf(plugin: string, parts: PluginParts): string {
  return parts.get(plugin)?.name ?? plugin;
}

function newRunId(): string {
  return `p${randomId()}`;
}
