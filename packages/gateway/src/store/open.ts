// Opens the store that the settings name.
import { join } from 'node:path';
import { openSqliteStore } from './sqlite.ts';
import { dropWriterThread } from './sqlite-thread.ts';
import type { Store, StoreListener } from './store.ts';

export interface StoreSettings {
  readonly home: string;
  readonly engine: 'sqlite' | 'postgres';
  readonly url: string;
  readonly maxBytes: number;
  readonly now: number;
}

export const STORE_FILE = 'tenon.db';

export async function openStore(settings: StoreSettings, listener: StoreListener): Promise<Store> {
  if (settings.engine === 'sqlite') {
    return openSqliteStore({ file: join(settings.home, STORE_FILE), maxBytes: settings.maxBytes, now: settings.now }, listener);
  }
  dropWriterThread();
  const { openPostgresStore } = await import('./postgres.ts');
  return openPostgresStore({ url: settings.url, home: settings.home, now: settings.now }, listener);
}
