// A session from a file: too large for a frame of the socket, so it comes as the body of a request.
import { type Entry, GatewayError, limits, matches, SessionKey } from '@tenon/protocol';
import { importLargeTranscript } from '../../agent/pi-jsonl.ts';
import { packEntries } from '../../store/entry-copies.ts';
import { json } from '../answer.ts';
import { textOf } from '../body.ts';
import type { Routes } from '../route.ts';

export const importRoutes: Routes = {
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
