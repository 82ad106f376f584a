// The writer thread: what arrives together is committed together (sqlite-commit.ts), with one fsync. The main thread keeps
// reading and serving meanwhile.
import { parentPort } from 'node:worker_threads';
import { faultpoint } from '../kernel/fault.ts';
import { giveBackSoon } from '../kernel/give-back.ts';
import type { WriteRequest } from './operations.ts';
import { type CommitDone, createCommitter } from './sqlite-commit.ts';
import { integrityFault, type OpenOptions, openDatabase, openReader } from './sqlite-file.ts';
import { watchPlaces } from './sqlite-place.ts';
import type { StreamState } from './stream.ts';
import type { Writer } from './writer.ts';

export type WriterOptions = OpenOptions & { readonly writer: Writer };

export type ToWriter =
  | { readonly kind: 'open'; readonly options: WriterOptions }
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

function serve(options: WriterOptions): void {
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
  const misplaced = watchPlaces(options.file);
  const commit = createCommitter(database, stream.head, options.maxBytes, { bootId: options.writer.bootId, misplaced });
  port?.on('message', (message: ToWriter) => {
    if (message.kind === 'batch') {
      const done = commit(message.requests);
      faultpoint('writer.before-answer');
      reply(done);
      return;
    }
    if (message.kind !== 'close') return;
    closeDatabase(database, misplaced() === undefined);
    reply({ kind: 'closed' });
    port?.close();
  });
  reply({ kind: 'ready', stream });
}

function closeDatabase(database: ReturnType<typeof openDatabase>['database'], isInPlace: boolean): void {
  try {
    // Leaves no WAL behind after a clean stop. Failing that, the WAL is read at the next start. Files that were moved stay as
    // they are: somebody else may have opened them there.
    if (isInPlace) database.exec('pragma wal_checkpoint(truncate)');
  } catch {}
  database.close();
}
