// A line to PostgreSQL that a test can hold and cut at the one moment that matters: when a COMMIT is on its way.
import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/**
 * hold: the commit waits here. cut-before: PostgreSQL never sees it, and the line breaks. cut-after: PostgreSQL answers it,
 * but the answer is lost with the line.
 */
export type AtCommit = 'pass' | 'hold' | 'cut-before' | 'cut-after';

export interface PostgresLink extends AsyncDisposable {
  readonly url: string;
  /** For the next commit; the ones after it pass. */
  atCommit: AtCommit;
  /** When a commit was held or cut. */
  caught(): Promise<void>;
  /** Cuts every line, and takes no new one until it is opened. */
  cut(): void;
  open(): void;
}

export async function openPostgresLink(target: string): Promise<PostgresLink> {
  const { hostname, port } = new URL(target);
  const lines = new Set<Socket>();
  let isOpen = true;
  let atCommit: AtCommit = 'pass';
  let caught = Promise.withResolvers<void>();

  const server: Server = createServer((client) => {
    if (!isOpen) return void client.destroy();
    const postgres = connect(Number(port), hostname);
    const cutLine = () => {
      client.destroy();
      postgres.destroy();
    };
    for (const socket of [client, postgres]) {
      lines.add(socket);
      socket.on('error', cutLine);
      socket.on('close', () => {
        lines.delete(socket);
        cutLine();
      });
    }
    let losesAnswer = false;
    client.on('data', (chunk) => {
      if (atCommit === 'pass' || !isCommit(chunk)) return void postgres.write(chunk);
      const mode = atCommit;
      atCommit = 'pass';
      if (mode === 'cut-after') {
        losesAnswer = true;
        postgres.write(chunk);
        return;
      }
      if (mode === 'cut-before') cutLine();
      caught.resolve();
    });
    postgres.on('data', (chunk) => {
      if (!losesAnswer) return void client.write(chunk);
      cutLine();
      caught.resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);

  function cut(): void {
    isOpen = false;
    for (const socket of lines) socket.destroy();
  }
  return {
    url: url.href,
    get atCommit() {
      return atCommit;
    },
    set atCommit(mode) {
      caught = Promise.withResolvers();
      atCommit = mode;
    },
    caught: () => caught.promise,
    cut,
    open() {
      isOpen = true;
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A simple query (`Q`) that ends a transaction. */
function isCommit(chunk: Buffer): boolean {
  return chunk[0] === 0x51 && /\bcommit\0$/.test(chunk.toString('latin1'));
}
