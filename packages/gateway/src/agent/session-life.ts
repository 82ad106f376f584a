// The ends and beginnings of a session: what runs is stopped first, and plugins are told.
import type { Session } from '@tenon/protocol';
import type { HookRunner } from '../host/run-hook.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { messagesOf } from './prompt.ts';
import type { Turns } from './service.ts';
import { readPath } from './turn-context.ts';

export interface LifeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly hooks: HookRunner;
  readonly turns: Turns;
}

type At = { key: string; at: number };

/** `commit` does it; the caller decides whose answer that is. */
export async function resetSession<Result extends { session: Session }>(
  key: string,
  deps: LifeDeps,
  commit: (args: At) => Promise<Result>,
): Promise<Result> {
  const before = await stopAll(key, deps);
  if (deps.hooks.has('before_reset')) {
    deps.hooks.run('before_reset', { ...before, messages: messagesOf(await readPath(deps.store, key)) });
  }
  const result = await commit({ key, at: deps.clock.now() });
  const { sessionId } = result.session;
  deps.hooks.run('session_end', { ...before, reason: 'reset', messageCount: 0, nextSessionId: sessionId, nextSessionKey: key });
  deps.hooks.run('session_start', { ...before, sessionId, reason: 'reset', resumedFrom: before.sessionId });
  return result;
}

export async function deleteSession<Result>(key: string, deps: LifeDeps, commit: (args: At) => Promise<Result>): Promise<Result> {
  const before = await stopAll(key, deps);
  const result = await commit({ key, at: deps.clock.now() });
  deps.hooks.run('session_end', { ...before, reason: 'deleted', messageCount: 0 });
  return result;
}

async function stopAll(key: string, { store, turns, clock }: LifeDeps) {
  const { session } = await store.read('sessions.get', { key });
  await store.write('runs.cancelQueued', { key, reason: 'The session was reset or deleted', at: clock.now() });
  await turns.abort(key);
  return { sessionKey: key, sessionId: session.sessionId, agentId: session.agentId };
}
