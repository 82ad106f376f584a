// How an operation talks to whichever engine runs it. An operation is a generator that yields queries: inside a SQLite
// group commit it runs synchronously, inside a PostgreSQL transaction asynchronously. It must not catch around a
// `yield`: on PostgreSQL an error has already ended the transaction.
import type { DurableEvent, ErrorCode, EventPayload, JsonValue } from '@tenon/protocol';

export type SqlValue = string | number | null;
export type Row = Record<string, SqlValue>;

export interface Sql {
  readonly kind: 'query';
  readonly strings: readonly string[];
  readonly values: readonly (SqlValue | Sql)[];
}

/** An event that becomes durable with the transaction; the engine gives it its position at the end. */
export interface EmitStep {
  readonly kind: 'emit';
  readonly event: DurableEvent;
  readonly payload: string;
  readonly sessionKey: string | null;
  readonly at: number;
}

/** The audit chain has a new head; the engine reports it after the commit so that it can be kept apart. */
export interface AuditStep {
  readonly kind: 'audit';
  readonly head: AuditHead;
}

export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

export type Step = Sql | EmitStep | AuditStep;

export type Dialect = 'sqlite' | 'postgres';

export type Operation<Result> = Generator<Step, Result, QueryResult>;

export interface QueryResult {
  readonly rows: readonly Row[];
  readonly changed: number;
}

export function sql(strings: TemplateStringsArray, ...values: (SqlValue | Sql)[]): Sql {
  return { kind: 'query', strings, values };
}

/** Text that is part of the query itself. Never for anything that came from outside. */
export function raw(text: string): Sql {
  return { kind: 'query', strings: [text], values: [] };
}

export function joinSql(parts: readonly Sql[], separator: string): Sql {
  const strings = ['', ...parts.slice(1).map(() => separator), ''];
  return { kind: 'query', strings, values: parts };
}

export function* all<R = Row>(query: Sql): Operation<R[]> {
  const { rows } = yield query;
  return rows as R[];
}

export function* one<R = Row>(query: Sql): Operation<R | undefined> {
  const { rows } = yield query;
  return rows[0] as R | undefined;
}

/** Runs a statement and says how many rows it changed. */
export function* change(query: Sql): Operation<number> {
  const { changed } = yield query;
  return changed;
}

export function* emit<Name extends DurableEvent>(
  event: Name,
  payload: EventPayload<Name>,
  at: number,
  sessionKey: string | null = null,
): Operation<void> {
  yield { kind: 'emit', event, payload: JSON.stringify(payload), sessionKey, at };
}

/** A refusal inside an operation: the transaction is rolled back and the caller gets it as a GatewayError. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: JsonValue | undefined;

  constructor(code: ErrorCode, message: string, details?: JsonValue) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function refuse(code: ErrorCode, message: string, details?: JsonValue): never {
  throw new Refusal(code, message, details);
}

interface Rendered {
  readonly text: string;
  readonly values: SqlValue[];
}

const renderedText = { sqlite: new WeakMap<readonly string[], string>(), postgres: new WeakMap<readonly string[], string>() };

/** The query as the engine wants it. The text of a plain template is made once per place in the source. */
export function render(query: Sql, dialect: Dialect): Rendered {
  const values: SqlValue[] = [];
  if (!query.values.some(isFragment)) {
    let text = renderedText[dialect].get(query.strings);
    if (text === undefined) {
      text = query.strings.reduce((left, right, index) => `${left}${placeholder(dialect, index)}${right}`);
      renderedText[dialect].set(query.strings, text);
    }
    return { text, values: query.values as SqlValue[] };
  }
  return { text: flatten(query, dialect, values), values };
}

function flatten(query: Sql, dialect: Dialect, values: SqlValue[]): string {
  let text = query.strings[0] ?? '';
  query.values.forEach((value, index) => {
    if (isFragment(value)) text += flatten(value, dialect, values);
    else text += placeholder(dialect, values.push(value));
    text += query.strings[index + 1] ?? '';
  });
  return text;
}

function placeholder(dialect: Dialect, position: number): string {
  return dialect === 'sqlite' ? '?' : `$${position}`;
}

function isFragment(value: SqlValue | Sql): value is Sql {
  return typeof value === 'object' && value !== null;
}
