import { Type } from 'typebox';
import { limits } from '../limits.ts';
import { Count, SessionKey, Timestamp } from '../names.ts';
import { TraceRecord } from '../trace.ts';
import { RunId } from '../transcript.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };

const state = {
  recording: Type.Boolean(),
  /** Turns that are still to be recorded; without it, every turn. */
  turnsLeft: Type.Optional(Count),
  /** When the recording ends at the latest. */
  until: Type.Optional(Timestamp),
};

export const traceMethods = {
  'hooks.trace.record': write({
    summary:
      'Record what plugins do in a session: in the next `turns` turns, or until it is switched off, for an hour at most. Kept in memory only.',
    scope: 'operator.admin',
    params: {
      sessionKey: SessionKey,
      turns: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.traceTurns.value })),
      off: Type.Optional(Type.Literal(true)),
    },
    result: Type.Object(
      {
        sessionKey: SessionKey,
        ...state,
        /** What is recorded from now on comes after this. */
        seq: Count,
      },
      closed,
    ),
  }),
  'hooks.trace': read({
    summary: 'What was recorded: which handler ran when, for how long, what it changed, what was refused and why. Oldest first.',
    scope: 'operator.admin',
    params: {
      sessionKey: SessionKey,
      runId: Type.Optional(RunId),
      /** Only what came after this `seq`. */
      after: Type.Optional(Count),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSize.value })),
    },
    result: Type.Object(
      {
        ...state,
        records: Type.Array(TraceRecord),
        /** Older records that made room for newer ones. */
        dropped: Count,
        /** There is more: the next `after`. */
        next: Type.Optional(Count),
      },
      closed,
    ),
  }),
};
