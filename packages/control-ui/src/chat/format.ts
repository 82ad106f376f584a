// Times, lengths and sizes in the words of the page.

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const dayTitle = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
const dayTitleWithYear = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' });

export function clockTime(at: number): string {
  return clock.format(at);
}

export function exactTime(at: number): string {
  return exact.format(at);
}

/** Clock time today, weekday this week, date before that. */
export function shortTime(at: number, now: number): string {
  if (new Date(at).toDateString() === new Date(now).toDateString()) return clock.format(at);
  if (now - at < 6 * 86_400_000 && at <= now) return `${weekday.format(at)} ${clock.format(at)}`;
  return `${date.format(at)}, ${clock.format(at)}`;
}

export function dayName(at: number, now: number): string {
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (sameYear ? dayTitle : dayTitleWithYear).format(at).replace(',', '');
}

/** 2 ms, 0.42 s, 1.8 s, 3 s, 18 s, 1:42, 1:02:03 */
export function duration(ms: number): string {
  if (ms < 10) return `${Math.round(ms)} ms`;
  if (ms < 995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 9_950) return `${trimmed(Math.round(ms / 100) / 10)} s`;
  if (ms < 59_500) return `${Math.round(ms / 1000)} s`;
  return stopwatch(ms);
}

/** 0:07, 1:42, 1:02:03 */
export function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** 1:42 left, 3 h left, 2 days left */
export function timeLeft(ms: number): string {
  if (ms <= 0) return 'Time is up';
  if (ms >= 172_800_000) return `${Math.floor(ms / 86_400_000)} days left`;
  if (ms >= 3_600_000) return `${Math.floor(ms / 3_600_000)} h left`;
  return `${stopwatch(Math.ceil(ms / 1000) * 1000)} left`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${trimmed(count / 1000)} kB`;
  return `${trimmed(count / 1_000_000)} MB`;
}

/** 1 204: a thin space, so that it stays one number for the eye. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, '\u202f');
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

function trimmed(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value));
}
