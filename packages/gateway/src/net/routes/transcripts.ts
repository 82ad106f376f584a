// Sessions as files: too large for a frame of the socket, so one comes as the body of a request and one goes as that of an
// answer.
import { once } from 'node:events';
import { type Entry, GatewayError, limits, matches, SessionKey } from '@tenon/protocol';
import { entryLine, headerLine, importLargeTranscript } from '../../agent/pi-jsonl.ts';
import { packEntries } from '../../store/entry-copies.ts';
import type { Store } from '../../store/store.ts';
import { json } from '../answer.ts';
import { textOf } from '../body.ts';
import { securityHeaders } from '../headers.ts';
import type { GuardedCall, Routes } from '../route.ts';

export const transcriptRoutes: Routes = {
  '/api/sessions/export': {
    method: 'GET',
    scope: 'operator.read',
    bound: 'own-session',
    async handle(call, { store }) {
      const key = call.query.get('key') ?? '';
      const { sessionKey = key } = call.principal;
      if (!matches(SessionKey, key) || sessionKey !== key)
        throw new GatewayError('NOT_FOUND', `Cannot find session "${key.slice(0, 256)}"`);
      const first = await readPage(store, key);
      await sendLines(call, first, (after) => readPage(store, key, after));
      return undefined;
    },
  },

  '/api/sessions/import': {
    method: 'POST',
    scope: 'operator.write',
    body: { maxBytes: limits.importBytes.value, types: ['application/jsonl', 'application/x-ndjson', 'application/x-jsonlines'] },
    async handle({ body, query }, { store, clock }) {
      const key = query.get('key') ?? '';
      const title = query.get('title') ?? undefined;
      if (!matches(SessionKey, key))
        throw new GatewayError('INVALID_REQUEST', 'key must be agent:<agentId>:<name>, such as agent:main:notes');
      if (title !== undefined && title.length > 512) throw new GatewayError('INVALID_REQUEST', 'title must be up to 512 characters');
      const { entries, leafId, skipped } = await importLargeTranscript(textOf(body));
      const fields = title === undefined ? {} : { title };
      const imported = { key, fields, entries: await packInSlices(entries), leafId, skipped, at: clock.now() };
      return json(200, await store.write('entries.import', imported));
    },
  },
};

const PAGE = 500;
const PAGE_BYTES = 4_000_000;

interface Page {
  readonly lines: readonly string[];
  readonly next?: number;
}

async function readPage(store: Store, key: string, after?: number): Promise<Page> {
  const page = await store.read('entries.export', { key, limit: PAGE, maxBytes: PAGE_BYTES, ...(after === undefined ? {} : { after }) });
  const header = after === undefined ? [headerLine(page.session)] : [];
  return { lines: [...header, ...page.entries.map(entryLine)], ...(page.next === undefined ? {} : { next: page.next }) };
}

/** One page is in memory at a time; the next one waits until the client has taken it. */
async function sendLines({ request, response, gone }: GuardedCall, first: Page, more: (after: number) => Promise<Page>): Promise<void> {
  response.writeHead(200, {
    ...securityHeaders(),
    'content-type': 'application/jsonl; charset=utf-8',
    'content-disposition': 'attachment; filename="session.jsonl"',
  });
  if (request.method === 'HEAD') return void response.end();
  for (let page = first; ; ) {
    if (!response.write(`${page.lines.join('\n')}\n`)) await once(response, 'drain', { signal: gone }).catch(() => {});
    if (page.next === undefined || gone.aborted) break;
    page = await more(page.next);
  }
  response.end();
}

const SLICE = 1_000;

/** A file may hold a hundred thousand entries: others get their turn in between. */
async function packInSlices(entries: readonly Entry[]): Promise<Uint8Array> {
  const packed: Uint8Array[] = [];
  for (let first = 0; first < entries.length; first += SLICE) {
    packed.push(packEntries(entries.slice(first, first + SLICE)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(packed);
}
