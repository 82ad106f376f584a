// Jobs in few words, for the tests of the store and of the scheduler.
import type { Occurrence } from '@tenon/protocol';
import type { WriteArgs } from '../../packages/gateway/src/store/operations.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { at, key } from './stores-turns.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const due = at + MINUTE;

type NewJob = WriteArgs<'jobs.add'>;

/** Every minute, in the session of the other tests. */
export function job(id: string, fields: Partial<NewJob['fields']> = {}, more: Partial<Omit<NewJob, 'id' | 'fields'>> = {}): NewJob {
  return {
    id: idOf(id),
    fields: {
      name: id,
      session: { key },
      schedule: { kind: 'every', everyMs: MINUTE, anchorAt: at },
      message: `do ${id}`,
      onMiss: 'run',
      overlap: 'skip',
      delivery: 'announce',
      ...fields,
    },
    owner: 'token:asker',
    nextAt: due,
    at,
    ...more,
  };
}

/** As long as an id of a job is. */
export function idOf(name: string): string {
  return `job-${name}`.padEnd(20, '_');
}

export function once(id: string, fields: Partial<NewJob['fields']> = {}, more: Partial<Omit<NewJob, 'id' | 'fields'>> = {}): NewJob {
  return job(id, { schedule: { kind: 'at', at: due }, ...fields }, more);
}

/** Takes on what is due, as the scheduler does that has just read it. */
export async function claim(
  store: Store,
  id: string,
  runId: string,
  more: Partial<WriteArgs<'jobs.claim'>> & { nextAt?: number | null } = {},
): ReturnType<typeof write> {
  const { jobs } = await store.read('jobs.due', { at: Number.MAX_SAFE_INTEGER, limit: 100 });
  const found = jobs.find((each) => each.job.id === idOf(id));
  const dueAt = found?.job.nextAt ?? due;
  const claimed = { key, jobId: idOf(id), revision: found?.revision ?? 0, due: { dueAt, runId }, nextAt: dueAt + MINUTE, at: dueAt };
  return write(store, { ...claimed, ...more });
}

function write(store: Store, args: WriteArgs<'jobs.claim'>) {
  return store.write('jobs.claim', args);
}

/** What has become of a job, the oldest first. */
export async function ledger(store: Store, id?: string): Promise<Occurrence[]> {
  const all: Occurrence[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.read('jobs.history', {
      limit: 200,
      ...(id === undefined ? {} : { id: idOf(id) }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    all.push(...page.occurrences);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all.toReversed();
}

export async function states(store: Store, id?: string): Promise<string[]> {
  return (await ledger(store, id)).map(({ state }) => state);
}
