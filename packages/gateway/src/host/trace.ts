// The seam inspector: while a session is recorded, every call of plugin code that is about it leaves a record of who ran,
// in which order, for how long, and what came of it. Nothing is recorded unless somebody asked for it, and then it is kept
// in memory only, within bounds. The caller of plugin code reports each call here; whoever makes something of an answer
// says what it became.
import { GatewayError, limits, type TraceRecord } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import { hideSecrets, redact } from '../kernel/redact.ts';
import type { StoredEvent } from '../store/stream.ts';
import type { Answer, CallTrace, TracedPlace } from './call-plugin.ts';
import { shownReason } from './trace-diff.ts';
import { effectOf, type Kept, type PageOptions, rounded, TraceRecords } from './trace-records.ts';

export interface Recording {
  readonly recording: boolean;
  readonly turnsLeft?: number;
  readonly until?: number;
}

export interface Trace extends CallTrace {
  /** The next turns, or until it is stopped; for an hour at most. What was recorded before stays. */
  record(sessionKey: string, options: { readonly turns?: number }): Recording & { readonly seq: number };
  stop(sessionKey: string): Recording & { readonly seq: number };
  read(
    sessionKey: string,
    options: PageOptions,
  ): Recording & { readonly records: TraceRecord[]; readonly dropped: number; readonly next?: number };
  /** From the store, after the commit: turns that begin and end, sessions that are deleted. */
  committed(batch: readonly StoredEvent[]): void;
}

export interface TraceDeps {
  readonly clock: Clock;
  /** There is more to read, or a recording has ended. */
  readonly tell: (more: { readonly sessionKey: string; readonly seq: number }) => void;
  /** Values that must not be recorded, whatever they are part of. Asked when a recording begins. */
  readonly secrets?: () => readonly string[];
}

/** Not more than one word about new records in this time. */
const TELL_MS = 50;
/** Observers that are told of the end of a turn are called after it. */
const TRAIL_MS = 250;

interface Recorded {
  readonly sessionKey: string;
  readonly records: TraceRecords;
  isRecording: boolean;
  until: number;
  /** Undefined: every turn. */
  turnsLeft: number | undefined;
  /** Turns that are part of the recording. */
  readonly runs: Set<string>;
  /** Those of them that have not ended. */
  readonly openRuns: Set<string>;
  readonly openCalls: Set<OpenCall>;
  lastSeq: number;
  telling: Timer | undefined;
  timer: Timer | undefined;
}

interface OpenCall {
  readonly plugin: string;
  readonly runId: string | undefined;
}

