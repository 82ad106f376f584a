// The shared engine. Each write is a transaction of its own; writes of one session go one after another. The position
// of an event is taken as the last statement, from a row that stays locked until the commit: whoever reads position N
// can read everything before it. A commit whose answer is lost is looked up, never guessed.
import type { ClientBase, Pool, PoolClient } from 'pg';
import { GatewayError } from '@tenon/protocol';
import { faultpoint } from '../kernel/fault.ts';
import { randomId } from '../kernel/ids.ts';
import { createLanes } from '../kernel/lane.ts';
import { createPlaces } from '../kernel/places.ts';
import type { AnswerSlot } from './answers.ts';
import { missingText } from './earlier-store.ts';
import { failureOf, type PlainFailure, StoreOpenError } from './failure.ts';
import { toGatewayError } from './gateway-error.ts';
import { migrationsAfter, schemaVersion } from './migrations.ts';
import { laneOf, operationOf, type ReadName, reads, type WriteName } from './operations.ts';
import { createInOrder } from './in-order.ts';
import { createSockets, GATEWAY_LOCK, loadPg, type Sockets, unreachable, withOwnClient, WRITER_LOCK } from './postgres-connect.ts';
import { createProbe } from './postgres-probe.ts';
import {
  type AuditHead,
  type Dialect,
  type EmitStep,
  type Operation,
  type QueryResult,
  refuse,
  render,
  type Row,
  type SqlValue,
} from './sql.ts';
import type { Store, StoreListener } from './store.ts';
import { beginStream, readStream, streamState, type StoredEvent, type StreamState } from './stream.ts';
import { claimWriter, expectWriter, Fenced } from './writer.ts';

export { loadPg } from './postgres-connect.ts';

/** Transactions at a time. */
const MAX_WRITERS = 10;
/** The rest is for reads, for the lock and for looking up how a commit ended: writers cannot starve those. */
const MAX_CONNECTIONS = MAX_WRITERS + 4;
/** Writes that may wait for their turn. */
const MAX_WAITING = 20_000;
const MAX_RETRIES = 5;
const IDLE_IN_TRANSACTION_MS = 60_000;

export interface Timeouts {
  readonly connectMs: number;
  /** After this PostgreSQL itself gives a statement up. */
  readonly statementMs: number;
  /** After this we do: only a PostgreSQL that hangs, or a dead network, lets it come to that. */
  readonly answerMs: number;
  /** How long a commit whose answer was lost is looked up before its caller is told that nobody knows. */
  readonly outcomeMs: number;
  /** How long closing waits while none of the accepted work gets done. */
  readonly closeMs: number;
  /** How long PostgreSQL may take to answer a goodbye. */
  readonly goodbyeMs: number;
}

const TIMEOUTS: Timeouts = {
  connectMs: 5_000,
  statementMs: 10_000,
  answerMs: 12_000,
  outcomeMs: 30_000,
  closeMs: 5_000,
  goodbyeMs: 1_000,
};

interface Effects {
  readonly emitted: EmitStep[];
  auditHead: AuditHead | undefined;
}

function noEffects(): Effects {
  return { emitted: [], auditHead: undefined };
}

export interface PostgresOptions {
  readonly url: string;
  readonly now: number;
  /** Where a copy goes before an older store is migrated. Without a home there is none. */
  readonly home?: string;
  /** What tells that there was a store here: then none is made. */
  readonly trace?: string;
  readonly timeouts?: Partial<Timeouts>;
}

