// What a call of a plugin comes to, in one commit: its state, what it has queued, its word in the transcript, the turn that
// goes on, and, because the operation has the answer as its result, the answer that a repeat gets.
import { settleActions } from './action-requests.ts';
import { continueIn, type ContinuationWish, wakeIn, type WakeWish } from './continuations.ts';
import { type Press, pressIn } from './deliveries.ts';
import { appendOnLeaf } from './entries.ts';
import { enqueueAll, type NewInjection } from './injections.ts';
import { applyPuts, requireRevisions, type StatePut } from './plugin-state.ts';
import { requireSwitchedOn } from './plugins.ts';
import { announce, lockSession, requireSession, type SessionRow, toSession } from './session-row.ts';
import type { Dialect, Operation } from './sql.ts';
import type { EntryDraft } from '@tenon/protocol';

export interface PluginEffects {
  readonly pluginId: string;
  readonly puts: readonly StatePut[];
  /** What the plugin has looked at: if somebody has changed it since, nothing is done. */
  readonly seen?: readonly { readonly namespace: string; readonly ifRevision: number }[];
  readonly injections?: readonly NewInjection[];
  /** The agent goes on. */
  readonly run?: ContinuationWish;
  /** The agent goes on if something waits to be told. */
  readonly wake?: WakeWish;
}

export interface Effected {
  /** Whether the session looks otherwise now. */
  readonly changed: boolean;
  /** The turn that goes on. */
  readonly runId?: string;
}

/** In a session that is locked: all of it or nothing. Whoever calls tells clients. */
export function* applyEffects(session: SessionRow, effects: PluginEffects, at: number, dialect: Dialect): Operation<Effected> {
  const { pluginId, puts, seen = [], injections = [], run, wake } = effects;
  yield* requireSwitchedOn(pluginId, dialect);
  yield* requireRevisions(session, pluginId, seen);
  yield* applyPuts(session, pluginId, puts, at);
  const queued = yield* enqueueAll(session, pluginId, injections, at);
  const changed = puts.length > 0 || queued.some(({ enqueued }) => enqueued);
  if (run) return { changed, ...(yield* continueIn(session, run, at, dialect)) };
  const { woken } = wake ? yield* wakeIn(session, wake, at, dialect) : {};
  return { changed, ...(woken === undefined ? {} : { runId: woken }) };
}

/** The answer has the turn that goes on, where there is one. */
export function* commitAction<Answer extends object>(
  args: PluginEffects & {
    key: string;
    drafts: readonly EntryDraft[];
    answer: Answer;
    /** The action that was carried out: calls for a person that offer it are answered. */
    actionId?: string;
    /** The button that was pressed for it. */
    press?: Press;
    at: number;
  },
  dialect: Dialect,
): Operation<Answer & { runId?: string }> {
  const { key, drafts, answer, actionId, press, at, ...effects } = args;
  const session = yield* requireSession(key, dialect);
  const pressed = press ? [yield* pressIn(session, press, at, dialect)] : [];
  yield* appendOnLeaf(
    session,
    [...pressed, ...drafts].map((draft) => ({ draft })),
    at,
  );
  if (actionId !== undefined) yield* settleActions(key, effects.pluginId, actionId, at);
  const { runId, changed } = yield* applyEffects(session, effects, at, dialect);
  if (changed) yield* announce('plugin-patch', toSession((yield* lockSession(key, dialect)) ?? session), at);
  return runId === undefined ? answer : { ...answer, runId };
}
