// When somebody wants to be reminded, as people write it, and what that is for the host: a delay, an instant, or a cron expression.
// The clock and the time zone are arguments.

export type When = { readonly delayMs: number } | { readonly at: number } | { readonly cron: string; readonly tz: string };

export type Wish = { readonly when: When; readonly text: string; readonly every?: string } | { readonly wrong: string };

export const FORMS = 'in 20m, at 18:00, tomorrow 9:00, friday 6pm, 2030-01-31 18:00, every day 9:00, every weekday 9:00, every friday 9:00';

const UNIT = String.raw`\d{1,5}\s*(?:s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)(?![a-z])\s*`;
const DELAY = new RegExp(String.raw`^in\s+((?:${UNIT})+)([\s\S]*)$`, 'i');
const DAY = String.raw`day|weekday|today|tomorrow|\d{4}-\d\d-\d\d|(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*`;
const CLOCK = new RegExp(String.raw`^(every\s+)?(?:(${DAY})\s+)?(?:at\s+)?(\d{1,2})(?::(\d\d))?\s?(am|pm)?(?:\s+([\s\S]*))?$`, 'i');
const MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

export function readWish(said: string, now: number, tz: string): Wish {
  const [, amounts = '', what = ''] = DELAY.exec(said.trim()) ?? [];
  const delayMs = [...amounts.matchAll(/(\d+)\s*([smhdw])/gi)].reduce((sum, [, n, unit]) => sum + Number(n) * MS[unit!.toLowerCase()]!, 0);
  if (delayMs > 0) return { when: { delayMs }, text: what.trim() };
  const [, every, day, hours, minutes, half, text = ''] = CLOCK.exec(said.trim()) ?? [];
  if (hours === undefined || (minutes ?? half) === undefined) return { wrong: `When? Such as: ${FORMS}` };
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  const minute = Number(minutes ?? 0);
  if (hour > 23 || minute > 59 || (half !== undefined && Number(hours) > 12)) return { wrong: 'A day has no such time; 0:00 to 23:59' };
  const name = (day ?? '').toLowerCase();
  const weekday = DAYS.indexOf(name.slice(0, 3));
  if (every !== undefined) {
    const on = name === 'day' ? '*' : name === 'weekday' ? '1-5' : weekday;
    if (on === -1) return { wrong: `Every what? Such as: ${FORMS}` };
    return {
      when: { cron: `${minute} ${hour} * * ${on}`, tz },
      text: text.trim(),
      every: `every ${name} ${hour}:${String(minute).padStart(2, '0')}`,
    };
  }
  if (name === 'day' || name === 'weekday') return { wrong: `When? Such as: ${FORMS}` };
  // A day of the zone, written as if it were one of UTC.
  const today = Math.floor(shownAt(now, tz) / MS.d!) * MS.d!;
  const ahead = weekday < 0 ? Number(name === 'tomorrow') : (weekday - new Date(today).getUTCDay() + 7) % 7;
  const date = name.includes('-') ? Date.parse(name) : today + ahead * MS.d!;
  if (name.includes('-') && new Date(date).getUTCDate() !== Number(name.slice(-2))) return { wrong: `There is no day ${name}` };
  const first = instantOf(date + hour * MS.h! + minute * MS.m!, tz);
  const again = weekday >= 0 ? 7 : name === '' ? 1 : 0;
  const at = first > now ? first : instantOf(date + again * MS.d! + hour * MS.h! + minute * MS.m!, tz);
  return at > now ? { when: { at }, text: text.trim() } : { wrong: 'That time is over: say a later one' };
}

/** What clocks of the zone show then, as if it were UTC. */
function shownAt(at: number, tz: string): number {
  return Date.parse(`${new Date(at).toLocaleString('sv-SE', { timeZone: tz }).replace(' ', 'T')}Z`);
}

/** When clocks of the zone show this; looked at twice, because the first guess may lie beyond a change of them. */
function instantOf(shown: number, tz: string): number {
  const guess = shown - (shownAt(shown, tz) - shown);
  return shown - (shownAt(guess, tz) - guess);
}

/** Such as Tue 17 Nov 18:00; with the year where it is another than now. */
export function showTime(at: number, tz: string, now: number): string {
  const format = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const year = new Date(shownAt(at, tz)).getUTCFullYear() === new Date(shownAt(now, tz)).getUTCFullYear() ? undefined : 'numeric';
  return new Intl.DateTimeFormat('en-GB', { timeZone: tz, ...format, year }).format(at).replaceAll(',', '');
}