export async function openPostgresStore(options: PostgresOptions, listener: StoreListener): Promise<Store> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const sockets = createSockets();
  const pool = await openPool(options.url, timeouts, sockets, listener);
  const stats = { commits: 0, operations: 0, refused: 0, failed: 0 };
  const run = <Result>(operation: Operation<Result>) => withClient(pool, (client) => drive(client, operation, noEffects()));
  const bootId = randomId();
  let guard: Guard | undefined;
  let stream: StreamState;
  try {
    guard = await holdGatewayLock(pool, listener);
    await migrate(options);
    await claim(pool, bootId, options.now);
    stream = await run(streamState({}));
  } catch (error) {
    guard?.release();
    await sayGoodbye();
    throw error;
  }
  const { isHeld, release } = guard;
  const lanes = createLanes();
  const places = createPlaces(MAX_WRITERS);
  const inOrder = createInOrder<StoredEvent>({
    next: stream.head + 1,
    deliver: (events) => listener.events(events),
    read: (after) => run(readStream({ after, limit: 1000 })),
  });
  /** What was accepted and is not finished. */
  const accepted = new Set<Promise<unknown>>();
  /** When PostgreSQL was last found not to answer. */
  let silentAt = 0;
  let closed: Promise<void> | undefined;
  /** Another gateway took the place of this one. */
  let fenced: Fenced | undefined;
  const probe = createProbe(options.url, (client) => drive(client, expectWriter(bootId), noEffects()).catch(noticeFence));

  function noticeFence(error: unknown): never {
    if (error instanceof Fenced && !fenced) {
      fenced = error;
      listener.health({ ok: false, reason: error.message, isOver: true });
    }
    throw error;
  }

  async function write(name: WriteName, args: unknown, slot: AnswerSlot | undefined, acceptedAt: number): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const effects = noEffects();
      try {
        if (fenced) throw fenced;
        if (!isHeld()) refuse('STORAGE', 'The database is not available: another gateway may have taken it over');
        const operation = operationOf({ name, args, slot }, 'postgres');
        const { value, events } = await places.use((place) => {
          // Otherwise those that wait behind it would find out one after another, each after a timeout of its own.
          if (acceptedAt < silentAt) refuse('STORAGE', 'The database does not answer');
          return transact({ pool, place, bootId, outcomeMs: timeouts.outcomeMs }, operation, effects).catch(noticeFence);
        });
        stats.commits++;
        stats.operations++;
        listener.health({ ok: true });
        if (effects.auditHead) listener.auditHead(effects.auditHead);
        if (events) inOrder.add(events);
        else inOrder.check();
        return value;
      } catch (error) {
        // Two transactions stood in each other's way: nothing has happened, and the next try has a clear road.
        if (isPassing(error) && attempt < MAX_RETRIES) continue;
        if (isSilence(error)) silentAt = performance.now();
        const failure = toFailure(error);
        if (failure.kind === 'refused') stats.refused++;
        else stats.failed++;
        if (failure.kind === 'storage' && !fenced) {
          listener.health({ ok: false, reason: failure.message });
          inOrder.check();
        }
        throw toGatewayError(failure);
      }
    }
  }

  function accept<Result>(work: Promise<Result>): Promise<Result> {
    accepted.add(work);
    const forget = () => accepted.delete(work);
    work.then(forget, forget);
    return work;
  }

  async function finish(): Promise<void> {
    for (let left = Infinity; accepted.size > 0 && accepted.size < left; ) {
      left = accepted.size;
      await within(timeouts.closeMs, Promise.allSettled(accepted));
    }
    inOrder.close();
    probe.close();
    release();
    await sayGoodbye();
  }

  /** PostgreSQL closes a connection after it gave up its locks: the next gateway can take over at once. */
  async function sayGoodbye(): Promise<void> {
    await within(timeouts.goodbyeMs, Promise.all([pool.end(), sockets.closed()]));
    sockets.destroy();
  }

  return {
    engine: 'postgres',
    location: describe(options.url),
    schemaVersion,
    stream,
    stats,
    write(name, args, slot) {
      if (closed) return Promise.reject(new GatewayError('UNAVAILABLE', 'The gateway is stopping'));
      if (accepted.size >= MAX_WAITING)
        return Promise.reject(new GatewayError('UNAVAILABLE', 'Too many writes wait', { retryAfterMs: 500 }));
      const lane = laneOf(args);
      const acceptedAt = performance.now();
      const work = () => write(name, args, slot, acceptedAt);
      return accept(lane === undefined ? work() : lanes.run(lane, work)) as Promise<never>;
    },
    async read(name: ReadName, args: unknown) {
      if (closed) throw new GatewayError('UNAVAILABLE', 'The gateway is stopping');
      const operation = reads[name] as (args: unknown, dialect: Dialect) => Operation<never>;
      try {
        return await accept(run(operation(args, 'postgres')));
      } catch (error) {
        throw toGatewayError(toFailure(error));
      }
    },
    check: async () => fenced?.message ?? (closed ? undefined : await probe.ask()),
    async inspect() {
      const { rows } = await pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
      return { integrity: { ok: true }, bytes: rows[0]?.bytes ?? 0 };
    },
    close() {
      closed ??= finish();
      return closed;
    },
  };
}

