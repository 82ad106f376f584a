// What a person does with sessions as things: find, rename, pin, archive, delete, fork, take along.
import type { Session } from '@tenon/protocol';
import { withoutSession, withSessions } from './changes.ts';
import type { ActionDeps } from './actions.ts';
import { randomId } from './ids.ts';
import { forkTitle, sessionTitle } from './session-words.ts';
import { troubleOf } from './trouble.ts';

export interface SessionActions {
  search(text: string): Promise<void>;
  loadMore(): Promise<void>;
  loadArchived(): Promise<void>;
  /** Resolves with whether it was done; if not, a toast says why. */
  patch(
    key: string,
    fields: Partial<Pick<Session, 'title' | 'pinned' | 'archived' | 'model' | 'thinking' | 'permissions'>>,
  ): Promise<boolean>;
  remove(key: string): Promise<boolean>;
  /** Resolves with the key of the new session. */
  fork(key: string, entryId?: string): Promise<string | undefined>;
  /** The whole session as lines of JSON. */
  exportLines(key: string): Promise<string | undefined>;
  importLines(name: string, jsonl: string): Promise<string | undefined>;
}

const PAGE = 100;
/** The socket takes this much; what is larger goes over HTTP. */
const SOCKET_IMPORT_CHARS = 400_000;
const MOST_EXPORT_PAGES = 10_000;

export function createSessionActions({ store, link, toasts, post, token }: ActionDeps): SessionActions {
  let latestSearch = 0;

  function take(sessions: readonly Session[]): void {
    store.update((state) => ({ ...state, sessions: withSessions(state.sessions, sessions) }));
  }

  return {
    async search(text) {
      const own = ++latestSearch;
      const set = (search: ReturnType<typeof store.get>['sessions']['search']) =>
        store.update((state) => ({ ...state, sessions: { ...state.sessions, search } }));
      if (text.trim() === '') return set(undefined);
      const before = store.get().sessions.search;
      set({ text, results: before?.results.kind === 'ready' ? before.results : { kind: 'loading' } });
      try {
        const { sessions } = await link().call('sessions.list', { search: text.trim().slice(0, 256), limit: 50 });
        if (own === latestSearch) set({ text, results: { kind: 'ready', value: sessions } });
      } catch (error) {
        if (own === latestSearch) set({ text, results: { kind: 'failed', error: troubleOf(error) } });
      }
    },

    async loadMore() {
      const { nextCursor, loadingMore } = store.get().sessions;
      if (nextCursor === undefined || loadingMore) return;
      store.update((state) => ({ ...state, sessions: { ...state.sessions, loadingMore: true } }));
      try {
        const page = await link().call('sessions.list', { limit: PAGE, cursor: nextCursor });
        store.update((state) => ({
          ...state,
          sessions: { ...withSessions(state.sessions, page.sessions), nextCursor: page.nextCursor, loadingMore: false },
        }));
      } catch (error) {
        store.update((state) => ({ ...state, sessions: { ...state.sessions, loadingMore: false } }));
        toasts.fail('More sessions could not be read', error);
      }
    },

    async loadArchived() {
      const set = (archived: ReturnType<typeof store.get>['sessions']['archived']) =>
        store.update((state) => ({ ...state, sessions: { ...state.sessions, archived } }));
      set({ kind: 'loading' });
      try {
        const { sessions } = await link().call('sessions.list', { archived: true, limit: PAGE });
        take(sessions);
        set({ kind: 'ready', value: sessions.filter((session) => session.archived) });
      } catch (error) {
        set({ kind: 'failed', error: troubleOf(error) });
      }
    },

    async patch(key, fields) {
      try {
        const { session } = await link().call('sessions.patch', { key, ...fields });
        take([session]);
        return true;
      } catch (error) {
        toasts.fail('The session could not be changed', error);
        return false;
      }
    },

    async remove(key) {
      try {
        await link().call('sessions.delete', { key });
        store.update((state) => ({ ...state, sessions: withoutSession(state.sessions, key) }));
        return true;
      } catch (error) {
        toasts.fail('The session could not be deleted', error);
        return false;
      }
    },

    async fork(key, entryId) {
      try {
        const original = store.get().sessions.byKey.get(key);
        const { session } = await link().call('sessions.fork', {
          key,
          ...(entryId === undefined ? {} : { entryId }),
          ...(original ? { title: forkTitle(sessionTitle(original)) } : {}),
        });
        take([session]);
        return session.key;
      } catch (error) {
        toasts.fail('The session could not be forked', error);
        return undefined;
      }
    },

    async exportLines(key) {
      const parts: string[] = [];
      let after: number | undefined;
      try {
        for (let page = 0; page < MOST_EXPORT_PAGES; page++) {
          const { lines, next } = await link().call('sessions.export', { key, ...(after === undefined ? {} : { after }) });
          for (const line of lines) parts.push(line, '\n');
          if (next === undefined) return parts.join('');
          after = next;
        }
        throw new Error('The session is too long to be exported here; use `tenon session export`');
      } catch (error) {
        toasts.fail('The session could not be exported', error);
        return undefined;
      }
    },

    async importLines(name, jsonl) {
      const key = `agent:${defaultAgent()}:import-${randomId().slice(0, 12)}`;
      const title = name.replace(/\.jsonl?$/, '').slice(0, 200);
      try {
        if (jsonl.length <= SOCKET_IMPORT_CHARS) {
          const { session } = await link().call('sessions.import', { key, jsonl, title }, { timeoutMs: 120_000 });
          take([session]);
          return session.key;
        }
        return await importOverHttp(key, title, jsonl);
      } catch (error) {
        toasts.fail(`${name} could not be imported`, error);
        return undefined;
      }
    },
  };

  async function importOverHttp(key: string, title: string, jsonl: string): Promise<string> {
    const query = new URLSearchParams({ key, title });
    const { status, body } = await post(`/api/sessions/import?${query}`, { text: jsonl, type: 'application/x-ndjson' }, token());
    if (status !== 200) throw new Error(typeof body?.message === 'string' ? body.message : `The gateway answered with ${status}`);
    return key;
  }

  function defaultAgent(): string {
    const { agents } = store.get();
    return (agents.kind === 'ready' ? agents.value.find((agent) => agent.isDefault)?.id : undefined) ?? 'main';
  }
}
