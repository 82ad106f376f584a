// A turn that a plugin asks for: without a message of a person, it tells the agent what plugins have queued, or only to go
// on. One that waits already is not asked for again, so that pressing a button twice is one turn.
import { GatewayError } from '@tenon/protocol';
import type { Refused } from '@tenon/plugin-sdk';
import { pluginPrincipal } from '../host/own-runs.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { WriteArgs } from '../store/operations.ts';
import type { Store } from '../store/store.ts';
import type { Turns } from './service.ts';

export interface Continuation {
  readonly sessionKey: string;
  readonly runId: string;
  readonly plugin: string;
  readonly pluginName: string;
  readonly at: number;
}

export function continuationOf({ sessionKey, runId, plugin, pluginName, at }: Continuation): WriteArgs<'runs.accept'> {
  return {
    key: sessionKey,
    runId,
    // A conversation cannot end with the agent's own word: what is told says whose wish it is.
    content: [{ type: 'text', text: `(${pluginName}: go on.)` }],
    mode: 'collect',
    trigger: 'plugin',
    principal: pluginPrincipal(plugin),
    options: {},
    at,
  };
}

/** One of the same plugin that waits already: it is the one that was asked for. */
export async function queuedContinuation(store: Store, sessionKey: string, plugin: string): Promise<string | undefined> {
  const { runs } = await store.read('runs.queued', { key: sessionKey });
  return runs.find(({ run, principal }) => run.trigger === 'plugin' && principal === pluginPrincipal(plugin))?.run.runId;
}

export interface ContinueDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly turns: Pick<Turns, 'accepted'>;
  readonly nameOf: (plugin: string) => string;
}

/** Without `force`, only if something waits to be told; then there is no run. Never throws for what a plugin asked. */
export async function continueAgent(
  { plugin, sessionKey, force }: { readonly plugin: string; readonly sessionKey: string; readonly force: boolean },
  { store, clock, turns, nameOf }: ContinueDeps,
): Promise<{ readonly ok: true; readonly runId?: string } | Refused> {
  try {
    // A plugin goes on with a conversation that is there; it does not begin one.
    await store.read('sessions.get', { key: sessionKey });
    const at = clock.now();
    if (!force) {
      const { counts } = await store.read('injections.counts', { keys: [sessionKey], at });
      if ((counts[sessionKey] ?? 0) === 0) return { ok: true };
    }
    const queued = await queuedContinuation(store, sessionKey, plugin);
    if (queued !== undefined) return { ok: true, runId: queued };
    const runId = `p${randomId()}`;
    await store.write('runs.accept', continuationOf({ sessionKey, runId, plugin, pluginName: nameOf(plugin), at }));
    turns.accepted(sessionKey);
    return { ok: true, runId };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const reason = error.code === 'NOT_FOUND' ? 'no-session' : error.code === 'CONFLICT' ? 'limit' : 'unavailable';
    return { ok: false, reason, message: error.message };
  }
}
