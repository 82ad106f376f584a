// How a session is named and grouped in lists.
import { DEFAULT_AGENT_ID, type RunEnd, type Session, visible } from '@tenon/protocol';
import type { IconName } from '../icons.tsx';

const DAY_MS = 86_400_000;

export function sessionTitle(session: Pick<Session, 'key' | 'title'> | undefined): string {
  if (!session) return 'New session';
  const title = visible(session.title).trim();
  if (title !== '') return title;
  const rest = session.key.split(':').slice(2).join(':');
  // Random keys say nothing to anybody.
  return /^[A-Za-z0-9_-]{16,}$/.test(rest) ? 'New session' : rest;
}

const LONGEST_TITLE = 200;

/** Two rows with one title cannot be told apart. */
export function forkTitle(title: string): string {
  const [, stem = title, count] = /^(.*) \(fork(?: (\d{1,4}))?\)$/s.exec(title) ?? [];
  const isFork = stem !== title;
  const ending = isFork ? ` (fork ${Number(count ?? 1) + 1})` : ' (fork)';
  return stem.slice(0, LONGEST_TITLE - ending.length) + ending;
}

export function agentOf(sessionKey: string | undefined): string {
  return sessionKey?.split(':')[1] ?? DEFAULT_AGENT_ID;
}

export interface StatusWords {
  readonly icon: IconName;
  readonly words: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'accent' | 'plain';
  readonly turning?: boolean;
}

/** @param end How its last turn ended, where that is known. */
export function sessionStatus(session: Session, waits: boolean, end?: RunEnd['kind']): StatusWords {
  if (waits || session.status === 'waiting') return { icon: 'shield', words: 'Waits for your decision', tone: 'warn' };
  if (session.status === 'running') return { icon: 'spinner', words: 'Answering', tone: 'accent', turning: true };
  if (session.status === 'queued') return { icon: 'queue', words: 'A message waits', tone: 'accent' };
  if (session.status === 'failed') return { icon: 'x-circle', words: 'The last turn failed', tone: 'bad' };
  if (session.updatedAt === session.createdAt) return { icon: 'chat', words: 'New', tone: 'plain' };
  if (end === 'completed') return { icon: 'check', words: 'Done', tone: 'plain' };
  if (end === 'aborted') return { icon: 'stop', words: 'Stopped', tone: 'plain' };
  if (end === 'refused') return { icon: 'blocked', words: 'Refused', tone: 'plain' };
  if (end === 'step_limit' || end === 'cost_limit') return { icon: 'warning', words: 'Stopped at a limit', tone: 'plain' };
  if (end === 'failed' || end === 'internal_error') return { icon: 'x-circle', words: 'The last turn failed', tone: 'bad' };
  return { icon: 'chat', words: 'Idle', tone: 'plain' };
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** In a list: clock time today, weekday this week, date before that. */
export function listTime(at: number, now: number): string {
  const today = new Date(now).setHours(0, 0, 0, 0);
  if (at >= today) return clock.format(at);
  if (at >= today - 6 * DAY_MS) return weekday.format(at);
  return (new Date(at).getFullYear() === new Date(now).getFullYear() ? day : dayOfYear).format(at);
}

export interface SessionGroup {
  readonly title: string;
  readonly sessions: readonly Session[];
}

/** In the order of `sessions`: what is under way, what is pinned, then by day. */
export function groupSessions(sessions: readonly Session[], now: number): SessionGroup[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const groups = new Map<string, Session[]>(['Now', 'Pinned', 'Today', 'Yesterday', 'This week', 'Earlier'].map((title) => [title, []]));
  for (const session of sessions) groups.get(groupOf(session, today))!.push(session);
  return [...groups].filter(([, members]) => members.length > 0).map(([title, members]) => ({ title, sessions: members }));
}

function groupOf({ status, pinned, updatedAt }: Session, today: number): string {
  if (status === 'running' || status === 'waiting' || status === 'queued') return 'Now';
  if (pinned) return 'Pinned';
  if (updatedAt >= today) return 'Today';
  if (updatedAt >= today - DAY_MS) return 'Yesterday';
  return updatedAt >= today - 6 * DAY_MS ? 'This week' : 'Earlier';
}
