// Opens the store that the settings name.
import { join } from 'node:path';
import { StoreOpenError } from './failure.ts';
import { openSqliteStore } from './sqlite.ts';
import { dropWriterThread } from './sqlite-thread.ts';
import { STORE_FILE } from './store-file.ts';
import { lackOf, readStreamHead } from './stream-head.ts';
import type { Store, StoreListener } from './store.ts';

export { STORE_FILE } from './store-file.ts';

export interface StoreSettings {
  readonly home: string;
  readonly engine: 'sqlite' | 'postgres';
  readonly url: string;
  readonly maxBytes: number;
  readonly now: number;
  /** Commits that are lost were given up. */
  readonly lossAccepted?: true;
  /** Of the lock on the home that whoever opens it holds. */
  readonly lockId?: string;
  /** What tells that there was a store here: then none is made. */
  readonly trace?: string;
}

export async function openStore(settings: StoreSettings, listener: StoreListener): Promise<Store> {
  const found = settings.lossAccepted || settings.home === '' ? undefined : readStreamHead(settings.home);
  const kept = found === 'unreadable' ? undefined : found;
  const traced = settings.trace === undefined ? {} : { trace: settings.trace };
  if (settings.engine === 'sqlite') {
    const { home, maxBytes, now, lockId = '' } = settings;
    return openSqliteStore({ file: join(home, STORE_FILE), maxBytes, now, lockId, ...(kept ? { kept } : {}), ...traced }, listener);
  }
  dropWriterThread();
  const { openPostgresStore } = await import('./postgres.ts');
  const store = await openPostgresStore({ url: settings.url, home: settings.home, now: settings.now, ...traced }, listener);
  const lack = lackOf(kept, store.stream, store.schemaVersion);
  if (lack === undefined) return store;
  await store.close();
  throw new StoreOpenError(
    'damaged',
    `${store.location} is not as it was left: ${lack}. Restore a backup with: tenon restore <backup>, or go on with what is there with: tenon salvage`,
  );
}
