// Asks PostgreSQL a short question over a connection of its own, with a deadline of its own: one that hangs is noticed long
// before a write runs into its timeout. One question at a time; a connection that did not answer is dropped.
import type { Client } from 'pg';
import { createSockets, loadPg } from './postgres-connect.ts';

export interface Probe {
  /** What is wrong; undefined when nothing. `question` gets a connection that answers. */
  ask(): Promise<string | undefined>;
  close(): void;
}

/** Two in a row, one to connect and one to ask, end well within the two seconds that a frozen server may go unnoticed. */
const ANSWER_MS = 1_000;

const TOO_MANY_CONNECTIONS = '53300';

export function createProbe(url: string, question: (client: Client) => Promise<void>): Probe {
  const sockets = createSockets();
  let client: Client | undefined;
  let underWay: Promise<string | undefined> | undefined;
  let isClosed = false;

  async function connect(): Promise<Client> {
    const { pg, types } = await loadPg();
    const made = new pg.Client({
      connectionString: url,
      stream: () => sockets.open(),
      keepAlive: true,
      application_name: 'tenon',
      types,
    });
    // What is under way fails as well; without a listener the error would end the process.
    made.on('error', () => {
      if (client === made) client = undefined;
    });
    await made.connect();
    if (isClosed) sockets.destroy();
    return made;
  }

  function drop(): void {
    client = undefined;
    sockets.destroy();
  }

  async function askOnce(): Promise<void> {
    client ??= await connect();
    await question(client);
  }

  async function answer(): Promise<string | undefined> {
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => late.resolve('late'), ANSWER_MS);
    try {
      const work = askOnce();
      // Whatever becomes of it after the deadline.
      work.catch(() => {});
      if ((await Promise.race([work, late.promise])) !== 'late') return undefined;
      drop();
      return 'PostgreSQL does not answer';
    } catch (error) {
      drop();
      // It did answer: only this question, which is one connection more, has no place.
      if ((error as { code?: string }).code === TOO_MANY_CONNECTIONS) return undefined;
      return `PostgreSQL: ${(error as Error).message}`;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    ask() {
      if (isClosed) return Promise.resolve(undefined);
      underWay ??= answer().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    close() {
      isClosed = true;
      drop();
    },
  };
}
