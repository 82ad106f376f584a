// Runs that a plugin has asked for: turns without a message of a person. They are told apart by whose request they serve.
import type { Clock } from '../kernel/clock.ts';
import { principalOf } from '../store/continuations.ts';
import type { Store } from '../store/store.ts';

export interface OwnRun {
  readonly runId: string;
  readonly state: 'queued' | 'running';
}

/** Those of this session that the plugin has asked for and that have not ended, oldest first. */
export async function openRunsOf(store: Store, plugin: string, sessionKey: string): Promise<readonly OwnRun[]> {
  const { runs } = await store.read('runs.openIn', { key: sessionKey });
  return runs.flatMap(({ run: { runId, state }, principal }) =>
    principal === principalOf(plugin) && state !== 'ended' ? [Object.freeze({ runId, state })] : [],
  );
}

/** Those that wait, in every session, are not begun any more. */
export async function cancelRuns(plugin: string, store: Store, clock: Clock, reason: string): Promise<void> {
  await store.write('runs.cancelQueuedOf', { principal: principalOf(plugin), reason, at: clock.now() });
}
