// What plugins did, laid out over time: records become dispatches, dispatches become places on an axis. Where nobody ran (the
// model thought, a tool worked, a person decided) the time is folded, so that milliseconds stay visible.
import type { TraceOutcome, TraceRecord } from '@tenon/protocol';
import type { IconName } from '../icons.tsx';
import type { Tone } from '../parts/button.tsx';
import { millis } from './plugin-words.ts';

/** All handlers that took part in one thing, such as one run of a hook. */
export interface Dispatch {
  readonly id: number;
  readonly place: string;
  readonly runId: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly records: readonly TraceRecord[];
  /** What says most about how it went. */
  readonly outcome: TraceOutcome;
}

interface OutcomeWords {
  readonly icon: IconName;
  readonly tone: Tone;
  readonly words: string;
}

/** What needs a look stands first: the outcome of several is the first of them here. */
export const outcomes: Readonly<Record<TraceOutcome, OutcomeWords>> = {
  failed: { icon: 'x-circle', tone: 'bad', words: 'failed' },
  'timed-out': { icon: 'hourglass', tone: 'bad', words: 'timed out' },
  refused: { icon: 'blocked', tone: 'warn', words: 'refused' },
  dropped: { icon: 'x', tone: 'warn', words: 'dropped' },
  aborted: { icon: 'stop', tone: 'warn', words: 'aborted' },
  skipped: { icon: 'chevron-right', tone: 'plain', words: 'skipped' },
  claimed: { icon: 'check', tone: 'accent', words: 'answered' },
  changed: { icon: 'edit', tone: 'accent', words: 'changed' },
  unchanged: { icon: 'minus', tone: 'plain', words: 'no change' },
};
export const outcomeNames = Object.keys(outcomes) as TraceOutcome[];

export function dispatchesOf(records: readonly TraceRecord[]): Dispatch[] {
  const groups = new Map<number, TraceRecord[]>();
  for (const record of records) {
    const group = groups.get(record.dispatch) ?? [];
    groups.set(record.dispatch, group);
    group.push(record);
  }
  return [...groups]
    .map(([id, group]): Dispatch => {
      const ordered = group.sort((a, b) => a.order - b.order || a.seq - b.seq);
      return {
        id,
        place: ordered[0]!.place,
        runId: ordered[0]!.runId,
        from: Math.min(...ordered.map(({ at }) => at)),
        to: Math.max(...ordered.map(({ at, durationMs }) => at + durationMs)),
        records: ordered,
        outcome: outcomeNames.find((outcome) => ordered.some((record) => record.outcome === outcome)) ?? 'unchanged',
      };
    })
    .sort((a, b) => a.from - b.from || a.id - b.id);
}

export interface Span {
  /** In percent of the axis. */
  readonly left: number;
  readonly width: number;
}

export interface Axis {
  readonly span: (from: number, to: number) => Span;
  /** Time in which no handler ran, and how long it was. */
  readonly waits: readonly (Span & { readonly ms: number })[];
  readonly ticks: readonly { readonly left: number; readonly words: string }[];
}

/** What is shorter is no wait worth folding. */
const LEAST_WAIT_MS = 25;
/** All folded waits together take at most this much of the axis. */
const WAITS_PERCENT = 30;
const MOST_WAIT_PERCENT = 6;
const LEAST_BETWEEN_TICKS = 10;
/** The last label needs its room. */
const LAST_TICK = 94;

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly isWait: boolean;
  readonly left: number;
  readonly width: number;
}

export function axisOf(dispatches: readonly Pick<Dispatch, 'from' | 'to'>[], fold: boolean): Axis {
  const pieces = layOut(busyTimes(dispatches), fold);
  const start = pieces[0]?.from ?? 0;
  const place = (at: number): number => {
    const piece = pieces.findLast((each) => each.from <= at) ?? pieces[0];
    if (!piece) return 0;
    const share = piece.to > piece.from ? (Math.min(at, piece.to) - piece.from) / (piece.to - piece.from) : 0;
    return piece.left + Math.max(0, share) * piece.width;
  };
  const ticks: { left: number; words: string }[] = [];
  for (const at of [...pieces.filter(({ isWait }) => !isWait).map(({ from }) => from), ...fillers(pieces)].sort((a, b) => a - b)) {
    const left = place(at);
    const last = ticks.at(-1);
    if (left <= LAST_TICK && (!last || left - last.left >= LEAST_BETWEEN_TICKS))
      ticks.push({ left, words: at === start ? '0' : millis(at - start) });
  }
  return {
    span: (from, to) => {
      const left = place(from);
      return { left, width: Math.max(0, place(to) - left) };
    },
    waits: pieces.filter(({ isWait }) => isWait).map(({ left, width, from, to }) => ({ left, width, ms: to - from })),
    ticks,
  };
}

/** Times in which somebody ran, without overlaps, short waits included. */
function busyTimes(dispatches: readonly Pick<Dispatch, 'from' | 'to'>[]): { from: number; to: number }[] {
  const busy: { from: number; to: number }[] = [];
  for (const { from, to } of [...dispatches].sort((a, b) => a.from - b.from)) {
    const last = busy.at(-1);
    if (last && from - last.to < LEAST_WAIT_MS) last.to = Math.max(last.to, to);
    // Clocks count whole milliseconds: what is shorter is one.
    else busy.push({ from, to: Math.max(to, from + 1) });
  }
  return busy;
}

function layOut(busy: readonly { from: number; to: number }[], fold: boolean): Piece[] {
  const waits = Math.max(0, busy.length - 1);
  const perWait = fold && waits > 0 ? Math.min(MOST_WAIT_PERCENT, WAITS_PERCENT / waits) : 0;
  const total = fold ? busy.reduce((sum, { from, to }) => sum + to - from, 0) : (busy.at(-1)?.to ?? 0) - (busy[0]?.from ?? 0);
  const perMs = (100 - perWait * waits) / Math.max(total, 1);
  const pieces: Piece[] = [];
  let left = 0;
  busy.forEach(({ from, to }, at) => {
    const before = busy[at - 1];
    if (before) {
      const width = fold ? perWait : (from - before.to) * perMs;
      pieces.push({ from: before.to, to: from, isWait: true, left, width });
      left += width;
    }
    const width = (to - from) * perMs;
    pieces.push({ from, to, isWait: false, left, width });
    left += width;
  });
  return pieces;
}

/** Inside what is long, so that it can be read: at its quarters. */
function fillers(pieces: readonly Piece[]): number[] {
  return pieces.flatMap(({ from, to, isWait, width }) =>
    isWait || width < 2 * LEAST_BETWEEN_TICKS ? [] : [1, 2, 3].map((n) => from + ((to - from) * n) / 4),
  );
}

export interface Turn {
  /** Undefined: what happened outside of turns. */
  readonly runId: string | undefined;
  readonly at: number;
}

/** The turns in which something was recorded, the latest last; what happened outside of turns is one of them. */
export function turnsOf(dispatches: readonly Dispatch[]): Turn[] {
  const turns = new Map<string | undefined, Turn>();
  for (const { runId, from } of dispatches) if (!turns.has(runId)) turns.set(runId, { runId, at: from });
  return [...turns.values()];
}
