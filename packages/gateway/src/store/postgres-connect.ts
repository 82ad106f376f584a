// How this gateway reaches PostgreSQL: the driver, loaded only when it is needed, and connections that can be ended even
// when PostgreSQL no longer answers.
import { Socket } from 'node:net';
import type { Client } from 'pg';
import { StoreOpenError } from './failure.ts';

const CONNECT_MS = 5_000;

/** A lock that only gateways take, so that two never write one store. */
export const GATEWAY_LOCK = 0x544e4f4e;

/** Shared by the transactions of the gateway that writes; whoever takes its place waits for them to end. */
export const WRITER_LOCK = GATEWAY_LOCK + 1;

/** Positions, times and counts are whole numbers that a double holds exactly: they come as numbers, not as text. */
export async function loadPg() {
  const { default: pg } = await import('pg');
  const getTypeParser = (oid: number, format?: 'text') => (oid === 20 ? Number : pg.types.getTypeParser(oid, format));
  return { pg, types: { getTypeParser } as typeof pg.types };
}

/** A connection apart from the pool, for work that may take as long as it takes. */
export async function withOwnClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const { pg, types } = await loadPg();
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, keepAlive: true, types });
  // The statement that is under way fails as well; without a listener the error would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw unreachable(error);
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function unreachable(error: unknown): StoreOpenError {
  const { message, code } = error as { message?: string; code?: string };
  return new StoreOpenError('unreachable', `Cannot reach PostgreSQL: ${message || code}; check store.url`, error);
}

export interface Sockets {
  /** Makes the socket of one connection. */
  open(): Socket;
  /** Resolves when PostgreSQL has closed those that are open now. */
  closed(): Promise<unknown>;
  /** Without waiting for PostgreSQL. */
  destroy(): void;
}

/** All sockets of a pool: the pool itself says goodbye and forgets, but a socket that gets no answer keeps the process. */
export function createSockets(): Sockets {
  const sockets = new Map<Socket, Promise<void>>();
  return {
    open() {
      const socket = new Socket();
      const closing = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      sockets.set(socket, closing);
      void closing.then(() => sockets.delete(socket));
      return socket;
    },
    closed: () => Promise.all(sockets.values()),
    destroy() {
      for (const socket of sockets.keys()) socket.destroy();
    },
  };
}
