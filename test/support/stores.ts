// The store itself, on either engine, without a gateway around it: a temporary home or a database of its own. Tests that are not
// about the store take the one in memory: the same operations and commits, without a file, a thread and an fsync each.
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import type { AuditHead } from '../../packages/gateway/src/store/sql.ts';
import { openMemoryStore } from '../../packages/gateway/src/store/memory.ts';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import { createMemoryDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import type { StoredEvent } from '../../packages/gateway/src/store/stream.ts';
import { temporaryHome } from './gateway.ts';
import { createDatabase } from './postgres.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type Engine = (typeof engines)[number];

/** Where a store is kept. `memory` is SQLite without a disk. */
export type Keeping = Engine | 'memory';

const FOREVER = 1e12;

/** A sweep that removes nothing; a test shortens what it is about. */
export const keepAll = {
  answerMs: FOREVER,
  eventMs: FOREVER,
  eventCount: FOREVER,
  auditCount: FOREVER,
  credentialMs: FOREVER,
  runMs: FOREVER,
  approvalMs: FOREVER,
  transcriptMs: FOREVER,
  usageMs: FOREVER,
  occurrenceMs: FOREVER,
};

export interface StoreWorld extends AsyncDisposable {
  readonly engine: Engine;
  readonly home: string;
  readonly url: string;
  readonly store: Store;
  /** What the store has told its listener since it was opened. */
  readonly told: Told;
  /** Closes the store and opens it again. */
  reopen(): Promise<void>;
  /** A second opening of the same place. */
  openAnother(): Promise<Store>;
}

export interface Told {
  readonly events: StoredEvent[];
  readonly auditHeads: AuditHead[];
  readonly health: ({ ok: true } | { ok: false; reason: string })[];
}

export async function openWorld(keeping: Keeping, settings: { maxBytes?: number } = {}): Promise<StoreWorld> {
  const home = temporaryHome();
  const engine = keeping === 'memory' ? 'sqlite' : keeping;
  const database = engine === 'postgres' ? await createDatabase() : undefined;
  const memory = keeping === 'memory' ? createMemoryDatabase(1) : undefined;
  const url = database?.url ?? '';
  let told: Told;
  let store: Store;

  async function open(told: Told): Promise<Store> {
    const listener = {
      events: (events: readonly StoredEvent[]) => told.events.push(...events),
      auditHead: (head: AuditHead) => told.auditHeads.push(head),
      health: (state: Told['health'][number]) => told.health.push(state),
    };
    if (memory) return openMemoryStore(memory, listener);
    return openStore({ home, engine, url, maxBytes: settings.maxBytes ?? 0, now: 1 }, listener);
  }
  const nothingTold = (): Told => ({ events: [], auditHeads: [], health: [] });
  async function openHere(): Promise<void> {
    told = nothingTold();
    store = await open(told);
  }
  await openHere();

  return {
    engine,
    home,
    url,
    get store() {
      return store;
    },
    get told() {
      return told;
    },
    async reopen() {
      await store.close();
      await openHere();
    },
    openAnother: () => open(nothingTold()),
    async [Symbol.asyncDispose]() {
      await store.close();
      memory?.close();
      await database?.drop();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** One test per engine, each with a store of its own. */
export function onBothEngines(name: string, body: (world: StoreWorld) => Promise<void>): void {
  for (const engine of engines) {
    test(`${engine}: ${name}`, async () => {
      await using world = await openWorld(engine);
      await body(world);
    });
  }
}
