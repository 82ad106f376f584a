// `schedule`: what the agent wants to be told at a later time, in the session it is in and in no other.
import { CronText, GatewayError, IntervalMs, type Job, JobMessage, type Risk, type ScheduleWish, TimeZone } from '@tenon/protocol';
import { type Static, Type } from 'typebox';
import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { takeSchedule } from '../schedule-times.ts';
import { addSessionJob } from '../turn-schedules.ts';
import { closed, defineTool, said } from './define.ts';
import { type Tool, ToolError } from './tool.ts';

const MAX_LISTED = 50;

const Parameters = Type.Object(
  {
    action: Type.Enum(['add', 'list', 'remove'], { type: 'string', description: 'What to do' }),
    message: Type.Optional(Type.String({ ...JobMessage, description: 'For add: what you are told then, as if a person had said it' })),
    at: Type.Optional(Type.String({ maxLength: 64, description: 'Once, at a date and time with a zone: 2030-01-31T08:00:00Z' })),
    inMs: Type.Optional(Type.Number({ minimum: 0, description: 'Once, so many milliseconds from now' })),
    everyMs: Type.Optional(Type.Integer({ ...IntervalMs, description: 'Again and again, every so many milliseconds' })),
    cron: Type.Optional(
      Type.String({ ...CronText, description: 'Again and again: minute, hour, day of the month, month, day of the week' }),
    ),
    tz: Type.Optional(Type.String({ ...TimeZone, description: 'The time zone of cron, such as Europe/Berlin' })),
    id: Type.Optional(Type.String({ maxLength: 64, description: 'For remove: the job' })),
  },
  closed,
);
type Args = Static<typeof Parameters>;

export function scheduleTool(deps: { readonly store: Store; readonly clock: Clock }): Tool {
  const { store, clock } = deps;
  return defineTool({
    name: 'schedule',
    label: 'Schedule',
    description:
      'Be told something later in this conversation: once (at, inMs), every so often (everyMs) or by a cron expression. Also lists and removes what is planned here.',
    parameters: Parameters,
    risk: 'write',
    tags: ['time'],
    idempotent: false,
    parallelSafe: false,
    facts: ({ action }) => ({ risk: riskOf(action) }),
    async prepare(args, { sessionKey, runId }) {
      if (args.action === 'list') {
        return {
          ...{ subject: 'list', question: 'List what is planned in this conversation?', risk: 'read', exact: { action: 'list' } },
          run: async () => said((await planned(sessionKey)).map(rowOf).join('\n') || 'Nothing is planned in this conversation'),
        };
      }
      if (args.action === 'remove') {
        const job = await pick(args.id, sessionKey);
        return {
          ...{ subject: `remove ${job.name}`, question: `Remove "${job.name}"?`, risk: 'write', exact: { action: 'remove', id: job.id } },
          async run() {
            await store.write('jobs.remove', { id: job.id, at: clock.now() });
            return said(`Removed: ${rowOf(job)}`);
          },
        };
      }
      const { message } = args;
      if (message === undefined) throw new ToolError('INVALID', 'message is missing: what you are told then');
      const schedule = wishOf(args);
      const taken = takeSchedule(schedule, clock.now());
      if ('wrong' in taken) throw new ToolError('INVALID', taken.wrong);
      return {
        subject: `${whenOf(schedule)}: ${message.slice(0, 80)}`,
        question: `Be told later, ${whenOf(schedule)}?`,
        risk: 'write',
        exact: { action: 'add', message, schedule, sessionKey },
        async run() {
          const { principal } = await store.read('runs.message', { runId });
          const added = await addSessionJob({ session: { key: sessionKey }, owner: principal, message, schedule }, deps).catch(toToolError);
          if ('wrong' in added) throw new ToolError('INVALID', added.wrong);
          return said(`Planned: ${rowOf(added.job)}`, { details: { jobId: added.id, nextAt: added.nextAt } });
        },
      };
    },
  });

  async function planned(sessionKey: string): Promise<Job[]> {
    return (await store.read('jobs.list', { sessionKey, limit: MAX_LISTED })).jobs;
  }

  async function pick(id: string | undefined, sessionKey: string): Promise<Job> {
    const jobs = await planned(sessionKey);
    const job = jobs.find((each) => each.id === id);
    if (!job) throw new ToolError('NOT_FOUND', `No such job here; there are: ${jobs.map((each) => each.id).join(', ') || 'none'}`);
    return job;
  }
}

/** Looking is less than planning. */
function riskOf(action: Args['action']): Risk {
  return action === 'list' ? 'read' : 'write';
}

function wishOf({ at, inMs, everyMs, cron, tz }: Args): ScheduleWish {
  const wishes: ScheduleWish[] = [];
  if (at !== undefined) {
    const time = Date.parse(at);
    if (Number.isNaN(time)) throw new ToolError('INVALID', 'at is not a date and time, such as 2030-01-31T08:00:00Z');
    wishes.push({ kind: 'at', at: time });
  }
  if (inMs !== undefined) wishes.push({ kind: 'in', delayMs: Math.floor(inMs) });
  if (everyMs !== undefined) wishes.push({ kind: 'every', everyMs });
  if (cron !== undefined) wishes.push({ kind: 'cron', cron, ...(tz === undefined ? {} : { tz }) });
  const [wish, ...others] = wishes;
  if (!wish || others.length > 0) throw new ToolError('INVALID', 'Say when with exactly one of at, inMs, everyMs and cron');
  return wish;
}

function whenOf(wish: ScheduleWish): string {
  if (wish.kind === 'at') return `at ${new Date(wish.at).toISOString()}`;
  if (wish.kind === 'in') return `in ${wish.delayMs / 1_000} s`;
  return wish.kind === 'every' ? `every ${wish.everyMs / 1_000} s` : `by ${wish.cron}${wish.tz === undefined ? '' : ` in ${wish.tz}`}`;
}

function rowOf({ id, name, schedule, state, nextAt }: Job): string {
  const next = nextAt === undefined ? state : `next ${new Date(nextAt).toISOString()}`;
  return `${id} ${whenOf(schedule)}, ${next}: ${name}`;
}

function toToolError(error: unknown): never {
  if (error instanceof GatewayError) throw new ToolError(error.code, error.message);
  throw error;
}
