// Runs operations on a SQLite connection, synchronously. The writer thread and the reader on the main thread share it.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EmitStep, AuditHead, Operation, QueryResult, Row, Sql, SqlValue } from './sql.ts';
import { Refusal, render } from './sql.ts';
import type { PlainFailure } from './failure.ts';

export interface RunEffects {
  readonly emitted: EmitStep[];
  auditHead: AuditHead | undefined;
}

/** Statements of dynamic queries that are kept prepared; their number is bounded by the filters that can be combined. */
const MAX_PREPARED = 256;

export interface SqliteRunner {
  run<Result>(operation: Operation<Result>, effects: RunEffects): Result;
  query(query: Sql): QueryResult;
}

export function createSqliteRunner(database: DatabaseSync): SqliteRunner {
  const byTemplate = new WeakMap<readonly string[], StatementSync>();
  const byText = new Map<string, StatementSync>();

  function prepare(query: Sql): { statement: StatementSync; values: SqlValue[] } {
    const known = byTemplate.get(query.strings);
    if (known) return { statement: known, values: query.values as SqlValue[] };
    const { text, values } = render(query, 'sqlite');
    let statement = byText.get(text);
    if (!statement) {
      if (byText.size >= MAX_PREPARED) byText.clear();
      statement = database.prepare(text);
      byText.set(text, statement);
      // Only a template without fragments always has the same text.
      if (values === query.values) byTemplate.set(query.strings, statement);
    }
    return { statement, values };
  }

  function query(one: Sql): QueryResult {
    const { statement, values } = prepare(one);
    if (statement.columns().length > 0) {
      const rows = statement.all(...values) as Row[];
      return { rows, changed: rows.length };
    }
    return { rows: [], changed: Number(statement.run(...values).changes) };
  }

  return {
    query,
    run(operation, effects) {
      let next = operation.next();
      while (!next.done) {
        const step = next.value;
        if (step.kind === 'query') {
          next = operation.next(query(step));
          continue;
        }
        if (step.kind === 'emit') effects.emitted.push(step);
        else effects.auditHead = step.head;
        next = operation.next(NOTHING);
      }
      return next.value;
    },
  };
}

const NOTHING: QueryResult = { rows: [], changed: 0 };

/** SQLite result codes that lie with the disk or the file and not with our statement. */
const STORAGE_CODES: Record<number, string> = {
  5: 'the database is busy',
  8: 'the database is read-only',
  10: 'the disk reported an input/output error',
  11: 'the database file is damaged',
  13: 'the disk or the database is full',
  14: 'the database file cannot be opened',
  26: 'the file is not a database',
};

export function storageReason(error: unknown): string | undefined {
  const errcode = (error as { errcode?: unknown }).errcode;
  return typeof errcode === 'number' ? STORAGE_CODES[errcode & 0xff] : undefined;
}

export function isFull(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === 13;
}

export function toFailure(error: unknown): PlainFailure {
  if (error instanceof Refusal) {
    return {
      kind: 'refused',
      code: error.code,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
    };
  }
  const reason = storageReason(error);
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (reason) return { kind: 'storage', code: 'STORAGE', message: `Cannot write: ${reason}`, cause };
  return { kind: 'bug', code: 'INTERNAL', message: error instanceof Error ? error.message : String(error), cause };
}
