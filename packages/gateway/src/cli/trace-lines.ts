// A recording of what plugins did, as lines for a terminal: one head per dispatch, below it the handlers in their order, and
// below each what it changed. Lines come record by record, so that a recording can be printed while it goes on.
import type { JsonValue, TraceOutcome, TraceRecord } from '@tenon/protocol';
import { jsonLine, type Output } from './output.ts';

export interface TraceLines {
  /** The lines that these records add, in the order in which the calls began: a call is recorded when it is over. */
  of(records: readonly TraceRecord[]): string[];
}

const MARKS: Readonly<Record<TraceOutcome, { readonly sign: string; readonly style?: Parameters<Output['style']>[0] }>> = {
  unchanged: { sign: ' ', style: 'dim' },
  changed: { sign: '~', style: 'cyan' },
  claimed: { sign: '!', style: 'green' },
  refused: { sign: 'x', style: 'red' },
  failed: { sign: 'x', style: 'red' },
  'timed-out': { sign: 'x', style: 'red' },
  aborted: { sign: '-', style: 'yellow' },
  dropped: { sign: '-', style: 'yellow' },
  skipped: { sign: '-', style: 'yellow' },
};

const OUTCOME_WIDTH = Math.max(...Object.keys(MARKS).map((outcome) => outcome.length));
const PLUGIN_WIDTH = 16;

export function createTraceLines({ style }: Pick<Output, 'style'>, visible: (text: string) => string): TraceLines {
  let dispatch: number | undefined;
  let run: string | null | undefined;
  return { of: (records) => [...records].sort((a, b) => a.dispatch - b.dispatch || a.order - b.order).flatMap(linesOf) };

  function linesOf(record: TraceRecord): string[] {
    const lines: string[] = [];
    const own = record.runId ?? null;
    if (own !== run) {
      lines.push(style('bold', own === null ? 'outside of turns' : `turn ${visible(own)}`));
      run = own;
      dispatch = undefined;
    }
    if (record.dispatch !== dispatch) lines.push(`  ${style('dim', timeOf(record.at))}  ${style('bold', visible(record.place))}`);
    dispatch = record.dispatch;
    return [...lines, handlerLine(record, style, visible), ...changeLines(record, style, visible)];
  }
}

function handlerLine(record: TraceRecord, style: Output['style'], visible: (text: string) => string): string {
  const { order, plugin, priority, durationMs, outcome, reason, times } = record;
  const { sign, style: colour } = MARKS[outcome];
  const painted = (text: string) => (colour ? style(colour, text) : text);
  const facts = [
    ...(priority === undefined || priority === 0 ? [] : [`priority ${priority}`]),
    ...(times === undefined ? [] : [`${times} times`]),
    ...(reason === undefined ? [] : [visible(reason)]),
  ];
  const head = `    ${painted(sign)} ${String(order).padStart(2)}  ${visible(plugin).padEnd(PLUGIN_WIDTH)}  ${durationOf(durationMs).padStart(9)}  ${painted(outcome.padEnd(OUTCOME_WIDTH))}`;
  return `${head}  ${facts.join(', ')}`.trimEnd();
}

function changeLines({ changes = [], moreChanges }: TraceRecord, style: Output['style'], visible: (text: string) => string): string[] {
  const indent = ' '.repeat(10);
  const lines = changes.flatMap(({ path, before, after }) => {
    const where = path === '' ? 'all of it' : visible(path);
    if (before === undefined) return [`${indent}${where}: ${style('green', `+ ${shown(after)}`)}`];
    if (after === undefined) return [`${indent}${where}: ${style('red', `- ${shown(before)}`)}`];
    return [`${indent}${where}: ${style('red', shown(before))} -> ${style('green', shown(after))}`];
  });
  return moreChanges === undefined ? lines : [...lines, `${indent}and ${moreChanges} more changes`];
}

/** As JSON, so that texts show what they contain. */
function shown(value: JsonValue | undefined): string {
  return jsonLine(value ?? null);
}

function durationOf(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}
