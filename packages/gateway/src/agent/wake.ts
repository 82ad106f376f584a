// When a turn has ended and plugins want something told in a session where nothing runs or waits, the agent goes on by
// itself: one turn, and a bounded number of them after each message of a person. Only plugins that may start turns wake it.
import type { Run } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';
import { continuationOf } from './continue-agent.ts';
import type { PluginParts } from './plugin-tools.ts';

/** Turns without a message, after one with a message. */
export const WAKE_DEPTH = 3;
const MAX_SESSIONS = 10_000;

export interface WakeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly plugins: () => PluginParts | undefined;
  readonly accepted: (sessionKey: string) => void;
}

export interface Wake {
  /** From the store, after the commit. */
  committed(batch: readonly StoredEvent[]): void;
  readonly size: number;
}

export function createWake({ store, clock, log, plugins, accepted }: WakeDeps): Wake {
  /** How deep each session is; those that are at rest are left out. */
  const depths = new Map<string, number>();

  async function look(sessionKey: string, runId: string): Promise<void> {
    const parts = plugins();
    if (!parts) return;
    const { run } = await store.read('runs.get', { runId });
    if (run.trigger !== 'plugin') depths.delete(sessionKey);
    // Who was stopped is not to go on by itself, and what failed would fail again.
    if (run.joined !== undefined || !isWell(run)) return;
    const { injections } = await store.read('injections.list', { key: sessionKey, at: clock.now() });
    const waiting = injections.find(({ pluginId, runId: takenBy }) => takenBy === undefined && parts.holds(pluginId, 'turns.start'));
    if (!waiting) return;
    const { runs } = await store.read('runs.openIn', { key: sessionKey });
    if (runs.length > 0) return;
    const depth = (depths.get(sessionKey) ?? 0) + 1;
    if (depth > WAKE_DEPTH) {
      log.warn(
        { sessionKey, plugin: waiting.pluginId },
        `a plugin wants more than ${WAKE_DEPTH} turns in a row; it waits for the next message`,
      );
      return;
    }
    if (depths.size >= MAX_SESSIONS && !depths.has(sessionKey)) depths.delete(depths.keys().next().value!);
    depths.set(sessionKey, depth);
    const { pluginId: plugin } = waiting;
    const pluginName = parts.get(plugin)?.name ?? plugin;
    await store.write('runs.accept', continuationOf({ sessionKey, runId: `p${randomId()}`, plugin, pluginName, at: clock.now() }));
    accepted(sessionKey);
  }

  return {
    committed(batch) {
      if (!plugins()) return;
      for (const { event, payload } of batch) {
        if (event === 'sessions.changed' && payload.includes('"delete"')) forget(payload);
        if (event !== 'chat' || !payload.includes('"ended"')) continue;
        const { kind, runId, sessionKey } = JSON.parse(payload) as { kind: string; runId?: string; sessionKey: string };
        if (kind !== 'ended' || runId === undefined) continue;
        look(sessionKey, runId).catch((error: unknown) =>
          log.error({ error, sessionKey }, 'cannot see whether plugins want something told'),
        );
      }
    },
    get size() {
      return depths.size;
    },
  };

  function forget(payload: string): void {
    const { key, reason } = JSON.parse(payload) as { key: string; reason: string };
    if (reason === 'delete') depths.delete(key);
  }
}

function isWell({ end }: Run): boolean {
  return end?.kind === 'completed' || end?.kind === 'handled';
}
