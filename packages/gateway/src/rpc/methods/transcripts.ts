import { GatewayError } from '@tenon/protocol';
import { checkImages } from '../../agent/images.ts';
import { agentIdOf } from '../../agent/agents.ts';
import { tellStart } from '../../agent/session-life.ts';
import { entryLine, headerLine, importTranscript } from '../../agent/pi-jsonl.ts';
import { randomId } from '../../kernel/ids.ts';
import { packEntries } from '../../store/entry-copies.ts';
import type { Handlers } from '../handler.ts';
import { requireForMode } from './sessions.ts';

const TREE_PAGE = 200;
const EXPORT_PAGE = 1_000;
const EXPORT_BYTES = 400_000;
/** In a frame, as a string inside a string, it is longer still. */
const MAX_LINE = 450_000;

export const transcriptHandlers = {
  'sessions.tree': ({ key, after, limit = TREE_PAGE }, { store }) =>
    store.read('entries.tree', { key, limit, ...(after === undefined ? {} : { after }) }),

  'sessions.branch': ({ key, entryId, summarize = false }, { commitAnswer, transcripts }) =>
    commitAnswer(() => transcripts.branch(key, entryId, summarize)),

  'sessions.rewind': ({ key, turns, entryId }, { commitAnswer, transcripts }) => {
    if (turns !== undefined && entryId !== undefined)
      throw new GatewayError('INVALID_REQUEST', 'params/turns and params/entryId cannot both be given');
    return commitAnswer(() =>
      transcripts.rewind(key, { ...(turns === undefined ? {} : { turns }), ...(entryId === undefined ? {} : { entryId }) }),
    );
  },

  'sessions.fork': ({ key, newKey, entryId, title }, { commit, commitAfter, clock, store, principal, hooks }) => {
    if (newKey !== undefined && agentIdOf(newKey) !== agentIdOf(key))
      throw new GatewayError('INVALID_REQUEST', `params/newKey "${newKey}" is not under the agent "${agentIdOf(key)}"`);
    return commitAfter(async () => {
      const { permissions } = (await store.read('sessions.get', { key })).session;
      // The fork keeps the mode, also when the session itself has lost it: to spread a wide one is to grant it.
      if (permissions === 'bypass' || permissions === 'accept-edits') requireForMode(permissions, principal);
      const made = await commit('sessions.fork', {
        key,
        newKey: newKey ?? `agent:${agentIdOf(key)}:s${randomId()}`,
        ...(entryId === undefined ? {} : { entryId }),
        ...(title === undefined ? {} : { title }),
        at: clock.now(),
      });
      return tellStart(hooks, made, 'fork');
    });
  },

  'sessions.label': ({ key, entryId, label }, { commit, clock }) =>
    commit('entries.append', { key, draft: { type: 'label', targetId: entryId, label }, at: clock.now() }),

  'sessions.contextEdit': ({ key, entryId, replacement }, { commit, clock }) => {
    checkImages(replacement?.filter((block) => block.type === 'image') ?? []);
    return commit('entries.append', { key, draft: { type: 'context_edit', targetId: entryId, replacement }, at: clock.now() });
  },

  'sessions.compact': ({ key, instructions }, { commitAnswer, transcripts }) => commitAnswer(() => transcripts.compact(key, instructions)),

  'sessions.export': async ({ key, after }, { store }) => {
    const page = await store.read('entries.export', {
      key,
      limit: EXPORT_PAGE,
      maxBytes: EXPORT_BYTES,
      ...(after === undefined ? {} : { after }),
    });
    const header = after === undefined ? [headerLine(page.session)] : [];
    const lines = [...header, ...page.entries.map(entryLine)];
    if (lines.some((line) => line.length > MAX_LINE))
      throw new GatewayError('TOO_LARGE', 'An entry is too large for one frame; read the session with GET /api/sessions/export?key=…', {
        details: { code: 'USE_HTTP' },
      });
    return { lines, ...(page.next === undefined ? {} : { next: page.next }) };
  },

  'sessions.import': async ({ key, jsonl, title }, { commit, clock, hooks }) => {
    const { entries, leafId, skipped } = importTranscript(jsonl);
    const fields = title === undefined ? {} : { title };
    const made = await commit('entries.import', { key, fields, entries: packEntries(entries), leafId, skipped, at: clock.now() });
    return tellStart(hooks, made, 'import');
  },
} satisfies Partial<Handlers>;
