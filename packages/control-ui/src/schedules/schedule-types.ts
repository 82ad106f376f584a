// The shapes of schedules, by the methods that carry them.
import type { Job, Params } from '@tenon/protocol';

export type { Job, Occurrence } from '@tenon/protocol';
/** As the form makes it: everything that it shows is said. */
export type NewJob = Omit<Params<'cron.add'>, 'idempotencyKey' | 'schedule'> & {
  readonly name: string;
  readonly schedule: Job['schedule'];
};
