// The seam inspector: while a session is recorded, every call of plugin code that is about it leaves a record of who ran,
// in which order, for how long, and what came of it. Nothing is recorded unless somebody asked for it, and then it is kept
// in memory only, within bounds. The caller of plugin code reports each call here; whoever makes something of an answer
// says what it became.
import { GatewayError, limits, type TraceOutcome, type TraceRecord } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { StoredEvent } from '../store/stream.ts';
import type { Answer, CallTrace, TracedPlace } from './call-plugin.ts';
import { differenceOf, shownReason } from './trace-diff.ts';

export interface Recording {
  readonly recording: boolean;
  readonly turnsLeft?: number;
  readonly until?: number;
}

export interface Trace extends CallTrace {
  record(sessionKey: string, options: { readonly turns?: number }): Recording;
  stop(sessionKey: string): Recording;
  read(
    sessionKey: string,
    options: { readonly runId?: string; readonly after?: number; readonly limit?: number },
  ): Recording & { readonly records: TraceRecord[]; readonly dropped: number; readonly next?: number };
  /** From the store, after the commit: turns that begin and end, sessions that are deleted. */
  committed(batch: readonly StoredEvent[]): void;
}

export interface TraceDeps {
  readonly clock: Clock;
  /** There is more to read, or a recording has ended. */
  readonly tell: (more: { readonly sessionKey: string; readonly seq: number }) => void;
}

/** Not more than one word about new records in this time. */
const TELL_MS = 50;
/** Observers that are told of the end of a turn are called after it. */
const TRAIL_MS = 250;
const PAGE_BYTES = 262_144;

interface Kept {
  record: TraceRecord;
  bytes: number;
}

interface Recorded {
  readonly sessionKey: string;
  isRecording: boolean;
  until: number;
  /** Undefined: every turn. */
  turnsLeft: number | undefined;
  /** Turns that are part of the recording. */
  readonly runs: Set<string>;
  /** Those of them that have not ended. */
  readonly openRuns: Set<string>;
  openCalls: number;
  readonly kept: Kept[];
  bytes: number;
  dropped: number;
  lastSeq: number;
  telling: Timer | undefined;
  timer: Timer | undefined;
}

interface Dispatch {
  readonly id: number;
  order: number;
}

