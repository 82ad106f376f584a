import assert from 'node:assert/strict';
import { test } from 'node:test';
import { named, namesOf } from './approval-words.ts';
import { closedReason, runPill, usageWords } from './chat-words.ts';
import { emptyChat } from './chat-state.ts';
import { createPost, exchangeCode, forgetEverything, keepToken, type Shelf, storedToken } from './credentials.ts';
import { createDrafts } from './drafts.ts';
import { filterEntries, markHits } from './palette-entries.ts';
import { defaultPreferences, readPreferences, writePreferences } from './preferences.ts';
import { formatRoute, parseRoute, readAddress, type Route } from './route.ts';
import { createShortcuts, type KeyContext } from './shortcuts.ts';
import { titleOf } from './chat-actions.ts';

function shelf(): Shelf & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    clear: () => kept.clear(),
  };
}
const broken: Shelf = {
  getItem: () => {
    throw new Error('off');
  },
  setItem: () => {
    throw new Error('off');
  },
  removeItem: () => {
    throw new Error('off');
  },
  clear: () => {
    throw new Error('off');
  },
};

test('every route comes back from its address', () => {
  const routes: Route[] = [
    { view: 'chat', sessionKey: undefined },
    { view: 'chat', sessionKey: 'agent:main:a/b@c+d' },
    { view: 'approvals', id: 'abc' },
    { view: 'approvals', id: undefined },
    { view: 'plugins', id: undefined },
    { view: 'plugins', id: 'a/b c' },
    { view: 'schedules', id: undefined, sessionKey: undefined },
    { view: 'schedules', id: 'j1', sessionKey: undefined },
    { view: 'schedules', id: undefined, sessionKey: 'agent:main:a/b' },
    { view: 'inspector', sessionKey: undefined, plugin: undefined },
    { view: 'inspector', sessionKey: 'agent:main:a/b', plugin: undefined },
    { view: 'inspector', sessionKey: 'agent:main:a/b', plugin: 'todo' },
    { view: 'inspector', sessionKey: undefined, plugin: 'todo' },
    { view: 'overview' },
    { view: 'sessions' },
    { view: 'settings' },
    { view: 'more' },
  ];
  for (const route of routes) assert.deepEqual(parseRoute(formatRoute(route)), route);
  assert.deepEqual(parseRoute('#/nonsense/%E0%A4%A'), { view: 'chat', sessionKey: undefined });
});

test('an address gives up its code, and nothing else of it is read or stays', () => {
  const read = (search: string, hash: string) => readAddress({ pathname: '/', search, hash });
  assert.deepEqual(read('', '#code=abc-123'), { code: 'abc-123', cleaned: '/' });
  assert.deepEqual(read('', '#/chat/agent:main:a'), { code: undefined, cleaned: undefined });
  assert.deepEqual(read('?token=x', '#/chat/agent:main:a'), { code: undefined, cleaned: '/#/chat/agent:main:a' });
  assert.deepEqual(read('?gatewayUrl=ws://evil', ''), { code: undefined, cleaned: '/' });
  assert.deepEqual(read('', '#token=x'), { code: undefined, cleaned: '/' });
  assert.deepEqual(read('', '#code=a%20b<script>'), { code: undefined, cleaned: '/' });
});

test('a token is kept for long or for the tab, never both, and signing out leaves nothing', () => {
  const shelves = { lasting: shelf(), tab: shelf() };
  assert.equal(keepToken(shelves, 't1', true), true);
  assert.equal(keepToken(shelves, 't2', false), true);
  assert.deepEqual([shelves.lasting.kept.size, storedToken(shelves)], [0, 't2']);
  shelves.lasting.setItem('tenon.preferences', '{}');
  forgetEverything(shelves);
  assert.deepEqual([shelves.lasting.kept.size, shelves.tab.kept.size], [0, 0]);
});

test('a browser without storage signs in for as long as the page is open', () => {
  const shelves = { lasting: broken, tab: broken };
  assert.equal(keepToken(shelves, 't', true), false);
  assert.equal(storedToken(shelves), undefined);
  forgetEverything(shelves);
  assert.deepEqual(readPreferences(broken), defaultPreferences);
  writePreferences(broken, defaultPreferences);
  createDrafts(broken).set('a', 'text');
});

test('a code becomes a token, or words', async () => {
  const answering = (status: number, body: object) => createPost(async () => new Response(JSON.stringify(body), { status }));
  assert.deepEqual(await exchangeCode('c', answering(200, { token: 'tok' })), { kind: 'token', token: 'tok' });
  const used = await exchangeCode('c', answering(401, { code: 'UNAUTHORIZED', message: 'no' }));
  assert.match(used.kind === 'refused' ? used.error.message : '', /used already or has expired.*tenon ui/);
  const down = await exchangeCode('c', () => Promise.reject(new Error('net')));
  assert.equal(down.kind === 'refused' && down.error.code, 'UNREACHABLE');
});

test('a post goes to the own origin without cookies and follows no redirect', async () => {
  const seen: [string, RequestInit][] = [];
  const post = createPost(async (url, init) => {
    seen.push([String(url), init ?? {}]);
    return new Response('{}');
  });
  await post('/api/sign-out', undefined, 'tok');
  const [url, { credentials, redirect, headers, body }] = seen[0]!;
  assert.deepEqual(
    [url, credentials, redirect, headers, body],
    ['/api/sign-out', 'omit', 'error', { authorization: 'Bearer tok' }, undefined],
  );
});

