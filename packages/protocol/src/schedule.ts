// Work at a later time: a job says when and what, and each time that it is due is an occurrence, which ends in exactly one way.
import { Type, type Static } from 'typebox';
import { limits } from './limits.ts';
import { Count, OwnerId, RandomId, SessionKey, Timestamp } from './names.ts';
import { RunId } from './transcript.ts';

const closed = { additionalProperties: false };

export const JobId = RandomId;
export const JobName = Type.String({ minLength: 1, maxLength: 128, pattern: '\\S' });
/** Jobs that belong together, for whoever takes them back. */
export const JobTag = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[^:]*[^:\\s][^:]*$',
  description: 'up to 128 characters without a colon',
});
export const JobMessage = Type.String({ minLength: 1, maxLength: limits.jobMessageChars.value, pattern: '\\S' });

/** The last instant that a schedule may name: the end of the year 9999. */
export const LAST_TIME = 253_402_300_799_999;
const DueTime = Type.Integer({ minimum: 0, maximum: LAST_TIME });
export const IntervalMs = Type.Integer({ minimum: 1_000, maximum: 31_622_400_000 });
export const CronText = Type.String({
  maxLength: 256,
  pattern: '^\\s*\\S+(\\s+\\S+){4}\\s*$',
  description: 'five fields: minute, hour, day of the month, month, day of the week',
});
export const TimeZone = Type.String({ minLength: 1, maxLength: 64, description: 'the name of a time zone, such as Europe/Berlin' });

const At = Type.Object({ kind: Type.Literal('at'), at: DueTime }, closed);
/** At `anchorAt`, and every so often before and after it. */
const Every = Type.Object({ kind: Type.Literal('every'), everyMs: IntervalMs, anchorAt: Type.Optional(DueTime) }, closed);
/** In the time zone; without one, in that of the gateway, which is then kept with it. */
const CronRule = Type.Object({ kind: Type.Literal('cron'), cron: CronText, tz: Type.Optional(TimeZone) }, closed);
export const Schedule = Type.Union([At, Every, CronRule]);
export type Schedule = Static<typeof Schedule>;

/** As it is asked for; `in` is counted from when the gateway takes it. */
export const ScheduleWish = Type.Union([
  At,
  Type.Object({ kind: Type.Literal('in'), delayMs: Type.Integer({ minimum: 0, maximum: LAST_TIME }) }, closed),
  Every,
  CronRule,
]);
export type ScheduleWish = Static<typeof ScheduleWish>;

/** A session of its own for each time, or always the same one. */
export const JobSession = Type.Union([
  Type.Object({ key: SessionKey }, closed),
  Type.Object({ agentId: OwnerId, fresh: Type.Literal(true) }, closed),
]);
export type JobSession = Static<typeof JobSession>;

/** What is done when it is noticed late, because the gateway was down or the clock moved: run it once, leave it, or run it if it is not later than that. */
export const OnMiss = Type.Union([
  Type.Enum(['run', 'skip']),
  Type.Object({ within: Type.Integer({ minimum: 1_000, maximum: 31_622_400_000 }) }, closed),
]);
export type OnMiss = Static<typeof OnMiss>;

/** What is done when it is due while the time before has not ended. */
export const Overlap = Type.Enum(['skip', 'queue', 'allow']);
export type Overlap = Static<typeof Overlap>;

/** How often in all it is tried; the wait doubles each time. */
export const JobRetry = Type.Object(
  { attempts: Type.Integer({ minimum: 2, maximum: 10 }), backoffMs: Type.Integer({ minimum: 1_000, maximum: 86_400_000 }) },
  closed,
);

export const occurrenceStates = {
  waiting: 'It is due and waits: for the one before, or for the next attempt.',
  running: 'Its turn waits in the session, or runs.',
  done: 'The turn has ended well.',
  failed: 'The turn has failed, and is not tried again.',
  missed: 'It was noticed too late to be run; the reason says why.',
  skipped: 'It was not run, by a rule of the job; the reason says which.',
  interrupted: 'It had begun and was stopped, or what it belonged to was removed.',
} as const;
export type OccurrenceState = keyof typeof occurrenceStates;

export const Occurrence = Type.Object(
  {
    jobId: JobId,
    /** When it was due; with the job, what names it. */
    dueAt: Timestamp,
    state: Type.Enum(Object.keys(occurrenceStates) as OccurrenceState[]),
    reason: Type.Optional(Type.String({ maxLength: 4096 })),
    sessionKey: Type.Optional(SessionKey),
    runId: Type.Optional(RunId),
    /** Which try it is; 0 where none was made. */
    attempt: Count,
    /** Somebody asked for it beside the schedule. */
    manual: Type.Optional(Type.Literal(true)),
    /** Several that were missed in a row are one record: how many, and when the last of them was due. */
    count: Type.Optional(Count),
    until: Type.Optional(Timestamp),
    /** When the next attempt is made. */
    retryAt: Type.Optional(Timestamp),
    startedAt: Type.Optional(Timestamp),
    endedAt: Type.Optional(Timestamp),
  },
  closed,
);
export type Occurrence = Static<typeof Occurrence>;

export const Job = Type.Object(
  {
    id: JobId,
    name: JobName,
    session: JobSession,
    schedule: Schedule,
    message: Type.String(),
    state: Type.Enum(['active', 'paused', 'finished']),
    /** Why it is paused, where nobody has asked for it. */
    note: Type.Optional(Type.String({ maxLength: 512 })),
    onMiss: OnMiss,
    overlap: Overlap,
    retry: Type.Optional(JobRetry),
    /** `announce`: what the agent answers goes to where the session came from. `none`: it stands in the transcript only. */
    delivery: Type.Enum(['announce', 'none']),
    /** Who made it: a credential, or `plugin:<id>`. */
    owner: Type.String({ maxLength: 256 }),
    tag: Type.Optional(JobTag),
    nextAt: Type.Optional(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    /** The one that was due last. */
    last: Type.Optional(Occurrence),
  },
  closed,
);
export type Job = Static<typeof Job>;
