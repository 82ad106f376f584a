// How plugins and the agent make jobs: for a session that exists, and told in values what cannot be.
import type { JobSession, ScheduleWish } from '@tenon/protocol';
import type { TurnSchedules } from '../host/plugin-schedules.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { nameOf, newJobId, rulesOf } from './job-wishes.ts';
import { takeSchedule } from './schedule-times.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
}

export interface SessionJob {
  readonly session: JobSession;
  readonly owner: string;
  readonly message: string;
  readonly schedule: ScheduleWish;
  readonly name?: string;
  readonly tag?: string;
  readonly delivery?: 'none' | 'announce';
  readonly keep?: boolean;
}

/** Throws what the store refuses. */
export async function addSessionJob(wish: SessionJob, { store, clock }: Deps) {
  const { session, owner, message, schedule, name, tag, delivery, keep } = wish;
  const at = clock.now();
  const taken = takeSchedule(schedule, at);
  if ('wrong' in taken) return taken;
  const fields = {
    ...{ name: name ?? nameOf(message), session, schedule: taken.schedule, message },
    ...rulesOf(delivery === undefined ? {} : { delivery }),
    ...(tag === undefined ? {} : { tag }),
  };
  const { job } = await store.write('jobs.add', {
    ...{ id: newJobId(), fields, owner, nextAt: taken.nextAt, mustExist: true, at },
    ...(keep ? { keep } : {}),
  });
  return { ok: true as const, id: job.id, nextAt: taken.nextAt, job };
}

export function createTurnSchedules(deps: Deps): TurnSchedules {
  const { store, clock } = deps;
  const ownerOf = (plugin: string) => `plugin:${plugin}`;
  return {
    add: ({ plugin, sessionKey, ...wish }) => addSessionJob({ ...wish, session: { key: sessionKey }, owner: ownerOf(plugin) }, deps),
    async remove(id) {
      await store.write('jobs.remove', { id, at: clock.now() });
    },
    async removeTagged({ plugin, sessionKey, tag }) {
      for (let removed = 0; ; ) {
        const step = await store.write('jobs.removeOf', { owner: ownerOf(plugin), sessionKey, tag, at: clock.now() });
        removed += step.removed;
        if (!step.more) return removed;
      }
    },
  };
}
