// Turns at a later time, as a plugin asks for them. Whatever it gives, the answer is a value: a time that cannot be, a quota
// that is full and a load that has ended meanwhile are refusals. The jobs are the store's; nothing of them is kept here.
import { LAST_TIME, lateParams, type ScheduleWish } from '@tenon/protocol';
import type { Refused, ScheduleOutcome, SessionWorkflow, UnscheduleOutcome } from '@tenon/plugin-sdk';
import type { Static } from 'typebox';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

export interface TurnWish {
  readonly plugin: string;
  readonly sessionKey: string;
  readonly message: string;
  readonly schedule: ScheduleWish;
  readonly name?: string;
  readonly tag?: string;
  readonly delivery?: 'none' | 'announce';
  /** Listed until somebody removes it. */
  readonly keep?: boolean;
}

/** How jobs come into being, by those who know times. May throw what the store says. */
export interface TurnSchedules {
  add(wish: TurnWish): Promise<{ readonly ok: true; readonly id: string; readonly nextAt: number } | { readonly wrong: string }>;
  remove(id: string): Promise<void>;
  /** How many there were. */
  removeTagged(which: { readonly plugin: string; readonly sessionKey: string; readonly tag: string }): Promise<number>;
}

const Turn = lateParams['session.workflow.scheduleSessionTurn'];
const ByTag = lateParams['session.workflow.unscheduleSessionTurnsByTag'];

type ScheduleCalls = Pick<SessionWorkflow, 'scheduleSessionTurn' | 'unscheduleSessionTurnsByTag'>;

export function createPluginSchedules(load: PluginLoad, { schedules }: { readonly schedules: TurnSchedules }): ScheduleCalls {
  const { plugin } = load.facts;
  const SCHEDULE = 'session.workflow.scheduleSessionTurn';
  const UNSCHEDULE = 'session.workflow.unscheduleSessionTurnsByTag';

  async function scheduleSessionTurn(given: unknown): Promise<ScheduleOutcome> {
    const blocked = barrier(load, SCHEDULE);
    if (blocked) return blocked;
    const taken = take(Turn, withTime(given), 'turn');
    if ('refused' in taken) return taken.refused;
    const when = wishOf(taken.value);
    if ('wrong' in when) return refuse('invalid', `turn/${when.wrong}`);
    const { sessionKey, message, name, tag, deliveryMode, deleteAfterRun } = taken.value;
    try {
      const added = await schedules.add({
        ...{ plugin, sessionKey, message, schedule: when },
        ...(name === undefined ? {} : { name }),
        ...(tag === undefined ? {} : { tag }),
        ...(deliveryMode === undefined ? {} : { delivery: deliveryMode }),
        ...(deleteAfterRun === false ? { keep: true } : {}),
      });
      if ('wrong' in added) return refuse('invalid', `turn/${added.wrong}`);
      // The load, or its right, has ended meanwhile: nothing stays of what it asked for.
      const over = barrier(load, SCHEDULE);
      if (over) return await takeBack(added.id, over);
      return Object.freeze({ ok: true, id: added.id, sessionKey, nextAt: added.nextAt });
    } catch (error) {
      return ofStore(error);
    }
  }

  async function takeBack(id: string, over: Refused): Promise<Refused> {
    try {
      await schedules.remove(id);
    } catch (error) {
      // Already gone is as good; else it is removed with the plugin.
      void error;
    }
    return over;
  }

  async function unscheduleSessionTurnsByTag(given: unknown): Promise<UnscheduleOutcome> {
    const blocked = barrier(load, UNSCHEDULE);
    if (blocked) return blocked;
    const taken = take(ByTag, given, 'request');
    if ('refused' in taken) return taken.refused;
    try {
      return Object.freeze({ ok: true, removed: await schedules.removeTagged({ plugin, ...taken.value }) });
    } catch (error) {
      return ofStore(error);
    }
  }

  return { scheduleSessionTurn, unscheduleSessionTurnsByTag };
}

/** A quota that is full is a limit, and no conflict with anybody. */
function ofStore(error: unknown): Refused {
  const refused = refusalOf(error);
  const isLimit = (error as { details?: { code?: unknown } }).details?.code === 'JOB_LIMIT';
  return isLimit ? refuse('limit', refused.message) : refused;
}

/** A Date is a time too. Contract: does not throw, whatever it is. */
function withTime(given: unknown): unknown {
  try {
    if (typeof given !== 'object' || given === null) return given;
    const { at } = given as { at?: unknown };
    return at instanceof Date ? { ...given, at: Number.isNaN(at.getTime()) ? 'not a date' : at.getTime() } : given;
  } catch {
    return undefined;
  }
}

/** What a schema does not say of when. */
function wishOf({ at, delayMs, cron, tz, deleteAfterRun }: Static<typeof Turn>): ScheduleWish | { wrong: string } {
  if ([at, delayMs, cron].filter((each) => each !== undefined).length !== 1)
    return { wrong: 'at, delayMs or cron: exactly one of them says when' };
  if (tz !== undefined && cron === undefined) return { wrong: 'tz goes with cron' };
  if (cron !== undefined && deleteAfterRun === true) return { wrong: 'deleteAfterRun is for what runs once' };
  if (cron !== undefined) return { kind: 'cron', cron, ...(tz === undefined ? {} : { tz }) };
  if (delayMs !== undefined) return { kind: 'in', delayMs: Math.floor(delayMs) };
  const time = typeof at === 'string' ? Date.parse(at) : Math.floor(at ?? Number.NaN);
  const isTime = Number.isSafeInteger(time) && time >= 0 && time <= LAST_TIME;
  return isTime ? { kind: 'at', at: time } : { wrong: 'at is not a date and time, such as 2030-01-31T08:00:00Z' };
}
