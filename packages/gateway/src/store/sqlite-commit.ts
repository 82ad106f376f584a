// Commits requests to an SQLite database. Operations that arrive together share one transaction, each in its own savepoint.
import type { DatabaseSync } from 'node:sqlite';
import { faultpoint } from '../kernel/fault.ts';
import type { PlainFailure } from './failure.ts';
import { makesRoom, operationOf, type WriteRequest } from './operations.ts';
import { type AuditHead, Refusal, sql } from './sql.ts';
import { limitSize } from './sqlite-file.ts';
import type { PlaceCheck } from './sqlite-place.ts';
import { createSqliteRunner, isFull, type RunEffects, toFailure } from './sqlite-run.ts';
import type { StoredEvent } from './stream.ts';
import { expectWriter, Fenced } from './writer.ts';

export type WriteOutcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: PlainFailure };

export interface CommitDone {
  readonly kind: 'done';
  readonly outcomes: readonly WriteOutcome[];
  readonly events: readonly StoredEvent[];
  readonly auditHead: AuditHead | undefined;
  /** Why this gateway may not write any more. */
  readonly fenced?: string;
}

/** What must hold for a store that others can reach. */
export interface CommitGuard {
  readonly bootId: string;
  readonly misplaced: PlaceCheck;
}

export function createCommitter(database: DatabaseSync, firstHead: number, maxBytes: number, guard?: CommitGuard) {
  const runner = createSqliteRunner(database);
  let head = firstHead;
  /** Committed, but not told: nobody could say then whether the file is the one that the next start opens. */
  let untold: StoredEvent[] = [];

  return function commit(requests: readonly WriteRequest[]): CommitDone {
    const before = guard?.misplaced();
    if (before !== undefined) return refuseAll(requests, new Refusal('STORAGE', `Cannot write: ${before}`));
    const done = commitAny(requests);
    const after = guard?.misplaced();
    if (after !== undefined) {
      untold.push(...done.events);
      return refuseAll(requests, new Refusal('STORAGE', `The write may be lost: ${after}`, { code: 'OUTCOME_UNKNOWN' }));
    }
    if (untold.length === 0) return done;
    const events = [...untold, ...done.events];
    untold = [];
    return { ...done, events };
  };

  function commitAny(requests: readonly WriteRequest[]): CommitDone {
    try {
      return commitTogether(requests);
    } catch (error) {
      if (error instanceof Fenced) return { ...refuseAll(requests, error), fenced: error.message };
      // Nothing of it has happened. One request that does not fit must not take the others with it.
      const [only] = requests;
      if (requests.length > 1 || !only) return inOne(requests.map((request) => commitAny([request])));
      return commitInReserve(only, error);
    }
  }

  /** One group of requests, one transaction. */
  function commitTogether(requests: readonly WriteRequest[]): CommitDone {
    const outcomes: WriteOutcome[] = [];
    const events: StoredEvent[] = [];
    let auditHead: AuditHead | undefined;
    let position = head;
    try {
      database.exec('begin immediate');
      if (guard) runner.run(expectWriter(guard.bootId), { emitted: [], auditHead: undefined });
      faultpoint('writer.after-begin');
      for (const request of requests) {
        const effects: RunEffects = { emitted: [], auditHead: undefined };
        database.exec('savepoint operation');
        try {
          const value = runner.run(operationOf(request, 'sqlite'), effects);
          const numbered = effects.emitted.map((step, index) => ({ ...step, seq: position + index + 1 }));
          for (const { seq, event, payload, sessionKey, at } of numbered) {
            runner.query(
              sql`insert into events (seq, event, payload, session_key, at) values (${seq}, ${event}, ${payload}, ${sessionKey}, ${at})`,
            );
          }
          database.exec('release operation');
          position += numbered.length;
          for (const { seq, event, payload, sessionKey } of numbered) events.push({ seq, event, payload, sessionKey });
          auditHead = effects.auditHead ?? auditHead;
          outcomes.push({ ok: true, value });
          faultpoint('writer.after-operation');
        } catch (error) {
          // A full disk may roll back the whole transaction and not only the savepoint.
          if (!database.isTransaction) throw error;
          database.exec('rollback to operation; release operation');
          if (isFull(error)) throw error;
          outcomes.push({ ok: false, failure: toFailure(error) });
        }
      }
      if (position !== head) runner.query(sql`update stream set head = ${position} where id = 1`);
      faultpoint('writer.before-commit');
      database.exec('commit');
      faultpoint('writer.after-commit');
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      throw error;
    }
    head = position;
    return { kind: 'done', outcomes, events, auditHead };
  }

  /** What makes room needs a little room itself: it may go beyond the bound. */
  function commitInReserve(request: WriteRequest, error: unknown): CommitDone {
    if (maxBytes === 0 || !isFull(error) || !makesRoom.has(request.name)) return refuseAll([request], error);
    try {
      limitSize(database, maxBytes + RESERVE_BYTES);
      return commitTogether([request]);
    } catch (again) {
      return refuseAll([request], again);
    } finally {
      limitSize(database, maxBytes);
    }
  }
}

const RESERVE_BYTES = 262_144;

function refuseAll(requests: readonly WriteRequest[], reason: unknown): CommitDone {
  const failure = toFailure(reason);
  return { kind: 'done', outcomes: requests.map(() => ({ ok: false, failure })), events: [], auditHead: undefined };
}

function inOne(parts: readonly CommitDone[]): CommitDone {
  const fenced = parts.find((part) => part.fenced !== undefined)?.fenced;
  return {
    kind: 'done',
    outcomes: parts.flatMap((part) => part.outcomes),
    events: parts.flatMap((part) => part.events),
    auditHead: parts.findLast((part) => part.auditHead)?.auditHead,
    ...(fenced === undefined ? {} : { fenced }),
  };
}
