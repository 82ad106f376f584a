import { Type } from 'typebox';
import { limits } from '../limits.ts';
import { OwnerId, SessionKey, Timestamp } from '../names.ts';
import {
  Job,
  JobId,
  JobMessage,
  JobName,
  JobRetry,
  JobSession,
  JobTag,
  Occurrence,
  occurrenceStates,
  OnMiss,
  Overlap,
  type OccurrenceState,
  Schedule,
  ScheduleWish,
} from '../schedule.ts';
import { RunId } from '../transcript.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };
const JobResult = Type.Object({ job: Job }, closed);
const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSize.value })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
};
const rules = {
  onMiss: Type.Optional(OnMiss),
  overlap: Type.Optional(Overlap),
  delivery: Type.Optional(Type.Enum(['announce', 'none'])),
};

export const scheduleMethods = {
  'cron.list': read({
    summary: 'List jobs, newest first, a page at a time. Without `state`, those that are active or paused.',
    scope: 'operator.read',
    params: {
      ...page,
      state: Type.Optional(Type.Enum(['active', 'paused', 'finished', 'all'])),
      sessionKey: Type.Optional(SessionKey),
      owner: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
      tag: Type.Optional(JobTag),
    },
    result: Type.Object({ jobs: Type.Array(Job), nextCursor: Type.Optional(Type.String()) }, closed),
  }),
  'cron.get': read({
    summary: 'Read one job.',
    scope: 'operator.read',
    params: { id: JobId },
    result: JobResult,
  }),
  'cron.preview': read({
    summary: 'When a schedule would be due next, without making a job of it.',
    scope: 'operator.read',
    params: { schedule: ScheduleWish, count: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })) },
    result: Type.Object({ schedule: Schedule, times: Type.Array(Timestamp) }, closed),
  }),
  'cron.add': write({
    summary: 'Let the agent work at a later time: once, every so often, or as a cron expression says.',
    scope: 'operator.write',
    params: {
      name: Type.Optional(JobName),
      session: JobSession,
      schedule: ScheduleWish,
      message: JobMessage,
      ...rules,
      retry: Type.Optional(JobRetry),
      tag: Type.Optional(JobTag),
    },
    result: JobResult,
  }),
  'cron.update': write({
    summary: 'Change a job. With a new schedule, what is due next is worked out anew from now on.',
    scope: 'operator.write',
    params: {
      id: JobId,
      name: Type.Optional(JobName),
      session: Type.Optional(JobSession),
      schedule: Type.Optional(ScheduleWish),
      message: Type.Optional(JobMessage),
      ...rules,
      retry: Type.Optional(Type.Union([JobRetry, Type.Null()])),
      tag: Type.Optional(Type.Union([JobTag, Type.Null()])),
    },
    result: JobResult,
  }),
  'cron.remove': write({
    summary: 'Remove a job. A turn of it that runs goes on; what became of it can still be read for a while.',
    scope: 'operator.write',
    params: { id: JobId },
    result: Type.Object({ id: JobId, removed: Type.Literal(true) }, closed),
  }),
  'cron.run': write({
    summary: 'Run a job now, beside its schedule; its rule for overlaps holds.',
    scope: 'operator.write',
    params: { id: JobId },
    result: Type.Object({ job: Job, occurrence: Occurrence }, closed),
  }),
  'cron.pause': write({
    summary: 'Let a job rest: nothing of it is due until it is resumed.',
    scope: 'operator.write',
    params: { id: JobId },
    result: JobResult,
  }),
  'cron.resume': write({
    summary: 'Go on with a job that rests. What would have been due meanwhile is not made up for.',
    scope: 'operator.write',
    params: { id: JobId },
    result: JobResult,
  }),
  'heartbeat.wake': write({
    summary: 'Let an agent look around now, as its HEARTBEAT.md says, also outside of the active hours.',
    scope: 'operator.write',
    params: { agentId: Type.Optional(OwnerId) },
    /** Without a run, `reason` says why not. */
    result: Type.Object(
      {
        begun: Type.Boolean(),
        runId: Type.Optional(RunId),
        sessionKey: Type.Optional(SessionKey),
        reason: Type.Optional(Type.String()),
      },
      closed,
    ),
  }),
  'cron.history': read({
    summary: 'What became of each time that a job was due, latest first; without a job, of all jobs.',
    scope: 'operator.read',
    params: {
      ...page,
      id: Type.Optional(JobId),
      state: Type.Optional(Type.Enum(Object.keys(occurrenceStates) as OccurrenceState[])),
    },
    result: Type.Object(
      {
        /** `jobName` while there is the job. */
        occurrences: Type.Array(Type.Object({ ...Occurrence.properties, jobName: Type.Optional(JobName) }, closed)),
        nextCursor: Type.Optional(Type.String()),
      },
      closed,
    ),
  }),
};
