// A conversation as a person sees it: what `follow.ts` says, written to a screen.
import type { Approval, RunEnd } from '@tenon/protocol';
import { runEnds } from '@tenon/protocol';
import { spell } from '../amounts.ts';
import type { Output } from '../output.ts';
import { cardLine, cardOutput, type Card } from './card.ts';
import type { Settled, Show } from './follow.ts';
import { isOperatorDenial } from './outcome.ts';
import { answersLine, questionLines, stateText } from './question.ts';
import type { Screen } from './screen.ts';
import { oneLine, safeLines } from './text.ts';

export interface ViewOptions {
  readonly screen: Screen;
  readonly style: Output['style'];
  readonly verbose: boolean;
  readonly now: () => number;
  /** Where somebody can answer. Without it, a question names the command that answers it. */
  readonly canAnswer: boolean;
  readonly sign: string;
  /** Something that decides what can be typed has changed. */
  readonly onChange: () => void;
}

export interface View extends Show {
  /** Somebody typed this here. */
  typed(text: string): void;
  /** A message from here that waits for its turn: it is shown with the others when it is told to the agent. */
  queued(runId: string, text: string): void;
  /** Lines of a message that is not whole yet. */
  draft(lines: readonly string[]): void;
  /** Says again how long things take. */
  refresh(): void;
  /** An answer that was given here: the event that follows is no news. */
  answered(id: string): void;
  /** What a plugin shows, with what can be pressed. */
  card(text: string): void;
  /** As they are: whoever gives them has made them safe to print. */
  lines(lines: readonly string[]): void;
  /** What plugins say beside the composer, and who closes it. */
  plugins(status: readonly string[], closed: string | undefined): void;
  /** The question that is to be answered now. */
  readonly question: Approval | undefined;
  readonly isBusy: boolean;
}

const MOST_CARDS = 4;
const MOST_QUEUED = 3;
const MOST_DRAFT = 8;

