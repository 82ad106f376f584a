// When a schedule is due, worked out a second time and in the plainest way: every minute is looked at, and the calendar of the
// time zone says what its clocks show. Nothing of the gateway is used, so that what it works out can be held against this.
import type { Schedule } from '@tenon/protocol';

const MINUTE = 60_000;
/** Clocks change at a quarter of an hour, everywhere and always since there are time zones of whole quarters. */
const QUARTER = 15 * MINUTE;
/** The largest change there was left out a day. */
const MOST_QUARTERS = 96;
const DAY = MOST_QUARTERS * QUARTER;

/** Every time after `from` and not after `to`, in order. */
export function dueBetween(schedule: Schedule, from: number, to: number): number[] {
  if (schedule.kind === 'at') return schedule.at > from && schedule.at <= to ? [schedule.at] : [];
  if (schedule.kind === 'every') {
    const { everyMs, anchorAt = 0 } = schedule;
    const times: number[] = [];
    let at = anchorAt;
    while (at > from) at -= everyMs;
    for (at += everyMs; at <= to; at += everyMs) if (at > from) times.push(at);
    return times;
  }
  return cronBetween(schedule.cron, schedule.tz ?? 'UTC', from, to);
}

function cronBetween(cron: string, tz: string, from: number, to: number): number[] {
  const shows = readCron(cron);
  const ahead = zoneOf(tz);
  const isHourly = shows.hours.size === 24;
  const times: number[] = [];
  for (let at = (Math.floor(from / MINUTE) + 1) * MINUTE; at <= to; at += MINUTE) {
    const clock = at + ahead(at);
    const isPlain = isHourly || ahead(at) === ahead(at - DAY - QUARTER);
    if (shows.matches(clock) && (isPlain || !cameBefore(at, ahead))) times.push(at);
    else if (!isPlain && leftOut(at, ahead).some(shows.matches)) times.push(at);
  }
  return times;
}

/** The clocks have shown this once already, and were then put back. */
function cameBefore(at: number, ahead: Ahead): boolean {
  for (let back = QUARTER; back <= DAY; back += QUARTER) {
    if (ahead(at - back) - ahead(at) === back) return true;
  }
  return false;
}

/** What the clocks would show now, had they not just been put forward past it. */
function leftOut(at: number, ahead: Ahead): number[] {
  const found: number[] = [];
  for (let back = 0; back < MOST_QUARTERS; back++) {
    const changed = Math.floor(at / QUARTER) * QUARTER - back * QUARTER;
    const forward = ahead(changed) - ahead(changed - MINUTE);
    if (forward > 0 && at - changed < forward) found.push(at + ahead(changed - MINUTE));
  }
  return found;
}

function readCron(cron: string): { readonly hours: ReadonlySet<number>; matches(clock: number): boolean } {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.trim().split(/\s+/);
  const [minutes, hours] = [setOf(minute, 0, 59), setOf(hour, 0, 23)];
  const [days, months] = [setOf(day, 1, 31), setOf(month, 1, 12)];
  const weekdays = new Set([...setOf(weekday, 0, 7)].map((each) => each % 7));
  return {
    hours,
    matches(clock) {
      const shown = new Date(clock);
      if (!minutes.has(shown.getUTCMinutes()) || !hours.has(shown.getUTCHours()) || !months.has(shown.getUTCMonth() + 1)) return false;
      const [isDay, isWeekday] = [days.has(shown.getUTCDate()), weekdays.has(shown.getUTCDay())];
      // Where both are named, either is enough.
      return day !== '*' && weekday !== '*' ? isDay || isWeekday : isDay && isWeekday;
    },
  };
}

function setOf(field: string, least: number, most: number): Set<number> {
  const found = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [first = '', last = first] = range === '*' ? [String(least), String(most)] : range.split('-');
    for (let value = Number(first); value <= Number(last); value += Number(step)) found.add(value);
  }
  return found;
}

/** Milliseconds by which the clocks of a zone are ahead of UTC at an instant. */
type Ahead = (at: number) => number;

const zones = new Map<string, Ahead>();

function zoneOf(tz: string): Ahead {
  const known = zones.get(tz);
  if (known) return known;
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en-GB', { ...fields, timeZone: tz, hourCycle: 'h23' });
  const quarters = new Map<number, number>();
  const ahead: Ahead = (at) => {
    const quarter = Math.floor(at / QUARTER) * QUARTER;
    const before = quarters.get(quarter);
    if (before !== undefined) return before;
    const shown = Object.fromEntries(format.formatToParts(quarter).map(({ type, value }) => [type, Number(value)]));
    const clock = Date.UTC(shown.year!, shown.month! - 1, shown.day, shown.hour, shown.minute);
    quarters.set(quarter, clock - quarter);
    return clock - quarter;
  };
  zones.set(tz, ahead);
  return ahead;
}