export function createTrace({ clock, tell, secrets = () => [] }: TraceDeps): Trace {
  const sessions = new Map<string, Recorded>();
  let dispatches = new WeakMap<object, { readonly id: number; order: number }>();
  let answers = new WeakMap<Answer<unknown>, { readonly session: Recorded; readonly kept: Kept }>();
  let active = 0;
  let seq = 0;
  let dispatchCount = 0;

  function open(sessionKey: string): Recorded {
    makeRoom();
    const session: Recorded = {
      sessionKey,
      records: new TraceRecords(),
      isRecording: false,
      until: 0,
      turnsLeft: undefined,
      runs: new Set(),
      openRuns: new Set(),
      openCalls: new Set(),
      lastSeq: seq,
      telling: undefined,
      timer: undefined,
    };
    sessions.set(sessionKey, session);
    return session;
  }

  /** For one more session: what was recorded longest ago goes first, and what is being recorded stays. */
  function makeRoom(): void {
    if (sessions.size < limits.traceSessions.value) return;
    const oldest = [...sessions.values()].find(({ isRecording }) => !isRecording);
    if (!oldest)
      throw new GatewayError('UNAVAILABLE', `${limits.traceSessions.value} sessions are being recorded already; end one of them first`, {
        details: { code: 'TOO_MANY_RECORDINGS', sessionKeys: [...sessions.keys()] },
      });
    forget(oldest);
  }

  function end(session: Recorded): void {
    if (!session.isRecording) return;
    session.isRecording = false;
    active--;
    session.timer?.cancel();
    session.timer = clock.after(limits.traceMs.value, () => forget(session));
    if (active === 0) {
      dispatches = new WeakMap();
      answers = new WeakMap();
    }
    tellLater(session);
  }

  function forget(session: Recorded): void {
    end(session);
    session.timer?.cancel();
    session.telling?.cancel();
    sessions.delete(session.sessionKey);
  }

  /** Ends it once the turns it was for are over and nobody is at work in them any more. */
  function endWhenDone(session: Recorded): void {
    const isDone = () => session.turnsLeft === 0 && session.openRuns.size === 0 && session.openCalls.size === 0;
    if (!session.isRecording || !isDone()) return;
    clock.after(TRAIL_MS, () => {
      if (isDone()) end(session);
    });
  }

  function tellLater(session: Recorded): void {
    session.telling ??= clock.after(TELL_MS, () => {
      session.telling = undefined;
      tell({ sessionKey: session.sessionKey, seq: session.lastSeq });
    });
  }

  /** Whether what happens in this run is recorded; the run counts as a turn if it is the first of it. */
  function admits(session: Recorded, runId: string | undefined): boolean {
    if (runId === undefined || session.turnsLeft === undefined || session.runs.has(runId)) return true;
    if (session.turnsLeft === 0) return false;
    session.turnsLeft--;
    session.runs.add(runId);
    session.openRuns.add(runId);
    return true;
  }

  /** What is known of a record before the call; undefined when it is not about a session that is recorded. */
  function factsOf({ plugin, place, priority }: TracedPlace, about: unknown) {
    if (typeof about !== 'object' || about === null) return undefined;
    const { sessionKey, runId: named } = about as { sessionKey?: unknown; runId?: unknown };
    const session = typeof sessionKey === 'string' ? sessions.get(sessionKey) : undefined;
    if (!session?.isRecording) return undefined;
    const runId = typeof named === 'string' ? named : runAtWork(session, plugin);
    if (!admits(session, runId)) return undefined;
    let dispatch = dispatches.get(about);
    if (!dispatch) {
      dispatch = { id: ++dispatchCount, order: 0 };
      dispatches.set(about, dispatch);
    }
    const facts = {
      at: clock.now(),
      sessionKey: session.sessionKey,
      ...(runId === undefined ? {} : { runId }),
      dispatch: dispatch.id,
      place,
      plugin,
      order: ++dispatch.order,
      ...(priority === undefined ? {} : { priority }),
    };
    return { session, facts };
  }

  /** What names no run, and is done while a handler of the same plugin is at work in one, belongs to that one. */
  function runAtWork({ openCalls }: Recorded, plugin: string): string | undefined {
    return [...openCalls].findLast((each) => each.plugin === plugin && each.runId !== undefined)?.runId;
  }

  function keep(session: Recorded, record: Omit<TraceRecord, 'seq'>): Kept {
    session.lastSeq = ++seq;
    tellLater(session);
    return session.records.add({ seq, ...record });
  }

  function stateOf({ isRecording, turnsLeft, until }: Recorded): Recording {
    return isRecording ? { recording: true, ...(turnsLeft === undefined ? {} : { turnsLeft }), until } : { recording: false };
  }

  return {
    get isOn() {
      return active > 0;
    },
    began(where, about) {
      const found = factsOf(where, about);
      if (!found) return undefined;
      const { session, facts } = found;
      const call: OpenCall = { plugin: where.plugin, runId: facts.runId };
      session.openCalls.add(call);
      return {
        ended(answer, durationMs) {
          session.openCalls.delete(call);
          const record = { ...facts, durationMs: rounded(durationMs) };
          if (session.isRecording && !session.records.isRepeat(record, answer)) {
            const kept = keep(session, { ...record, outcome: 'unchanged' });
            session.records.amend(kept, effectOf(answer, where.place));
            answers.set(answer, { session, kept });
          }
          endWhenDone(session);
        },
      };
    },
    became(answer, effect) {
      const known = active === 0 ? undefined : answers.get(answer);
      known?.session.records.amend(known.kept, effect);
    },
    passedOver(where, about, outcome, reason) {
      const found = active === 0 ? undefined : factsOf(where, about);
      if (found) keep(found.session, { ...found.facts, durationMs: 0, outcome, reason: shownReason(reason, found.session.records.hide) });
    },
    record(sessionKey, { turns }) {
      const session = sessions.get(sessionKey) ?? open(sessionKey);
      const values = secrets();
      session.records.hide = (text) => hideSecrets(redact(text, values));
      if (!session.isRecording) active++;
      session.isRecording = true;
      session.turnsLeft = turns;
      session.until = clock.now() + limits.traceMs.value;
      session.runs.clear();
      session.openRuns.clear();
      session.timer?.cancel();
      session.timer = clock.after(limits.traceMs.value, () => end(session));
      return { ...stateOf(session), seq };
    },
    stop(sessionKey) {
      const session = sessions.get(sessionKey);
      if (session) end(session);
      return { recording: false, seq };
    },
    read(sessionKey, options) {
      const session = sessions.get(sessionKey);
      if (!session) return { recording: false, records: [], dropped: 0 };
      return { ...stateOf(session), ...session.records.page(options), dropped: session.records.dropped };
    },
    committed(batch) {
      if (sessions.size === 0) return;
      for (const { event, payload, sessionKey } of batch) {
        const session = sessionKey === null ? undefined : sessions.get(sessionKey);
        if (!session) continue;
        if (event === 'sessions.changed' && (JSON.parse(payload) as { reason?: string }).reason === 'delete') forget(session);
        if (event !== 'chat' || !session.isRecording || session.turnsLeft === undefined) continue;
        const { kind, runId } = JSON.parse(payload) as { kind: string; runId?: string };
        if (runId === undefined) continue;
        if (kind === 'started') admits(session, runId);
        if (kind === 'ended' && session.openRuns.delete(runId)) endWhenDone(session);
      }
    },
  };
}
