// A turn that a plugin asks for: without a message of a person, it tells the agent what plugins have queued, or only to go
// on. One that waits already is not asked for again, so that pressing a button twice is one turn.
import { GatewayError } from '@tenon/protocol';
import type { Refused } from '@tenon/plugin-sdk';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import type { Turns } from './service.ts';

export interface ContinueDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly turns: Pick<Turns, 'accepted'>;
  readonly nameOf: (plugin: string) => string;
}

/** Without `force`, only if something waits to be told; then there is no run. Never throws for what a plugin asked. */
export async function continueAgent(
  { plugin, sessionKey, force }: { readonly plugin: string; readonly sessionKey: string; readonly force: boolean },
  { store, clock, log, turns, nameOf }: ContinueDeps,
): Promise<{ readonly ok: true; readonly runId?: string } | Refused> {
  try {
    const wish = { runId: `p${randomId()}`, pluginId: plugin, pluginName: nameOf(plugin) };
    const { runId } = await store.write('runs.continue', { key: sessionKey, wish, force, at: clock.now() });
    if (runId === undefined) return { ok: true };
    turns.accepted(sessionKey);
    return { ok: true, runId };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const reason = error.code === 'NOT_FOUND' ? 'no-session' : error.code === 'CONFLICT' ? 'limit' : 'unavailable';
    if (reason === 'limit') log.warn({ plugin, sessionKey, reason: error.message }, 'a plugin wants another turn and is refused');
    return { ok: false, reason, message: error.message };
  }
}
