// Jobs in few words, for the tests of the store and of the scheduler.
import type { Occurrence } from '@tenon/protocol';
import type { WriteArgs } from '../../packages/gateway/src/store/operations.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { keepAll } from './stores.ts';
import { at, completed, key, type Step } from './stores-turns.ts';

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

const claimOf = (runId: string, revision: number, dueAt: number, nextAt: number | null) => ({
  ...{ key, jobId: idOf('a'), revision, due: { dueAt, runId }, nextAt, at: dueAt },
});
const endOf = (runId: string, kind: 'completed' | 'failed') => ({ key, runId, end: kind === 'completed' ? completed : { kind }, at: due });

/** Every operation on jobs, with what it refuses. */
export const jobScript: readonly Step[] = [
  ['write', 'jobs.add', job('a', { overlap: 'queue', retry: { attempts: 2, backoffMs: 1_000 }, onMiss: { within: HOUR } })],
  ['write', 'jobs.add', job('a')],
  ['write', 'jobs.add', job('unknown-session', {}, { mustExist: true })],
  ['write', 'jobs.add', once('b', { session: { agentId: 'main', fresh: true }, tag: 'tag' }, { owner: 'plugin:one', keep: true })],
  ['read', 'jobs.get', { id: idOf('a') }],
  ['read', 'jobs.get', { id: idOf('none') }],
  ['read', 'jobs.due', { at: due - 1, limit: 5 }],
  ['read', 'jobs.due', { at: due, limit: 5 }],
  ['read', 'jobs.nextDue', {}],
  ['write', 'jobs.claim', claimOf('early', 1, due - 1, due)],
  ['write', 'jobs.claim', claimOf('old', 0, due, due + MINUTE)],
  ['write', 'jobs.claim', claimOf('c1', 1, due, due + MINUTE)],
  ['write', 'jobs.claim', claimOf('c1', 1, due, due + MINUTE)],
  ['write', 'jobs.claim', claimOf('c2', 2, due + MINUTE, due + 2 * MINUTE)],
  [
    'write',
    'jobs.claim',
    {
      ...{ key, jobId: idOf('a'), revision: 3, nextAt: due + HOUR, at: due + 9 * MINUTE },
      missed: { dueAt: due + 2 * MINUTE, until: due + 9 * MINUTE, count: 8, reason: 'late' },
    },
  ],
  ['write', 'runs.end', endOf('c1', 'failed')],
  ['read', 'jobs.due', { at: due + DAY, limit: 5 }],
  ['write', 'jobs.startWaiting', { key, jobId: idOf('a'), dueAt: due, runId: 'c1-again', at: due + 1_000 }],
  ['write', 'jobs.startWaiting', { key, jobId: idOf('a'), dueAt: due, runId: 'c1-twice', at: due + 1_000 }],
  ['write', 'runs.end', endOf('c1-again', 'failed')],
  ['write', 'jobs.startWaiting', { key, jobId: idOf('a'), dueAt: due + MINUTE, runId: 'c2', at: due }],
  ['write', 'runs.end', endOf('c2', 'completed')],
  ['write', 'jobs.runNow', { key, jobId: idOf('a'), runId: 'now', at: due + 5 }],
  ['write', 'jobs.runNow', { key, jobId: idOf('none'), runId: 'never', at: due + 5 }],
  ['write', 'jobs.pause', { id: idOf('a'), note: 'why', at: due }],
  ['write', 'jobs.pause', { id: idOf('a'), at: due }],
  ['write', 'jobs.update', { id: idOf('a'), fields: { message: 'other', retry: null, tag: 'new' }, at: due }],
  ['write', 'jobs.update', { id: idOf('none'), fields: {}, at: due }],
  ['write', 'jobs.resume', { id: idOf('a'), nextAt: due + DAY, at: due }],
  ['write', 'jobs.resume', { id: idOf('a'), nextAt: null, at: due }],
  ['write', 'jobs.update', { id: idOf('a'), fields: { schedule: { kind: 'at', at: due + DAY } }, nextAt: due + DAY, at: due }],
  ['read', 'jobs.list', { limit: 5 }],
  ['read', 'jobs.list', { limit: 5, state: 'active', sessionKey: key, owner: 'token:asker', tag: 'new' }],
  ['read', 'jobs.list', { limit: 5, cursor: 'none' }],
  ['read', 'jobs.history', { limit: 9 }],
  ['read', 'jobs.history', { limit: 9, id: idOf('a'), state: 'missed' }],
  ['write', 'jobs.removeOf', { owner: 'plugin:one', tag: 'other', at: due }],
  ['write', 'jobs.removeOf', { owner: 'plugin:one', tag: 'tag', reason: 'gone', at: due }],
  ['write', 'jobs.remove', { id: idOf('a'), at: due }],
  ['write', 'jobs.remove', { id: idOf('a'), at: due }],
  ['read', 'stream.read', { after: 0, limit: 1_000 }],
  ['write', 'retention.sweep', { at: due + HOUR, keep: { ...keepAll, occurrenceMs: 0 } }],
  ['read', 'tables.count', {}],
];
