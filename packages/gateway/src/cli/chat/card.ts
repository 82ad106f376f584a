// A tool at work, as one line: its name, what it is about, how it stands, how long it took. Its output is below it,
// indented, and cut to a few lines unless everything was asked for.
import type { Output } from '../output.ts';
import { cutTo, oneLine, outputLines, spellShort } from './text.ts';

export interface Card {
  /** The id of the run, a space, the id of the call. */
  readonly callId: string;
  readonly name: string;
  readonly state: 'writing' | 'waiting' | 'running' | 'ok' | 'failed' | 'denied';
  readonly subject: string;
  readonly output: string;
  readonly durationMs?: number;
}

export interface CardStyle {
  readonly style: Output['style'];
  readonly width: number;
  readonly verbose: boolean;
}

const FEW_LINES = 4;
/** Even with everything asked for, a terminal is no place for more. */
const MOST_LINES = 2_000;
const SUBJECT_WIDTH = 200;

const states = {
  writing: { sign: '◌', word: 'writing', colour: 'dim' },
  waiting: { sign: '?', word: 'waits for you', colour: 'yellow' },
  running: { sign: '◌', word: 'running', colour: 'yellow' },
  ok: { sign: '●', word: 'ok', colour: 'green' },
  failed: { sign: '✗', word: 'failed', colour: 'red' },
  denied: { sign: '✗', word: 'denied', colour: 'yellow' },
} as const;

/** The line of the card. `elapsedMs` for one that still runs. */
export function cardLine(card: Card, { style, width }: CardStyle, elapsedMs?: number): string {
  const { sign, word, colour } = states[card.state];
  const name = oneLine(card.name, 40);
  const took = card.durationMs ?? elapsedMs;
  const end = `${word}${took === undefined ? '' : ` ${spellShort(took)}`}`;
  const room = Math.max(8, width - name.length - end.length - 6);
  const subject = oneLine(card.subject, Math.min(room, SUBJECT_WIDTH));
  const about = subject === '' ? '' : `  ${subject}`;
  return `${style(colour, sign)} ${style('bold', name)}${about}  ${style('dim', end)}`;
}

/** What it wrote: the last lines, or all. */
export function cardOutput(card: Card, { style, width, verbose }: CardStyle): string[] {
  const lines = outputLines(card.output);
  const most = verbose ? MOST_LINES : FEW_LINES;
  const shown = lines.slice(-most);
  const hidden = lines.length - shown.length;
  const rows = shown.map((line) => style('dim', `  │ ${verbose ? line : cutTo(line, Math.max(8, width - 4))}`));
  const more = `  │ … ${hidden} more ${hidden === 1 ? 'line' : 'lines'} above${verbose ? '' : ' (--verbose shows all)'}`;
  return hidden === 0 ? rows : [style('dim', more), ...rows];
}

/** What a call is about, where nobody said it: the argument that tells most. */
export function subjectOf(args: Readonly<Record<string, unknown>> | undefined): string {
  if (!args) return '';
  for (const name of ['command', 'argv', 'path', 'url', 'pattern', 'file', 'query']) {
    const value = args[name];
    if (typeof value === 'string') return value;
    if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value.join(' ');
  }
  const [first] = Object.values(args).filter((value) => typeof value === 'string');
  return typeof first === 'string' ? first : '';
}
