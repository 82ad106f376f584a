// The writer thread: what arrives together is committed together (sqlite-commit.ts), with one fsync. The main thread keeps
// reading and serving meanwhile.
import { parentPort } from 'node:worker_threads';
import { faultpoint } from '../kernel/fault.ts';
import { giveBackSoon } from '../kernel/give-back.ts';
import type { WriteRequest } from './operations.ts';
import { type CommitDone, createCommitter } from './sqlite-commit.ts';
import { integrityFault, type OpenOptions, openDatabase, openReader } from './sqlite-file.ts';
import type { StreamState } from './stream.ts';

export type ToWriter =
  | { readonly kind: 'open'; readonly options: OpenOptions }
  | { readonly kind: 'check'; readonly file: string }
  | { readonly kind: 'batch'; readonly requests: readonly WriteRequest[] }
  | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'ready'; readonly stream: StreamState }
  | { readonly kind: 'checked'; readonly fault: string | undefined }
  | { readonly kind: 'unusable'; readonly reason: string; readonly message: string }
  | CommitDone
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