export function createTrace({ clock, tell }: TraceDeps): Trace {
  const sessions = new Map<string, Recorded>();
  let dispatches = new WeakMap<object, Dispatch>();
  let answers = new WeakMap<Answer<unknown>, { readonly session: Recorded; readonly kept: Kept }>();
  let active = 0;
  let seq = 0;
  let dispatchCount = 0;

  function tellLater(session: Recorded): void {
    session.telling ??= clock.after(TELL_MS, () => {
      session.telling = undefined;
      tell({ sessionKey: session.sessionKey, seq: session.lastSeq });
    });
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
    if (session.turnsLeft !== 0 || session.openRuns.size > 0 || session.openCalls > 0 || !session.isRecording) return;
    clock.after(TRAIL_MS, () => {
      if (session.turnsLeft === 0 && session.openRuns.size === 0 && session.openCalls === 0) end(session);
    });
  }

  /** Whether what happens in this run is recorded; the run counts as a turn if it is the first of it. */
  function admits(session: Recorded, runId: string | undefined): boolean {
    if (runId === undefined || session.runs.has(runId)) return true;
    if (session.turnsLeft === 0) return false;
    if (session.turnsLeft === undefined) return true;
    session.turnsLeft--;
    session.runs.add(runId);
    session.openRuns.add(runId);
    return true;
  }

  function recordedBy(about: unknown): { readonly session: Recorded; readonly runId: string | undefined } | undefined {
    const { sessionKey, runId } = (typeof about === 'object' && about !== null ? about : {}) as { sessionKey?: unknown; runId?: unknown };
    const session = typeof sessionKey === 'string' ? sessions.get(sessionKey) : undefined;
    const run = typeof runId === 'string' ? runId : undefined;
    return session?.isRecording && admits(session, run) ? { session, runId: run } : undefined;
  }

  /** Those that are about the same object are one dispatch. */
  function placeIn(about: object): { dispatch: number; order: number } {
    let dispatch = dispatches.get(about);
    if (!dispatch) {
      dispatch = { id: ++dispatchCount, order: 0 };
      dispatches.set(about, dispatch);
    }
    return { dispatch: dispatch.id, order: ++dispatch.order };
  }

  function keep(session: Recorded, record: Omit<TraceRecord, 'seq'>): Kept {
    const whole = { seq: ++seq, ...record };
    const kept = { record: whole, bytes: JSON.stringify(whole).length };
    session.kept.push(kept);
    session.bytes += kept.bytes;
    session.lastSeq = seq;
    makeRoom(session);
    tellLater(session);
    return kept;
  }

  function makeRoom(session: Recorded): void {
    while (session.kept.length > limits.traceRecords.value || (session.bytes > limits.traceBytes.value && session.kept.length > 1)) {
      session.bytes -= session.kept.shift()!.bytes;
      session.dropped++;
    }
  }

  function factsOf({ plugin, place, priority }: TracedPlace, sessionKey: string, runId: string | undefined) {
    return {
      at: clock.now(),
      sessionKey,
      ...(runId === undefined ? {} : { runId }),
      plugin,
      place,
      ...(priority === undefined ? {} : { priority }),
    };
  }

  function stateOf({ isRecording, turnsLeft, until }: Recorded): Recording {
    return isRecording ? { recording: true, ...(turnsLeft === undefined ? {} : { turnsLeft }), until } : { recording: false };
  }

  /** Room for one more: what was recorded longest ago goes first, and what is being recorded stays. */
  function makeRoomForSession(): void {
    if (sessions.size < limits.traceSessions.value) return;
    const oldest = [...sessions.values()].find(({ isRecording }) => !isRecording);
    if (!oldest)
      throw new GatewayError('UNAVAILABLE', `${limits.traceSessions.value} sessions are being recorded already; end one of them first`, {
        details: { code: 'TOO_MANY_RECORDINGS', sessionKeys: [...sessions.keys()] },
      });
    forget(oldest);
  }

  return {
    get isOn() {
      return active > 0;
    },
    began(where, about) {
      const found = recordedBy(about);
      if (!found) return undefined;
      const { session, runId } = found;
      const facts = { ...factsOf(where, session.sessionKey, runId), ...placeIn(about as object) };
      session.openCalls++;
      return {
        ended(answer, durationMs) {
          session.openCalls--;
          if (session.isRecording) {
            const kept = keep(session, { ...facts, durationMs: rounded(durationMs), ...outcomeOf(answer) });
            answers.set(answer, { session, kept });
          }
          endWhenDone(session);
        },
      };
    },
    became(answer, { outcome, reason, before, after }) {
      const known = active === 0 ? undefined : answers.get(answer);
      if (!known) return;
      const { session, kept } = known;
      const isCompared = before !== undefined || after !== undefined;
      const { changes, more } = isCompared ? differenceOf(before, after) : { changes: [], more: 0 };
      const { changes: _, moreChanges: __, ...rest } = kept.record;
      kept.record = {
        ...rest,
        outcome: outcome === 'changed' && isCompared && changes.length === 0 ? 'unchanged' : (outcome ?? rest.outcome),
        ...(reason === undefined ? {} : { reason: shownReason(reason) }),
        ...(changes.length === 0 ? {} : { changes }),
        ...(more === 0 ? {} : { moreChanges: more }),
      };
      const bytes = JSON.stringify(kept.record).length;
      // One that has made room already no longer counts.
      if (session.kept.lastIndexOf(kept) !== -1) session.bytes += bytes - kept.bytes;
      kept.bytes = bytes;
      makeRoom(session);
    },
    passedOver(where, about, outcome, reason) {
      const found = recordedBy(about);
      if (!found) return;
      const facts = { ...factsOf(where, found.session.sessionKey, found.runId), ...placeIn(about as object) };
      keep(found.session, { ...facts, durationMs: 0, outcome, reason: shownReason(reason) });
    },
    record(sessionKey, { turns }) {
      let session = sessions.get(sessionKey);
      if (!session) {
        makeRoomForSession();
        session = {
          sessionKey,
          isRecording: false,
          until: 0,
          turnsLeft: undefined,
          runs: new Set(),
          openRuns: new Set(),
          openCalls: 0,
          kept: [],
          bytes: 0,
          dropped: 0,
          lastSeq: seq,
          telling: undefined,
          timer: undefined,
        };
        sessions.set(sessionKey, session);
      }
      const recorded = session;
      if (!recorded.isRecording) active++;
      recorded.isRecording = true;
      recorded.turnsLeft = turns;
      recorded.until = clock.now() + limits.traceMs.value;
      recorded.runs.clear();
      recorded.openRuns.clear();
      recorded.timer?.cancel();
      recorded.timer = clock.after(limits.traceMs.value, () => end(recorded));
      return stateOf(recorded);
    },
    stop(sessionKey) {
      const session = sessions.get(sessionKey);
      if (session) end(session);
      return { recording: false };
    },
    read(sessionKey, { runId, after = 0, limit = limits.pageSize.value }) {
      const session = sessions.get(sessionKey);
      if (!session) return { recording: false, records: [], dropped: 0 };
      const records: TraceRecord[] = [];
      let bytes = 0;
      for (const { record, bytes: size } of session.kept) {
        if (record.seq <= after || (runId !== undefined && record.runId !== runId)) continue;
        if (records.length >= limit || (bytes + size > PAGE_BYTES && records.length > 0))
          return { ...stateOf(session), records, dropped: session.dropped, next: records.at(-1)!.seq };
        records.push(record);
        bytes += size;
      }
      return { ...stateOf(session), records, dropped: session.dropped };
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

function outcomeOf(answer: Answer<unknown>): { outcome: TraceOutcome; reason?: string } {
  if (answer.ok) return { outcome: 'unchanged' };
  const outcome = answer.kind === 'threw' || answer.kind === 'wrong-shape' ? 'failed' : answer.kind;
  return { outcome, reason: shownReason(answer.kind === 'wrong-shape' ? `its answer cannot be used: ${answer.message}` : answer.message) };
}

function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1_000) / 1_000);
}
