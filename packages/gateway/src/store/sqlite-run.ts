// Runs operations on a SQLite connection, synchronously. The writer thread and the reader on the main thread share it.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EmitStep, AuditHead, Operation, QueryResult, Row, Sql, SqlValue } from './sql.ts';
import { render } from './sql.ts';
import { failureOf, type PlainFailure } from './failure.ts';

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

interface Prepared {
  readonly statement: StatementSync;
  /** Asked once: asking costs more than a short query. */
  readonly hasRows: boolean;
}

export function createSqliteRunner(database: DatabaseSync): SqliteRunner {
  const byTemplate = new WeakMap<readonly string[], Prepared>();
  const byText = new Map<string, Prepared>();

  function prepare(query: Sql): { prepared: Prepared; values: SqlValue[] } {
    const known = byTemplate.get(query.strings);
    if (known) return { prepared: known, values: query.values as SqlValue[] };
    const { text, values } = render(query, 'sqlite');
    let prepared = byText.get(text);
    if (!prepared) {
      if (byText.size >= MAX_PREPARED) byText.clear();
      const statement = database.prepare(text);
      prepared = { statement, hasRows: statement.columns().length > 0 };
      byText.set(text, prepared);
      // Only a template without fragments always has the same text.
      if (values === query.values) byTemplate.set(query.strings, prepared);
    }
    return { prepared, values };
  }

  function query(one: Sql): QueryResult {
    const { prepared, values } = prepare(one);
    const { statement, hasRows } = prepared;
    if (hasRows) {
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
  const reason = storageReason(error);
  return failureOf(error, reason && `Cannot write: ${reason}`);
}
