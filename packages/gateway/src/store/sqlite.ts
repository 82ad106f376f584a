// The embedded engine: a writer thread behind a queue, and a read connection on this thread.
import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { GatewayError } from '@tenon/protocol';
import type { AnswerSlot } from './answers.ts';
import { reads, type ReadName, type WriteRequest } from './operations.ts';
import { schemaVersion } from './migrations.ts';
import type { Dialect, Operation } from './sql.ts';
import { randomId } from '../kernel/ids.ts';
import { type OpenOptions, openReader } from './sqlite-file.ts';
import { watchPlaces } from './sqlite-place.ts';
import { createSqliteRunner, type RunEffects, storageReason, toFailure } from './sqlite-run.ts';
import { takeWriterThread } from './sqlite-thread.ts';
import type { WriteOutcome } from './sqlite-commit.ts';
import type { FromWriter, ToWriter } from './sqlite-writer.ts';
import { StoreOpenError } from './failure.ts';
import { toGatewayError } from './gateway-error.ts';
import type { Store, StoreListener } from './store.ts';
import { expectWriter, Fenced } from './writer.ts';

/** Operations of one transaction at most: bounds the wait behind it. */
const MAX_BATCH = 512;
/** Operations that may wait for the writer. */
const MAX_QUEUE = 20_000;