async function openPool(url: string, timeouts: Timeouts, sockets: Sockets, listener: StoreListener): Promise<Pool> {
  const { pg, types } = await loadPg();
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: timeouts.connectMs,
    idleTimeoutMillis: 60_000,
    statement_timeout: timeouts.statementMs,
    query_timeout: timeouts.answerMs,
    // A gateway that hangs in a transaction must not keep the next one from taking over for ever.
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    stream: () => sockets.open(),
    application_name: 'tenon',
    types,
  });
  // An idle connection that breaks must not end the process; the next query opens another.
  pool.on('error', (error) => listener.health({ ok: false, reason: `PostgreSQL: ${error.message}` }));
  // Nor must one that breaks between being handed out and being used: whoever uses it finds it broken.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** One transaction. Without `events` they are stored, but their positions were lost with the connection. */
async function transact<Result>(
  { pool, place, bootId, outcomeMs }: { pool: Pool; place: number; bootId: string; outcomeMs: number },
  operation: Operation<Result>,
  effects: Effects,
): Promise<{ value: Result; events?: StoredEvent[] }> {
  const mark = randomId();
  const outcome = await withClient(pool, async (client, discard) => {
    let transaction: string;
    let value: Result;
    try {
      const begun = await begin(client, place, mark);
      transaction = begun.transaction;
      if (begun.bootId !== bootId) await drive(client, expectWriter(bootId), noEffects());
      value = await drive(client, operation, effects);
    } catch (error) {
      // On a connection that is lost the rollback would wait too; PostgreSQL rolls back when it is closed.
      if (!isConnectionLoss(error)) await client.query('rollback').catch(discard);
      throw error;
    }
    faultpoint('postgres.before-commit');
    try {
      return { value, events: await commit(client, effects.emitted) };
    } catch (error) {
      discard(error as Error);
      if (!isConnectionLoss(error)) throw error;
      return { value, lost: { transaction, error } };
    }
  });
  // Only after the broken connection was given back: all others may be broken too, and the pool is bounded.
  if (outcome.lost) {
    const { transaction, error } = outcome.lost;
    if (!(await wasCommitted(pool, { transaction, place, mark, waitMs: outcomeMs }))) throw error;
  }
  faultpoint('postgres.after-commit');
  return outcome;
}

/**
 * Leaves a mark at this place and says which transaction this is, so that its end can be looked up, and who may write. The
 * lock comes first: whoever takes the place of this gateway waits for this transaction, or is seen by it.
 */
async function begin(client: PoolClient, place: number, mark: string): Promise<{ transaction: string; bootId: string | null }> {
  const answers = await client.query(`begin;
    select pg_advisory_xact_lock_shared(${WRITER_LOCK});
    insert into commit_marks (place, mark) values (${place}, '${mark}') on conflict (place) do update set mark = excluded.mark;
    select pg_current_xact_id()::text as transaction, (select boot_id from writer where id = 1) as "bootId"`);
  const [, , , named] = answers as unknown as [unknown, unknown, unknown, { rows: [{ transaction: string; bootId: string | null }] }];
  return named.rows[0];
}

/** From here on no other gateway commits: those that were at it have ended, and the next ones find this row. */
async function claim(pool: Pool, bootId: string, at: number): Promise<void> {
  await withClient(pool, async (client, discard) => {
    try {
      await client.query(`begin; select pg_advisory_xact_lock(${WRITER_LOCK})`);
      await drive(client, claimWriter({ bootId, pid: process.pid, lockId: '', at }), noEffects());
      await client.query('commit');
    } catch (error) {
      discard(error as Error);
      if ((error as { code?: string }).code !== CANCELLED) throw error;
      throw new StoreOpenError('locked', 'Another gateway is still writing to this PostgreSQL database; stop it first', error);
    }
  });
}

/** By `statement_timeout`: somebody kept the lock for too long. */
const CANCELLED = '57014';

