// A store in memory, on the thread of whoever opens it: the same operations, migrations and commits as on disk, for tests of
// plugins that must take milliseconds. The database outlives the store, so that a restart finds what was there.
import type { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '@tenon/protocol';
import { toGatewayError } from './gateway-error.ts';
import { schemaVersion } from './migrations.ts';
import { reads, type ReadName, type WriteRequest } from './operations.ts';
import type { Dialect, Operation } from './sql.ts';
import { createCommitter } from './sqlite-commit.ts';
import { integrityFault } from './sqlite-file.ts';
import { createSqliteRunner, toFailure } from './sqlite-run.ts';
import type { Store, StoreListener } from './store.ts';
import { streamState } from './stream.ts';

interface Waiting extends WriteRequest {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

const MAX_QUEUE = 20_000;

/** Closing the database is for whoever made it. */
export function openMemoryStore(database: DatabaseSync, listener: StoreListener): Store {
  const reader = createSqliteRunner(database);
  const stream = reader.run(streamState({}), { emitted: [], auditHead: undefined });
  const commit = createCommitter(database, stream.head, 0);
  const stats = { commits: 0, operations: 0, refused: 0, failed: 0 };
  let queue: Waiting[] = [];
  let flushed: Promise<void> | undefined;
  let isClosed = false;

  function flush(): void {
    flushed = undefined;
    const taken = queue;
    queue = [];
    const { outcomes, events, auditHead } = commit(taken.map(({ name, args, slot }) => structuredClone({ name, args, slot })));
    stats.commits++;
    stats.operations += taken.length;
    if (auditHead) listener.auditHead(auditHead);
    for (const [index, waiting] of taken.entries()) {
      const outcome = outcomes[index]!;
      if (outcome.ok) {
        waiting.resolve(structuredClone(outcome.value) as never);
        continue;
      }
      stats[outcome.failure.kind === 'refused' ? 'refused' : 'failed']++;
      waiting.reject(toGatewayError(outcome.failure));
    }
    if (events.length > 0) listener.events(events);
  }

  return {
    engine: 'sqlite',
    location: ':memory:',
    schemaVersion,
    stream,
    stats,
    write(name, args, slot) {
      if (isClosed) return Promise.reject(new GatewayError('UNAVAILABLE', 'The gateway is stopping'));
      if (queue.length >= MAX_QUEUE) return Promise.reject(new GatewayError('UNAVAILABLE', 'Too many writes wait', { retryAfterMs: 500 }));
      return new Promise((resolve, reject) => {
        queue.push({ name, args, slot, resolve, reject });
        // As on disk: what is asked for at the same time shares one commit.
        flushed ??= new Promise((done) => setImmediate(() => done(flush())));
      });
    },
    async read<Name extends ReadName>(name: Name, args: unknown) {
      const operation = reads[name] as (args: unknown, dialect: Dialect) => Operation<never>;
      try {
        return reader.run(operation(args, 'sqlite'), { emitted: [], auditHead: undefined });
      } catch (error) {
        throw toGatewayError(toFailure(error));
      }
    },
    check: async () => undefined,
    async inspect() {
      const fault = integrityFault(database);
      return { integrity: fault ? { ok: false, reason: fault } : { ok: true }, bytes: 0 };
    },
    async close() {
      isClosed = true;
      await flushed;
    },
  };
}
