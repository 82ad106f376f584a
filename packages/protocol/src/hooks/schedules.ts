// Hooks of schedules. What a job tells the agent, and its name, which may be the first words of that, are no part of them:
// whoever watches jobs need not read conversations.
import { Type } from 'typebox';
import { Count, OwnerId, SessionKey, Timestamp } from '../names.ts';
import { Job, Occurrence } from '../schedule.ts';
import { RunId } from '../transcript.ts';
import { closed, observe } from './row.ts';

const { name: _name, message: _message, last: _last, ...jobFacts } = Job.properties;

export const scheduleHooks = {
  cron_changed: observe({
    summary: 'A job was made, changed or removed, or something has become of a time that it was due. Told after the commit.',
    event: Type.Object(
      {
        /** `scheduled`: a time that is due waits, for the one before or for its next attempt. */
        action: Type.Enum(['added', 'updated', 'removed', 'scheduled', 'started', 'finished']),
        job: Type.Object(jobFacts, closed),
        /** The time that it is about. */
        occurrence: Type.Optional(Occurrence),
        sessionKey: Type.Optional(SessionKey),
        agentId: Type.Optional(OwnerId),
        runId: Type.Optional(RunId),
      },
      closed,
    ),
    timeoutMs: 5_000,
  }),
  cron_reconciled: observe({
    summary: 'What was due while nobody looked has been dealt with: after a start, or because the clock moved or the machine slept.',
    event: Type.Object(
      {
        reason: Type.Enum(['start', 'clock']),
        /** Times that were missed, and jobs that were due and have begun, wait or were skipped. */
        missed: Count,
        due: Count,
        nextAt: Type.Optional(Timestamp),
      },
      closed,
    ),
    timeoutMs: 5_000,
  }),
};