interface Waiting extends WriteRequest {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** `lockId`: of the lock that is held, see lock.ts. */
export async function openSqliteStore(
  { lockId = '', ...options }: Omit<OpenOptions, 'writer'> & { readonly lockId?: string },
  listener: StoreListener,
): Promise<Store> {
  const worker = takeWriterThread();
  const bootId = randomId();
  const writer = { bootId, pid: process.pid, lockId, at: options.now };
  worker.postMessage({ kind: 'open', options: { ...options, writer } } satisfies ToWriter);
  const first = await new Promise<FromWriter>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new StoreOpenError('storage', `The writer thread ended with ${code} before it was ready`)));
  });
  if (first.kind !== 'ready') {
    const { reason, message } = first as Extract<FromWriter, { kind: 'unusable' }>;
    throw new StoreOpenError(reason as StoreOpenError['reason'], message);
  }
  const database = await openBeside(worker, options.file);
  const reader = createSqliteRunner(database);
  const misplaced = watchPlaces(options.file);
  const stats = { commits: 0, operations: 0, refused: 0, failed: 0 };

  let queue: Waiting[] = [];
  let underWay: Waiting[] = [];
  let flushing = false;
  let closed: PromiseWithResolvers<void> | undefined;
  let broken: Error | undefined;
  /** Why this gateway may not write any more. */
  let fenced: string | undefined;

  function flush(): void {
    flushing = false;
    if (underWay.length > 0 || queue.length === 0) return;
    underWay = queue.length > MAX_BATCH ? queue.splice(0, MAX_BATCH) : queue;
    if (underWay === queue) queue = [];
    worker.postMessage({
      kind: 'batch',
      requests: underWay.map(({ name, args, slot }) => ({ name, args, slot })),
    } satisfies ToWriter);
  }

  function finish(done: Extract<FromWriter, { kind: 'done' }>): void {
    const finished = underWay;
    underWay = [];
    flush();
    stats.commits++;
    stats.operations += finished.length;
    if (done.auditHead) listener.auditHead(done.auditHead);
    if (done.fenced !== undefined) fence(done.fenced);
    finished.forEach((waiting, index) => {
      settle(waiting, done.outcomes[index] as WriteOutcome);
    });
    if (done.events.length > 0) listener.events(done.events);
    if (closed && queue.length === 0 && underWay.length === 0) closeWriter();
  }

  function fence(reason: string): void {
    if (fenced !== undefined) return;
    fenced = reason;
    listener.health({ ok: false, reason, isOver: true });
  }

  /** The reader first: the last connection to close removes the write-ahead log. */
  function closeWriter(): void {
    database.close();
    worker.postMessage({ kind: 'close' } satisfies ToWriter);
  }

  function settle(waiting: Waiting, outcome: WriteOutcome): void {
    if (outcome.ok) {
      // A small write may still fit into a store that is full: only the probe knows better.
      if (waiting.name === 'probe') listener.health({ ok: true });
      waiting.resolve(outcome.value as never);
      return;
    }
    if (outcome.failure.kind === 'refused') stats.refused++;
    else stats.failed++;
    if (outcome.failure.kind === 'storage' && fenced === undefined) listener.health({ ok: false, reason: outcome.failure.message });
    waiting.reject(toGatewayError(outcome.failure));
  }

  worker.on('message', (message: FromWriter) => {
    if (message.kind === 'done') finish(message);
    else if (message.kind === 'closed') closed?.resolve();
  });
  // The thread has no reason to end by itself: whoever waits must not wait for ever.
  const end = (error: Error) => {
    broken = error;
    listener.health({ ok: false, reason: `the writer thread ended: ${error.message}` });
    for (const waiting of [...underWay, ...queue])
      waiting.reject(new GatewayError('STORAGE', 'The store is not available', { cause: error }));
    queue = [];
    underWay = [];
    closed?.resolve();
  };
  worker.on('error', end);
  worker.on('exit', (code) => {
    if (!closed) end(new Error(`exit code ${code}`));
  });

  return {
    engine: 'sqlite',
    location: options.file,
    schemaVersion,
    stream: first.stream,
    stats,
    write(name, args, slot?: AnswerSlot) {
      if (broken) return Promise.reject(new GatewayError('STORAGE', 'The store is not available', { cause: broken }));
      if (fenced !== undefined) return Promise.reject(new GatewayError('STORAGE', fenced, { details: { code: 'FENCED' } }));
      if (closed) return Promise.reject(new GatewayError('UNAVAILABLE', 'The gateway is stopping'));
      if (queue.length >= MAX_QUEUE) return Promise.reject(new GatewayError('UNAVAILABLE', 'Too many writes wait', { retryAfterMs: 500 }));
      return new Promise((resolve, reject) => {
        queue.push({ name, args, slot, resolve, reject });
        // After the sockets that are readable now have been read: what they ask for shares one commit.
        if (!flushing && underWay.length === 0) {
          flushing = true;
          setImmediate(flush);
        }
      });
    },
    async read<Name extends ReadName>(name: Name, args: unknown) {
      const operation = reads[name] as (args: unknown, dialect: Dialect) => Operation<never>;
      try {
        return reader.run(operation(args, 'sqlite'), NO_EFFECTS);
      } catch (error) {
        throw toGatewayError(toFailure(error));
      }
    },
    async check() {
      if (closed || broken) return undefined;
      const wrong = fenced ?? misplaced();
      if (wrong !== undefined) return wrong;
      try {
        reader.run(expectWriter(bootId), NO_EFFECTS);
      } catch (error) {
        if (error instanceof Fenced) fence(error.message);
        return toFailure(error).message;
      }
      return undefined;
    },
    async inspect() {
      const fault = await checkInThread(options.file);
      const wal = `${options.file}-wal`;
      const disk = await statfs(dirname(options.file));
      return {
        integrity: fault ? { ok: false, reason: fault } : { ok: true },
        bytes: statSync(options.file).size,
        walBytes: existsSync(wal) ? statSync(wal).size : 0,
        freeBytes: disk.bavail * disk.bsize,
      };
    },
    async close() {
      if (closed) return closed.promise;
      closed = Promise.withResolvers();
      if (broken) closed.resolve();
      else if (queue.length === 0 && underWay.length === 0) closeWriter();
      else flush();
      await closed.promise;
      await worker.terminate();
    },
  };
}

/** The reader, or neither: a thread left alone would keep the process alive. */
async function openBeside(worker: Worker, file: string): Promise<DatabaseSync> {
  try {
    return openReader(file);
  } catch (error) {
    await worker.terminate();
    throw new StoreOpenError('storage', `Cannot open ${file}: ${storageReason(error) ?? (error as Error).message}`, error);
  }
}

const NO_EFFECTS: RunEffects = { emitted: [], auditHead: undefined };

async function checkInThread(file: string): Promise<string | undefined> {
  const worker = takeWriterThread();
  try {
    const answer = new Promise<FromWriter>((resolve, reject) => worker.once('message', resolve).once('error', reject));
    worker.postMessage({ kind: 'check', file } satisfies ToWriter);
    const checked = await answer;
    return checked.kind === 'checked' ? checked.fault : `the check was answered with "${checked.kind}"`;
  } catch (error) {
    return `it cannot be checked: ${(error as Error).message}`;
  } finally {
    await worker.terminate();
  }
}
