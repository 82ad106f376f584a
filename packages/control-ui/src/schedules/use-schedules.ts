// The schedules as the gateway has them: read once, then kept up with the event that tells of every change. What a person does
// with one says what became of it.
import { useCallback, useEffect, useMemo, useState } from 'react';
import { visible } from '@tenon/protocol';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useAsked } from '../plugins/use-asked.ts';
import type { Loaded } from '../state/app-state.ts';
import type { Page } from '../state/page.ts';
import type { Call } from '../state/page-methods.ts';
import { type Trouble, troubleOf } from '../state/trouble.ts';
import type { Job, NewJob, Occurrence } from './schedule-types.ts';

/** Pages that are read one after the other; more jobs than that are counted and not shown. */
const MOST_PAGES = 10;

export interface Schedules {
  readonly jobs: Loaded<readonly Job[]>;
  /** There are more than are shown. */
  readonly isCut: boolean;
  readonly again: () => void;
}

interface Read {
  readonly jobs: ReadonlyMap<string, Job>;
  readonly isCut: boolean;
}

export function useSchedules(): Schedules {
  const page = usePage();
  const ask = useCallback(() => readAll(page), [page]);
  const { answer, again } = useAsked(ask, undefined);
  /** What events told since the connection stands; they may come before the answer that they are part of, or after it. */
  const [told, setTold] = useState<ReadonlyMap<string, Job | undefined>>(new Map());
  const isOnline = useApp((state) => state.connection.kind === 'online');
  useEffect(() => {
    if (!isOnline) return;
    setTold(new Map());
    return page.link().on('cron', ({ kind, job, occurrence }) =>
      setTold((before) => {
        const last = latest(occurrence, before.get(job.id)?.last ?? job.last);
        return new Map(before).set(job.id, kind === 'removed' ? undefined : { ...job, ...(last ? { last } : {}) });
      }),
    );
  }, [page, isOnline]);
  return useMemo(() => {
    if (answer.kind !== 'ready') return { jobs: answer, isCut: false, again };
    const all = new Map<string, Job | undefined>(answer.value.jobs);
    for (const [id, job] of told) {
      const read = answer.value.jobs.get(id);
      const last = latest(job?.last, read?.last);
      const newer = job && read && read.updatedAt > job.updatedAt ? read : job;
      all.set(id, newer && last ? { ...newer, last } : newer);
    }
    return { jobs: { kind: 'ready', value: [...all.values()].filter((job) => job !== undefined) }, isCut: answer.value.isCut, again };
  }, [answer, told, again]);
}

/** An event tells of one time, and the job in it of none: the one that was due later is the last. */
function latest(told: Occurrence | undefined, known: Occurrence | undefined): Occurrence | undefined {
  return told && (!known || told.dueAt >= known.dueAt) ? told : known;
}

async function readAll(page: Page): Promise<Read> {
  const jobs = new Map<string, Job>();
  let cursor: string | undefined;
  for (let read = 0; read < MOST_PAGES; read++) {
    const found = await page.link().call('cron.list', { state: 'all', limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    for (const job of found.jobs) jobs.set(job.id, job);
    cursor = found.nextCursor;
    if (cursor === undefined) break;
  }
  return { jobs, isCut: cursor !== undefined };
}

/** What became of the last times of a job, read again when one of them is told. */
export function useOccurrences(job: Job): { readonly answer: Loaded<readonly Occurrence[]>; readonly again: () => void } {
  const page = usePage();
  const { id } = job;
  const ask = useCallback(async () => (await page.link().call('cron.history', { id, limit: 30 })).occurrences, [page, id]);
  return useAsked<readonly Occurrence[]>(ask, `${job.updatedAt} ${JSON.stringify(job.last ?? '')}`);
}

export interface ScheduleActions {
  readonly busy: string | undefined;
  /** Why it was not taken; nothing when it was. */
  save(before: Job | undefined, job: NewJob): Promise<Trouble | undefined>;
  run(job: Job): Promise<void>;
  pause(job: Job): Promise<void>;
  resume(job: Job): Promise<void>;
  remove(job: Job): Promise<boolean>;
}

export function useScheduleActions(): ScheduleActions {
  const page = usePage();
  const [busy, setBusy] = useState<string>();
  return useMemo(() => {
    const call: Call = (method, params) => page.link().call(method, params);
    async function attempt(what: string, failure: string, work: () => Promise<unknown>, done?: string): Promise<boolean> {
      setBusy(what);
      try {
        await work();
        if (done !== undefined) page.toasts.say({ tone: 'ok', title: done });
        return true;
      } catch (error) {
        page.toasts.fail(failure, error);
        return false;
      } finally {
        setBusy(undefined);
      }
    }
    const name = (job: Job) => `“${visible(job.name)}”`;
    return {
      busy,
      async save(before, job) {
        setBusy('save');
        try {
          await (before ? call('cron.update', changesOf(before, job)) : call('cron.add', job));
          page.toasts.say({ tone: 'ok', title: `“${visible(job.name)}” is ${before ? 'changed' : 'scheduled'}` });
          return undefined;
        } catch (error) {
          return troubleOf(error);
        } finally {
          setBusy(undefined);
        }
      },
      async run(job) {
        await attempt('run', `${name(job)} could not be run`, () => call('cron.run', { id: job.id }), `${name(job)} runs now`);
      },
      async pause(job) {
        await attempt('pause', `${name(job)} could not be paused`, () => call('cron.pause', { id: job.id }), `${name(job)} is paused`);
      },
      async resume(job) {
        await attempt('resume', `${name(job)} could not go on`, () => call('cron.resume', { id: job.id }), `${name(job)} goes on`);
      },
      remove: (job) =>
        attempt('remove', `${name(job)} could not be removed`, () => call('cron.remove', { id: job.id }), `${name(job)} is removed`),
    };
  }, [page, busy]);
}

/** A schedule that stays is not sent: with a new one the gateway works out anew what is due next. */
function changesOf({ id, schedule, retry }: Job, job: NewJob) {
  const isSame = JSON.stringify(schedule) === JSON.stringify(job.schedule);
  const { schedule: next, ...rest } = job;
  return { id, ...rest, ...(isSame ? {} : { schedule: next }), ...(retry && !job.retry ? { retry: null } : {}) };
}
