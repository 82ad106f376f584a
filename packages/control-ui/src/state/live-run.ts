// One run while it works: the text of its model calls and its tools, as they come. Pure, like everything in here.
import type { JsonObject, MessageOrigin, RunStream } from '@tenon/protocol';
import { bounds } from './bounds.ts';

/** What a run said since its last entry: one model call. */
export interface Segment {
  /** The row keeps it when the entry takes the place of the segment. */
  readonly key: string;
  readonly text: string;
  readonly thinking: string;
  readonly startedAt: number;
  /** When the thinking ended: the first text after it. */
  readonly textAt: number | undefined;
}

export interface LiveTool {
  readonly callId: string;
  readonly name: string;
  readonly phase: 'writing' | 'started' | 'output' | 'ended';
  readonly subject?: string | undefined;
  readonly args?: JsonObject | undefined;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
  readonly durationMs?: number | undefined;
  readonly startedAt: number;
}

export interface LiveRun {
  readonly runId: string;
  readonly state: 'queued' | 'running';
  readonly createdAt: number;
  /** What waits to be told. */
  readonly text?: string | undefined;
  /** Who asked for it, where no person did. */
  readonly from?: string | undefined;
  readonly via?: MessageOrigin['via'] | undefined;
  readonly phase?: { readonly name: string; readonly detail?: string | undefined; readonly at: number } | undefined;
  readonly segments: readonly Segment[];
  readonly tools: ReadonlyMap<string, LiveTool>;
}

export function newRun(runId: string, now: number): LiveRun {
  return { runId, state: 'running', createdAt: now, segments: [], tools: new Map() };
}

/** The run after it said this. */
export function runAfter(run: LiveRun, event: RunStream): LiveRun {
  switch (event.stream) {
    case 'lifecycle':
      return afterPhase(run, event);
    case 'plugin':
      // For whoever follows the plugin; the conversation shows nothing of it.
      return run;
    case 'tool':
      return { ...run, state: 'running', phase: undefined, tools: withTool(run.tools, event) };
    default:
      return { ...run, state: 'running', phase: undefined, segments: withDelta(run.segments, event) };
  }
}

function afterPhase(run: LiveRun, { phase, detail, ts }: Extract<RunStream, { stream: 'lifecycle' }>): LiveRun {
  const next: LiveRun = { ...run, state: 'running', phase: { name: phase, detail, at: ts } };
  if (phase === 'discarded') return { ...next, segments: run.segments.slice(0, -1) };
  const last = run.segments.at(-1);
  // Each model call makes one entry, so each has a segment of its own.
  const begins = phase === 'model' && last && (last.text !== '' || last.thinking !== '');
  return begins ? { ...next, segments: [...run.segments, emptySegment(`${run.runId}:${ts}:${run.segments.length}`, ts)] } : next;
}

function emptySegment(key: string, startedAt: number): Segment {
  return { key, text: '', thinking: '', startedAt, textAt: undefined };
}

function withDelta(segments: readonly Segment[], event: Extract<RunStream, { stream: 'assistant' | 'thinking' }>): readonly Segment[] {
  const last = segments.at(-1) ?? emptySegment(`${event.runId}:${event.ts}`, event.ts);
  const next =
    event.stream === 'assistant'
      ? { ...last, text: bounded(last.text + event.delta), textAt: last.textAt ?? event.ts }
      : { ...last, thinking: bounded(last.thinking + event.delta) };
  return [...segments.slice(0, -1), next];
}

function bounded(text: string): string {
  return text.length > bounds.liveText ? text.slice(-bounds.liveText) : text;
}

function withTool(tools: ReadonlyMap<string, LiveTool>, event: Extract<RunStream, { stream: 'tool' }>): ReadonlyMap<string, LiveTool> {
  const before = tools.get(event.callId);
  const next: LiveTool = {
    callId: event.callId,
    name: event.name,
    phase: event.phase,
    subject: event.subject ?? before?.subject,
    args: event.args ?? before?.args,
    output: event.output ?? before?.output,
    isError: event.isError ?? before?.isError,
    durationMs: event.durationMs ?? before?.durationMs,
    startedAt: before && before.phase !== 'writing' ? before.startedAt : event.ts,
  };
  return new Map(tools).set(event.callId, next);
}