test('preferences that make no sense are defaults', () => {
  const kept = shelf();
  kept.setItem('tenon.preferences', '{"theme":"pink","singleKeys":1,"quiet":"yes"}');
  assert.deepEqual(readPreferences(kept), defaultPreferences);
  writePreferences(kept, { theme: 'dark', singleKeys: false, quiet: true, panel: false });
  assert.deepEqual(readPreferences(kept), { theme: 'dark', singleKeys: false, quiet: true, panel: false });
});

test('drafts survive a reload and are bounded', () => {
  const kept = shelf();
  const drafts = createDrafts(kept);
  for (let n = 0; n < 30; n++) drafts.set(`s${n}`, `text ${n}`);
  assert.equal(createDrafts(kept).get('s29'), 'text 29');
  assert.equal(createDrafts(kept).get('s0'), '');
  drafts.set('s29', '');
  assert.equal(createDrafts(kept).get('s29'), '');
});

test('keys mean nothing while somebody types, with an input method, or when switched off', () => {
  const read = createShortcuts();
  const press = (key: string, more: object = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, ...more });
  const context: KeyContext = { typing: false, singleKeys: true, now: 1_000 };
  assert.equal(read(press('n'), context), 'new-session');
  assert.equal(read(press('c'), context), 'compose');
  assert.equal(read(press('n'), { ...context, typing: true }), undefined);
  assert.equal(read(press('n', { isComposing: true }), context), undefined);
  assert.equal(read(press('n'), { ...context, singleKeys: false }), undefined);
  assert.equal(read(press('n', { ctrlKey: true }), context), undefined);
  assert.equal(read(press('k', { ctrlKey: true }), { ...context, typing: true, singleKeys: false }), 'palette');
});

test('g and then a letter goes somewhere, if the letter comes soon', () => {
  const read = createShortcuts();
  const press = (key: string) => ({ key, ctrlKey: false, metaKey: false, altKey: false, isComposing: false });
  const at = (now: number): KeyContext => ({ typing: false, singleKeys: true, now });
  assert.equal(read(press('g'), at(1)), undefined);
  assert.equal(read(press('a'), at(500)), 'go-approvals');
  assert.equal(read(press('a'), at(600)), undefined);
  read(press('g'), at(1_000));
  assert.equal(read(press('n'), at(1_100)), undefined, 'the second of two keys is not a key of its own');
  read(press('g'), at(2_000));
  assert.equal(read(press('n'), at(9_000)), 'new-session');
});

test('the palette finds by words, keeps groups together, and marks what was typed', () => {
  const entry = (id: string, group: string, label: string) => ({ id, group, label, icon: 'chat' as const, run: () => {} });
  const entries = [
    entry('1', 'Sessions', 'Renew the certificate'),
    entry('2', 'Go to', 'Approvals'),
    entry('3', 'Sessions', 'Certificates of git'),
  ];
  const ids = (typed: string) => filterEntries(entries, typed).map((each) => each.id);
  assert.deepEqual(ids('cert'), ['3', '1']);
  assert.deepEqual(ids('> '), ['2']);
  assert.deepEqual(ids('the renew'), ['1']);
  assert.deepEqual(markHits('Certificate', 'cert'), [
    { text: 'Cert', hit: true },
    { text: 'ificate', hit: false },
  ]);
});

test('the words around a conversation', () => {
  const run = { runId: 'r', state: 'running' as const, createdAt: 1_000, segments: [], tools: new Map() };
  const chat = { ...emptyChat('agent:main:a'), runs: new Map([['r', run]]) };
  assert.equal(runPill(chat, false, 7_500)?.words, 'Answering, 6 s');
  assert.equal(runPill(chat, true, 7_500)?.kind, 'waiting');
  assert.equal(runPill(emptyChat('a'), false, 1), undefined);
  assert.equal(usageWords({ input: 12_000, output: 400, cacheRead: 0, cacheWrite: 0, costUsd: 0.03 }), '12.4k tokens · $0.03');
  const offline = closedReason(
    { connection: { kind: 'offline', since: 1, retryAt: 5_000, error: { message: '' } }, identity: undefined },
    1_000,
    () => {},
  );
  assert.match(offline?.detail ?? '', /^Next try in 4 s/);
  const reader = { version: '1', principal: 'p', scopes: new Set(['operator.read' as const]), sessionKey: undefined };
  assert.match(closedReason({ connection: { kind: 'online' }, identity: reader }, 1, () => {})?.detail ?? '', /needs operator\.write/);
  assert.equal(
    titleOf('Renew the certificate on edge-2 and then tell me what else expires soon\nplease'),
    'Renew the certificate on edge-2 and then tell me what else…',
  );
});

test('principals have names that people can tell apart', () => {
  const approval = { id: 'a', principal: 'token:0123456789abcdefgh', decidedBy: 'token:mine' } as Parameters<typeof named>[0];
  const mine = named(approval, 'token:mine', new Map());
  assert.deepEqual([mine.decidedBy, mine.principal], ['you', 'token 0123456789abcdefgh'], 'an id is shown whole');
  const names = namesOf([
    { id: '0123456789abcdefgh', name: 'The laptop in the kitchen' },
    { id: 'b1', name: 'web page' },
    { id: 'b2', name: 'web page' },
  ]);
  assert.deepEqual([names.get('token:b1'), names.get('token:b2')], ['web page (token b1)', 'web page (token b2)']);
  assert.equal(named(approval, 'token:mine', names).principal, 'The laptop in the kitchen (token)');
  assert.equal(named({ ...approval, principal: 'operator' }, undefined, names).principal, 'operator');
});
