// Whether a store was here before: what is kept outside of it says so when the store itself is gone. Nobody then gets an empty one
// without asking for it.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../kernel/durable-file.ts';
import { AUDIT_HEAD_FILE, readAuditHead } from './audit-head.ts';
import { STORE_FILE } from './store-file.ts';
import { readStreamHead, STREAM_HEAD_FILE } from './stream-head.ts';

const LOG_FILE = `${STORE_FILE}-wal`;

/** What tells of it, in words; undefined in a home that never had one. */
export function traceOfStore(home: string): string | undefined {
  const audit = readAuditHead(home);
  if (audit === 'unreadable') return `${AUDIT_HEAD_FILE} cannot be read`;
  if (audit && audit.seq > 0) return `${AUDIT_HEAD_FILE} tells of one with ${audit.seq} audit records`;
  const stream = readStreamHead(home);
  if (stream === 'unreadable') return `${STREAM_HEAD_FILE} cannot be read`;
  if (stream && stream.head > 0) return `${STREAM_HEAD_FILE} tells of one with ${stream.head} events`;
  // SQLite would take it for the log of the new one.
  if (existsSync(join(home, LOG_FILE)) && !existsSync(join(home, STORE_FILE))) return `${LOG_FILE} is left of one`;
  return undefined;
}

/** For an operator who gives the earlier store up: its traces are kept under other names, which are given back. */
export function setTracesAside(home: string, at: number): string[] {
  const logs = existsSync(join(home, STORE_FILE)) ? [] : [LOG_FILE, `${STORE_FILE}-shm`];
  const kept = [AUDIT_HEAD_FILE, STREAM_HEAD_FILE, ...logs].filter((name) => existsSync(join(home, name)));
  const aside = kept.map((name) => [name, `${name}.before-new-store-${at}`] as const);
  for (const [name, other] of aside) renameSync(join(home, name), join(home, other));
  syncFolder(home);
  return aside.map(([, other]) => other);
}

/** `where`: such as "at ~/.tenon/tenon.db". */
export function missingText(where: string, trace: string): string {
  return `There is no store ${where}, but ${trace}. Put the store back, or restore a backup: tenon restore <backup>. To begin with an empty one: tenon new-store`;
}
