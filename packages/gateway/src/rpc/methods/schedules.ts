import { DEFAULT_AGENT_ID, GatewayError, type Job, type JobSession, type ScheduleWish } from '@tenon/protocol';
import { nextAfter, takeSchedule } from '../../agent/schedule-times.ts';
import { newJobId, nameOf, newRunOf, rulesOf } from '../../agent/job-wishes.ts';
import type { Handlers, RequestContext } from '../handler.ts';

const DEFAULT_PAGE = 50;
const DEFAULT_PREVIEW = 3;

export const scheduleHandlers = {
  'cron.list': ({ limit = DEFAULT_PAGE, ...filter }, { store }) => store.read('jobs.list', { ...filter, limit }),

  'cron.get': ({ id }, { store }) => store.read('jobs.get', { id }),

  'cron.history': ({ limit = DEFAULT_PAGE, ...filter }, { store }) => store.read('jobs.history', { ...filter, limit }),

  'cron.preview': ({ schedule: wish, count = DEFAULT_PREVIEW }, { clock }) => {
    const { schedule, nextAt } = take(wish, clock.now());
    const times = [nextAt];
    for (let next = nextAfter(schedule, nextAt); next !== undefined && times.length < count; next = nextAfter(schedule, next))
      times.push(next);
    return { schedule, times };
  },

  'cron.add': ({ idempotencyKey: _, name, session, schedule, message, tag, retry, ...rules }, context) => {
    const at = context.clock.now();
    requireAgent(session, context);
    const taken = take(schedule, at);
    return context.commit('jobs.add', {
      id: newJobId(),
      fields: {
        name: name ?? nameOf(message),
        session,
        schedule: taken.schedule,
        message,
        ...rulesOf(rules),
        ...(retry ? { retry } : {}),
        ...(tag === undefined ? {} : { tag }),
      },
      owner: context.principal.id,
      nextAt: taken.nextAt,
      by: context.principal.id,
      at,
    });
  },

  'cron.update': ({ idempotencyKey: _, id, schedule, ...fields }, context) => {
    const at = context.clock.now();
    if (fields.session) requireAgent(fields.session, context);
    const taken = schedule === undefined ? undefined : take(schedule, at);
    return context.commit('jobs.update', {
      id,
      fields: { ...fields, ...(taken ? { schedule: taken.schedule } : {}) },
      ...(taken ? { nextAt: taken.nextAt } : {}),
      by: context.principal.id,
      at,
    });
  },

  'cron.remove': ({ id }, { commit, clock, principal }) => commit('jobs.remove', { id, by: principal.id, at: clock.now() }),

  'cron.pause': ({ id }, { commit, clock, principal }) => commit('jobs.pause', { id, by: principal.id, at: clock.now() }),

  'cron.resume': (params, context) =>
    context.commitAfter(async () => {
      const { job } = await context.store.read('jobs.get', { id: params.id });
      const at = context.clock.now();
      return context.commit('jobs.resume', { id: params.id, nextAt: nextOf(job, at), by: context.principal.id, at });
    }),

  'cron.run': (params, context) =>
    context.commitAfter(async () => {
      const { job } = await context.store.read('jobs.get', { id: params.id });
      const run = newRunOf(job);
      const begun = await context.commit('jobs.runNow', { jobId: job.id, ...run, at: context.clock.now() });
      if (begun.occurrence.state === 'running') context.turns.accepted(run.key);
      return begun;
    }),

  'heartbeat.wake': ({ agentId = DEFAULT_AGENT_ID }, { commitAnswer, heartbeat }) => commitAnswer(() => heartbeat.wake(agentId)),
} satisfies Partial<Handlers>;

function take(wish: ScheduleWish, now: number) {
  const taken = takeSchedule(wish, now);
  if ('wrong' in taken) throw new GatewayError('INVALID_REQUEST', `params/schedule/${taken.wrong}`, { details: { code: 'BAD_SCHEDULE' } });
  return taken;
}

function nextOf({ id, schedule }: Job, at: number): number | null {
  try {
    return nextAfter(schedule, at) ?? null;
  } catch (error) {
    const message = `Job "${id}" cannot be resumed: ${(error as Error).message}. Give it another schedule first`;
    throw new GatewayError('CONFLICT', message, { details: { code: 'BAD_SCHEDULE' } });
  }
}

function requireAgent(session: JobSession, { agents }: RequestContext): void {
  const agentId = 'key' in session ? (session.key.split(':')[1] ?? '') : session.agentId;
  if (!agents.get(agentId)) throw new GatewayError('NOT_FOUND', `Cannot find agent "${agentId}"; agents.list says which there are`);
}
