// The writer thread. Operations that arrive together share one transaction, each in its own savepoint, and one fsync.
// The main thread keeps reading and serving meanwhile.
import { parentPort } from 'node:worker_threads';
import { faultpoint } from '../kernel/fault.ts';
import { giveBackSoon } from '../kernel/give-back.ts';
import { makesRoom, operationOf, type WriteRequest } from './operations.ts';
import { type AuditHead, sql } from './sql.ts';
import { integrityFault, limitSize, type OpenOptions, openDatabase, openReader } from './sqlite-file.ts';
import { createSqliteRunner, isFull, type RunEffects, toFailure } from './sqlite-run.ts';
import type { PlainFailure } from './failure.ts';
import type { StoredEvent, StreamState } from './stream.ts';

export type WriteOutcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: PlainFailure };

export type ToWriter =
  | { readonly kind: 'open'; readonly options: OpenOptions }
  | { readonly kind: 'check'; readonly file: string }
  | { readonly kind: 'batch'; readonly requests: readonly WriteRequest[] }
  | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'ready'; readonly stream: StreamState }
  | { readonly kind: 'checked'; readonly fault: string | undefined }
  | { readonly kind: 'unusable'; readonly reason: string; readonly message: string }
  | {
      readonly kind: 'done';
      readonly outcomes: readonly WriteOutcome[];
      readonly events: readonly StoredEvent[];
      readonly auditHead: AuditHead | undefined;
    }
  | { readonly kind: 'closed' };

const port = parentPort;
const reply = (message: FromWriter) => port?.postMessage(message);
port?.once('message', (message: ToWriter) => {
  if (message.kind === 'open') {
    serve(message.options);
    giveBackSoon();
  }
  if (message.kind === 'check') reply({ kind: 'checked', fault: checkFile(message.file) });
});

/** A large file takes a while: in a thread of its own nobody waits for it. */
function checkFile(file: string): string | undefined {
  const database = openReader(file);
  try {
    return integrityFault(database);
  } finally {
    database.close();
  }
}

function serve(options: OpenOptions): void {
  let opened: ReturnType<typeof openDatabase>;
  try {
    opened = openDatabase(options);
  } catch (error) {
    const { reason = 'storage', message } = error as { reason?: string; message: string };
    reply({ kind: 'unusable', reason, message });
    port?.close();
    return;
  }
  const { database, stream } = opened;
  const commit = createCommitter(database, stream.head, options.maxBytes);
  port?.on('message', (message: ToWriter) => {
    if (message.kind === 'batch') {
      const done = commit(message.requests);
      faultpoint('writer.before-answer');
      reply(done);
      return;
    }
    if (message.kind !== 'close') return;
    closeDatabase(database);
    reply({ kind: 'closed' });
    port?.close();
  });
  reply({ kind: 'ready', stream });
}

function closeDatabase(database: ReturnType<typeof openDatabase>['database']): void {
  try {
    // Leaves no WAL behind after a clean stop. Failing that, the WAL is read at the next start.
    database.exec('pragma wal_checkpoint(truncate)');
  } catch {}
  database.close();
}

type Done = Extract<FromWriter, { kind: 'done' }>;

function createCommitter(database: ReturnType<typeof openDatabase>['database'], firstHead: number, maxBytes: number) {
  const runner = createSqliteRunner(database);
  let head = firstHead;

  return function commit(requests: readonly WriteRequest[]): Done {
    try {
      return commitTogether(requests);
    } catch (error) {
      // Nothing of it has happened. One request that does not fit must not take the others with it.
      const [only] = requests;
      if (requests.length > 1 || !only) return inOne(requests.map((request) => commit([request])));
      return commitInReserve(only, error);
    }
  };

  /** One group of requests, one transaction. */
  function commitTogether(requests: readonly WriteRequest[]): Done {
    const outcomes: WriteOutcome[] = [];
    const events: StoredEvent[] = [];
    let auditHead: AuditHead | undefined;
    let position = head;
    try {
      database.exec('begin immediate');
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
  function commitInReserve(request: WriteRequest, error: unknown): Done {
    const failed = (reason: unknown): Done => ({
      kind: 'done',
      outcomes: [{ ok: false, failure: toFailure(reason) }],
      events: [],
      auditHead: undefined,
    });
    if (maxBytes === 0 || !isFull(error) || !makesRoom.has(request.name)) return failed(error);
    try {
      limitSize(database, maxBytes + RESERVE_BYTES);
      return commitTogether([request]);
    } catch (again) {
      return failed(again);
    } finally {
      limitSize(database, maxBytes);
    }
  }
}

const RESERVE_BYTES = 262_144;

function inOne(parts: readonly Done[]): Done {
  return {
    kind: 'done',
    outcomes: parts.flatMap((part) => part.outcomes),
    events: parts.flatMap((part) => part.events),
    auditHead: parts.findLast((part) => part.auditHead)?.auditHead,
  };
}