export function createView({ screen, style, verbose, now, canAnswer, sign, onChange }: ViewOptions): View {
  const working = new Map<string, { readonly card: Card; readonly since: number }>();
  const runs = new Set<string>();
  const questions = new Map<string, Approval>();
  const answeredHere = new Set<string>();
  const waiting = new Map<string, string>();
  let drafted: readonly string[] = [];
  let beside: { readonly status: readonly string[]; readonly closed: string | undefined } = { status: [], closed: undefined };
  let busySince = 0;

  const cardStyle = () => ({ style, width: screen.width, verbose });
  const question = () => questions.values().next().value;

  function refresh(): void {
    const cards = [...working.values()].slice(-MOST_CARDS);
    const asking = new Set([...questions.values()].map(({ runId, callId }) => `${runId} ${callId}`));
    const rows = cards.map(({ card, since }) =>
      asking.has(card.callId) ? cardLine({ ...card, state: 'waiting' }, cardStyle()) : cardLine(card, cardStyle(), now() - since),
    );
    const open = question();
    if (open) {
      const more = questions.size > 1 ? ` (${questions.size - 1} more after it)` : '';
      rows.push(`${answersLine(open)} · ${spell(open.expiresAt - now())} left${more}`);
    } else if (runs.size > 0) {
      rows.push(style('dim', `working ${spell(now() - busySince)} · Ctrl-C stops it`));
    }
    const queued = [...waiting.values()].map((text) => style('dim', `queued: ${oneLine(text, screen.width)}`));
    if (queued.length > MOST_QUEUED) queued.splice(MOST_QUEUED, queued.length, style('dim', `and ${waiting.size - MOST_QUEUED} more`));
    if (beside.status.length > 0) rows.push(style('dim', oneLine(beside.status.join(' · '), screen.width)));
    if (beside.closed !== undefined) rows.push(style('yellow', oneLine(beside.closed, screen.width)));
    rows.push(...queued, ...drafted.slice(-MOST_DRAFT).map((line) => style('cyan', `${sign}${oneLine(line, screen.width)}`)));
    screen.footer(rows);
  }

  function changed(): void {
    refresh();
    onChange();
  }

  function ask(approval: Approval): void {
    for (const line of questionLines(approval, style, now())) screen.line(line);
    // The footer says it, with the time that is left.
    if (canAnswer && screen.hasFooter) return;
    if (canAnswer) screen.line(`  ${style('bold', answersLine(approval))}`);
    else screen.line(`  answer it with: tenon approve allow ${approval.id}   (or deny, or always)`);
  }

  return {
    get question() {
      return question();
    },
    get isBusy() {
      return runs.size > 0;
    },
    refresh,
    queued(runId, text) {
      waiting.set(runId, text);
      refresh();
    },
    draft(lines) {
      drafted = lines;
      refresh();
    },
    typed(text) {
      for (const [index, line] of safeLines(text).entries()) screen.line(`${style('cyan', index === 0 ? sign : '  ')}${line}`);
    },
    answer: (delta) => screen.text(delta),
    thinking: (delta) => screen.text(delta, 'dim'),
    pause: () => screen.endText(),
    working(card) {
      working.set(card.callId, { card, since: working.get(card.callId)?.since ?? now() });
      refresh();
    },
    worked(card) {
      working.delete(card.callId);
      screen.line(cardLine(card, cardStyle()));
      for (const line of cardOutput(card, cardStyle())) screen.line(line);
      refresh();
    },
    said(text, by) {
      const told = [...waiting].find(([, each]) => each === text);
      if (told) waiting.delete(told[0]);
      const [first = '', ...rest] = safeLines(text);
      screen.line(`${style('cyan', sign)}${by === undefined ? '' : style('dim', `${oneLine(by, 40)}: `)}${first}`);
      for (const line of rest) screen.line(`  ${line}`);
    },
    card(text) {
      for (const line of safeLines(text)) screen.line(line);
    },
    lines(lines) {
      for (const line of lines) screen.line(line);
    },
    plugins(status, closed) {
      const isNew = closed !== undefined && closed !== beside.closed;
      beside = { status, closed };
      // Without a footer it is said once.
      if (isNew && !screen.hasFooter) for (const line of safeLines(closed)) screen.line(style('yellow', line));
      refresh();
    },
    note(text) {
      for (const line of safeLines(text)) screen.line(style('dim', line));
    },
    problem(text) {
      for (const line of safeLines(text)) screen.line(style('red', line));
    },
    began(runId) {
      if (runs.size === 0) busySince = now();
      runs.add(runId);
      changed();
    },
    ended(runId, end, told) {
      runs.delete(runId);
      waiting.delete(runId);
      if (runs.size === 0) working.clear();
      const text = told ? undefined : endText(end);
      if (text !== undefined) screen.line(style(end?.kind === 'aborted' ? 'dim' : 'red', text));
      changed();
    },
    waits() {},
    asked(approval) {
      questions.set(approval.id, approval);
      if (question()?.id === approval.id) ask(approval);
      changed();
    },
    settled(settled: Settled) {
      const approval = questions.get(settled.id);
      const wasOpen = question()?.id === settled.id;
      questions.delete(settled.id);
      const elsewhere = settled.decision !== undefined && !answeredHere.delete(settled.id) ? ' (answered elsewhere)' : '';
      const text = `${oneLine(approval?.title ?? settled.id, 120)} ${stateText(settled)}${elsewhere}`;
      screen.line(style(settled.state === 'allowed' ? 'green' : 'yellow', text));
      const next = question();
      if (wasOpen && next) ask(next);
      changed();
    },
    answered: (id) => void answeredHere.add(id),
  };
}

/** How a turn ended, where it did not just end. */
export function endText(end: RunEnd | undefined): string | undefined {
  if (end === undefined || end.kind === 'completed' || end.kind === 'handled') return undefined;
  if (end.kind === 'refused' && isOperatorDenial(end.reason ?? '')) return 'denied';
  const reason = end.reason === undefined ? '' : ` ${oneLine(end.reason, 2_000)}`;
  const code = end.code === undefined ? '' : ` (${oneLine(end.code, 64)})`;
  if (end.kind === 'refused') return `refused${reason === '' ? '' : `:${reason}`}${code}`;
  if (end.kind === 'aborted') return `stopped${reason === '' ? '' : `:${reason}`}`;
  return `${runEnds[end.kind].replace(/;.*$/, '.')}${reason}${code}`;
}