/**
 * Numbers the events, writes them and commits, in one message: the row that everybody takes positions from is locked
 * only while PostgreSQL itself is at work, never while the network is.
 */
async function commit(client: PoolClient, emitted: readonly EmitStep[]): Promise<StoredEvent[]> {
  if (emitted.length === 0) {
    await client.query('commit');
    return [];
  }
  const literal = (value: SqlValue) => (typeof value === 'string' ? client.escapeLiteral(value) : String(value));
  const rows = emitted.map(({ event, payload, sessionKey, at }, index) =>
    [index + 1, event, payload, sessionKey, at].map(literal).join(', '),
  );
  const [inserted] = (await client.query(`
    with positions as (update stream set head = head + ${emitted.length} where id = 1 returning head)
    insert into events (seq, event, payload, session_key, at)
    select head - ${emitted.length} + n, e, p, s, a from positions, (values (${rows.join('), (')})) as t(n, e, p, s, a) returning seq;
    commit`)) as unknown as [{ rows: { seq: number }[] }];
  return emitted.map(({ event, payload, sessionKey }, index) => ({ seq: inserted.rows[index]?.seq ?? 0, event, payload, sessionKey }));
}

/**
 * Waits until PostgreSQL says that the transaction has ended, then looks for its mark. Its number alone would not do:
 * after a crash PostgreSQL gives numbers again that it had given to transactions which left no trace.
 */
async function wasCommitted(
  pool: Pool,
  { transaction, place, mark, waitMs }: { transaction: string; place: number; mark: string; waitMs: number },
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline && !pool.ending) {
    try {
      const { rows } = await pool.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [transaction]);
      if (rows[0]?.status !== 'in progress') {
        const found = await pool.query('select from commit_marks where place = $1 and mark = $2', [place, mark]);
        return found.rowCount === 1;
      }
    } catch (error) {
      if (isOfTheFuture(error)) return false;
      if (!isConnectionLoss(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  refuse('STORAGE', 'PostgreSQL went away during the commit; repeat with the same idempotency key', { code: 'OUTCOME_UNKNOWN' });
}

async function drive<Result>(client: ClientBase, operation: Operation<Result>, effects: Effects): Promise<Result> {
  let next = operation.next();
  while (!next.done) {
    const step = next.value;
    if (step.kind === 'query') {
      next = operation.next(await query(client, render(step, 'postgres')));
      continue;
    }
    if (step.kind === 'emit') effects.emitted.push(step);
    else effects.auditHead = step.head;
    next = operation.next({ rows: [], changed: 0 });
  }
  return next.value;
}

const statementNames = new Map<string, string>();

async function query(client: ClientBase, { text, values }: { text: string; values: readonly unknown[] }): Promise<QueryResult> {
  let name = statementNames.get(text);
  // A search is planned anew each time: the plan that suits any words suits rare ones badly.
  if (name === undefined && statementNames.size < 512 && !text.includes('::tsquery')) {
    name = `s${statementNames.size}`;
    statementNames.set(text, name);
  }
  const result = await client.query<Row>({ text, values: values as unknown[], ...(name === undefined ? {} : { name }) });
  return { rows: result.rows, changed: result.rowCount ?? 0 };
}

/** A connection for the time of the work. One that broke, or that the work discards, is not used again. */
async function withClient<Result>(
  pool: Pool,
  work: (client: PoolClient, discard: (reason: Error) => void) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const discard = (reason: Error) => {
    broken = reason;
  };
  client.on('error', discard);
  try {
    return await work(client, discard);
  } catch (error) {
    if (isConnectionLoss(error) || isLeftAborted(error)) broken = error as Error;
    throw error;
  } finally {
    client.off('error', discard);
    client.release(broken);
  }
}

interface Guard {
  isHeld(): boolean;
  release(): void;
}

/** Held on a connection of its own for as long as it lives; taken again when PostgreSQL comes back. */
async function holdGatewayLock(pool: Pool, listener: StoreListener): Promise<Guard> {
  let released = false;
  /** Gives back the connection that holds the lock. */
  let held: (() => void) | undefined;

  async function take(): Promise<void> {
    const client = await connectFirst(pool);
    let lost: Error | undefined;
    const giveBack = (reason = new Error('given back')) => {
      if (!lost) client.release(true);
      lost ??= reason;
    };
    // Stays for as long as the connection does: an error that comes after it was given back must not end the process.
    client.on('error', (error) => {
      giveBack(error);
      if (held !== giveBack) return;
      held = undefined;
      listener.health({ ok: false, reason: `PostgreSQL: ${error.message}` });
      retry();
    });
    try {
      const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [GATEWAY_LOCK]);
      if (!rows[0]?.taken) throw new StoreOpenError('locked', 'Another gateway is running on this PostgreSQL database; stop it first');
      if (lost) throw lost;
      if (released) giveBack();
      else held = giveBack;
    } catch (error) {
      giveBack();
      throw error;
    }
  }
  function retry(): void {
    if (released) return;
    take().catch(() => setTimeout(retry, 500).unref());
  }
  await take();
  return {
    isHeld: () => held !== undefined,
    release() {
      released = true;
      const giveBack = held;
      held = undefined;
      giveBack?.();
    },
  };
}

async function connectFirst(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw unreachable(error);
  }
}

