// The ends and beginnings of a session: what runs is stopped, and plugins are told. The commit is asked for at once, so that
// requests keep their order; only where a turn is in the way, or a plugin listens, something comes before it.
import { GatewayError, type Session } from '@tenon/protocol';
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
  /** Ends the background jobs of a session. */
  readonly endJobs: (sessionKey: string) => void;
}

type Commit<Result> = (args: { key: string; at: number }) => Promise<Result>;

/** Whether a plugin wants to know of ends and beginnings. */
export function isWatched(hooks: HookRunner): boolean {
  return hooks.has('before_reset') || hooks.has('session_end') || hooks.has('session_start');
}

/** A session was made. Gives back what it was given. */
export function tellStart<Result extends { session: Session }>(
  hooks: HookRunner,
  result: Result,
  reason: 'new' | 'fork' | 'import',
): Result {
  const { key, sessionId, agentId } = result.session;
  hooks.run('session_start', { sessionKey: key, sessionId, agentId, reason });
  return result;
}

/** `commit` does it; the caller decides whose answer that is. */
export async function resetSession<Result extends { session: Session }>(
  key: string,
  deps: LifeDeps,
  commit: Commit<Result>,
): Promise<Result> {
  const { hooks } = deps;
  if (!isWatched(hooks)) return commitOnceIdle(key, deps, commit);
  const before = await identityOf(key, deps);
  // What was said is read only for those who want it, or how much of it there was.
  const isWanted = hooks.has('before_reset') || hooks.has('session_end');
  const messages = isWanted ? messagesOf(await readPath(deps.store, key)) : [];
  hooks.run('before_reset', { ...before, messages });
  const result = await commitOnceIdle(key, deps, commit);
  const { sessionId } = result.session;
  hooks.run('session_end', { ...before, reason: 'reset', messageCount: messages.length, nextSessionId: sessionId, nextSessionKey: key });
  hooks.run('session_start', { ...before, sessionId, reason: 'reset', resumedFrom: before.sessionId });
  return result;
}

export async function deleteSession<Result>(key: string, deps: LifeDeps, commit: Commit<Result>): Promise<Result> {
  if (!deps.hooks.has('session_end')) return commitOnceIdle(key, deps, commit);
  const before = await identityOf(key, deps);
  const messageCount = messagesOf(await readPath(deps.store, key)).length;
  const result = await commitOnceIdle(key, deps, commit);
  deps.hooks.run('session_end', { ...before, reason: 'deleted', messageCount });
  return result;
}

/** A turn that is in the way is stopped, and what waits behind it is called off. */
async function commitOnceIdle<Result>(key: string, { store, turns, clock, endJobs }: LifeDeps, commit: Commit<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await commit({ key, at: clock.now() });
      endJobs(key);
      return result;
    } catch (error) {
      if (!isBusy(error) || attempt === MAX_ATTEMPTS) throw error;
    }
    await store.write('runs.cancelQueued', { key, reason: 'The session was reset or deleted', at: clock.now() });
    await turns.abort(key);
  }
}

/** Somebody who keeps talking to the session can be faster than the one who ends it. */
const MAX_ATTEMPTS = 5;

function isBusy(error: unknown): boolean {
  return error instanceof GatewayError && (error.details as { code?: string } | undefined)?.code === 'SESSION_BUSY';
}

async function identityOf(key: string, { store }: LifeDeps) {
  const { session } = await store.read('sessions.get', { key });
  return { sessionKey: key, sessionId: session.sessionId, agentId: session.agentId };
}
