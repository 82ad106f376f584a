// What an action of a plugin comes to, in one commit: its state, its word in the transcript, the turn that goes on, and,
// because the operation has the answer as its result, the answer that a repeat gets.
import { appendOnLeaf } from './entries.ts';
import { applyPuts, type StatePut } from './plugin-state.ts';
import { acceptRun } from './runs.ts';
import { announce, requireSession, toSession } from './session-row.ts';
import type { Dialect, Operation } from './sql.ts';
import type { EntryDraft } from '@tenon/protocol';

export function* commitAction<Answer>(
  args: {
    key: string;
    pluginId: string;
    puts: readonly StatePut[];
    drafts: readonly EntryDraft[];
    run?: Parameters<typeof acceptRun>[0];
    answer: Answer;
    at: number;
  },
  dialect: Dialect,
): Operation<Answer> {
  const { key, pluginId, puts, drafts, run, answer, at } = args;
  const session = yield* requireSession(key, dialect);
  if (puts.length > 0) {
    yield* applyPuts(session, pluginId, puts, at);
    yield* announce('plugin-patch', toSession(session), at);
  }
  yield* appendOnLeaf(
    session,
    drafts.map((draft) => ({ draft })),
    at,
  );
  if (run) yield* acceptRun(run, dialect);
  return answer;
}