async function migrate({ url, home, now, trace }: PostgresOptions): Promise<void> {
  await withOwnClient(url, async (client) => {
    await client.query('begin');
    try {
      await client.query(
        'create table if not exists tenon_schema (version integer primary key, name text not null, applied_at timestamptz not null default now())',
      );
      await client.query('lock table tenon_schema in exclusive mode');
      const { rows } = await client.query<{ version: number }>('select coalesce(max(version), 0) as version from tenon_schema');
      const version = rows[0]?.version ?? 0;
      if (version === 0 && trace !== undefined)
        throw new StoreOpenError('missing', missingText('in the PostgreSQL database that store.url names', trace));
      if (version > schemaVersion) {
        throw new StoreOpenError(
          'newer',
          `The database was written by a newer Tenon (schema ${version}, this one knows ${schemaVersion}); it was left as it is. Update Tenon`,
        );
      }
      if (home && version > 0 && version < schemaVersion) {
        const { copyBeforeMigrating } = await import('./backup-postgres.ts');
        await copyBeforeMigrating({ url, home, version, now });
      }
      for (const migration of migrationsAfter(version, 'postgres')) {
        for (const statement of migration.statements) await client.query(statement);
        await client.query('insert into tenon_schema (version, name) values ($1, $2)', [migration.version, migration.name]);
        faultpoint('postgres.migrating');
      }
      if (version === 0) await drive(client, beginStream(randomId()), noEffects());
      await client.query('commit');
    } catch (error) {
      await client.query('rollback').catch(() => {});
      throw error;
    }
  });
}

function describe(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `postgres://${hostname}${port ? `:${port}` : ''}${pathname}`;
  } catch {
    return 'postgres';
  }
}

/** Deadlock, serialization failure. */
function isPassing(error: unknown): boolean {
  const code = (error as { code?: string }).code;
  return code === '40P01' || code === '40001';
}

/** The connection is in a transaction that failed before and was not rolled back. */
function isLeftAborted(error: unknown): boolean {
  return (error as { code?: string }).code === '25P02';
}

/** A transaction that left no trace before the crash: its number is not in use yet. */
function isOfTheFuture(error: unknown): boolean {
  return (error as { code?: string }).code === '22023';
}

function isConnectionLoss(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (code === undefined) return /connection|terminat|timeout|ended|calling end|not queryable/i.test(message);
  return /^(08|57P|53300|25P03)/.test(code) || /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENOENT)/.test(code);
}

/** PostgreSQL took the bytes, but did not answer in time. */
function isSilence(error: unknown): boolean {
  return (
    error instanceof Error && /^(Query read timeout|timeout expired|Connection terminated due to connection timeout)$/.test(error.message)
  );
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function toFailure(error: unknown): PlainFailure {
  const code = (error as { code?: string }).code ?? '';
  // 53: out of disk, memory or connections. 57: cancelled or shutting down. 58: system error. 25006: read-only.
  const isAway = isConnectionLoss(error) || /^(53|57|58|25006)/.test(code) || isPassing(error) || isLeftAborted(error);
  return failureOf(error, isAway ? 'The database is not available' : undefined);
}
