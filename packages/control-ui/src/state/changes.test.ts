import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Approval, Session } from '@tenon/protocol';
import { type AppState, emptyState, pendingApprovals } from './app-state.ts';
import { bounds } from './bounds.ts';
import {
  approvalRequested,
  approvalResolved,
  chatChanged,
  sessionChanged,
  sessionOrder,
  touchChat,
  withApprovals,
  withSessions,
} from './changes.ts';
import { forkTitle, groupSessions, listTime, sessionStatus, sessionTitle } from './session-words.ts';
import { createStore } from './store.ts';
import { createToasts } from './toasts.ts';

function sessionOf(key: string, fields: Partial<Session> = {}): Session {
  return {
    key: `agent:main:${key}`,
    sessionId: 's'.repeat(16),
    title: key,
    status: 'idle',
    pinned: false,
    archived: false,
    revision: 1,
    createdAt: 0,
    updatedAt: 1,
    ...fields,
  } as Session;
}
const approvalOf = (id: string, fields: Partial<Approval> = {}): Approval =>
  ({ id, sessionKey: 'agent:main:a', state: 'pending', createdAt: 1, expiresAt: 100, ...fields }) as Approval;

test('the newer form of a session stays, whichever comes last', () => {
  const { sessions } = emptyState();
  const newer = withSessions(sessions, [sessionOf('a', { revision: 2, title: 'new' })]);
  assert.equal(withSessions(newer, [sessionOf('a', { revision: 1, title: 'old' })]).byKey.get('agent:main:a')?.title, 'new');
  assert.equal(
    withSessions(newer, [sessionOf('a', { revision: 0, title: 'reset', sessionId: 't'.repeat(16) })]).byKey.get('agent:main:a')?.title,
    'reset',
  );
});

test('a deleted session leaves the list and the memory; a reset one is read again', () => {
  let state: AppState = { ...emptyState(), sessions: withSessions(emptyState().sessions, [sessionOf('a')]) };
  state = touchChat('agent:main:a')(state);
  const reset = sessionChanged({ key: 'agent:main:a', reason: 'reset', session: sessionOf('a', { revision: 2 }) })(state);
  assert.equal(reset.chats.get('agent:main:a')?.stale, true);
  const gone = sessionChanged({ key: 'agent:main:a', reason: 'delete' })(state);
  assert.deepEqual([gone.sessions.byKey.size, gone.chats.size], [0, 0]);
});

test('what is under way comes first, then what is pinned, then the latest; the archive is not listed', () => {
  const { sessions } = emptyState();
  const list = withSessions(sessions, [
    sessionOf('old', { updatedAt: 1 }),
    sessionOf('new', { updatedAt: 5 }),
    sessionOf('pinned', { pinned: true }),
    sessionOf('busy', { status: 'waiting' }),
    sessionOf('gone', { archived: true }),
  ]);
  assert.deepEqual(
    sessionOrder(list).map((session) => session.title),
    ['busy', 'pinned', 'new', 'old'],
  );
});

test('conversations in memory are bounded, and what could not be sent is not thrown away', () => {
  let state = touchChat('agent:main:unsent')(emptyState());
  const unsent = state.chats.get('agent:main:unsent')!;
  const outgoing = [{ runId: 'r', text: 'x', images: [], at: 1, state: 'failed' as const }];
  state = { ...state, chats: new Map(state.chats).set('agent:main:unsent', { ...unsent, outgoing }) };
  for (let n = 0; n < bounds.chats + 3; n++) state = touchChat(`agent:main:c${n}`)(state);
  assert.equal(state.chats.has('agent:main:unsent'), true);
  assert.equal(state.chats.size, bounds.chats);
});

test('a decision is final: an older list does not bring the question back', () => {
  let state = approvalRequested({ sessionKey: 'agent:main:a', approval: approvalOf('q') })(emptyState());
  assert.equal(pendingApprovals(state.approvals).length, 1);
  state = approvalResolved(
    { sessionKey: 'agent:main:a', id: 'q', state: 'allowed', decision: 'allow-once', decidedBy: 'token:x' },
    7,
  )(state);
  assert.deepEqual([state.approvals.byId.get('q')?.state, state.approvals.byId.get('q')?.decidedAt], ['allowed', 7]);
  assert.equal(pendingApprovals(withApprovals(state.approvals, [approvalOf('q')])).length, 0);
});

test('approvals are bounded, and none that waits is dropped', () => {
  const many = Array.from({ length: bounds.approvals + 50 }, (_, n) => approvalOf(`d${n}`, { state: 'denied', createdAt: n }));
  const kept = withApprovals(emptyState().approvals, [approvalOf('waits'), ...many]);
  assert.equal(kept.byId.size, bounds.approvals);
  assert.equal(kept.byId.has('waits'), true);
});

test('a session says how its last turn ended where that is known, and not that a stopped one is done', () => {
  const ended = (kind: 'completed' | 'aborted' | 'handled') =>
    chatChanged({ sessionKey: 'agent:main:a', kind: 'ended', runId: 'r', end: { kind } }, 1);
  const words = (state: AppState) => sessionStatus(sessionOf('a'), false, state.ends.get('agent:main:a')).words;
  let state = emptyState();
  assert.equal(words(state), 'Idle');
  state = ended('completed')(state);
  assert.equal(words(state), 'Done');
  state = ended('aborted')(state);
  assert.equal(words(state), 'Stopped');
  assert.equal(words(ended('handled')(state)), 'Stopped', 'a command is no turn');
});

test('an open conversation whose session appears is read again', () => {
  const open = touchChat('agent:main:a')(emptyState());
  const made = sessionChanged({ key: 'agent:main:a', reason: 'create', session: sessionOf('a') });
  assert.equal(made(open).chats.get('agent:main:a')?.stale, true);
  const known = { ...open, sessions: withSessions(open.sessions, [sessionOf('a')]) };
  assert.equal(made(known).chats.get('agent:main:a')?.stale, false);
});

test('the title of a fork tells it apart', () => {
  assert.deepEqual(['Plants', 'Plants (fork)', 'Plants (fork 2)'].map(forkTitle), ['Plants (fork)', 'Plants (fork 2)', 'Plants (fork 3)']);
  assert.equal(forkTitle('x'.repeat(200)).length, 200);
});

test('messages about something go when it is settled, and the others stay', () => {
  const store = createStore(emptyState());
  const toasts = createToasts(store);
  toasts.say({ tone: 'info', title: 'A question', about: 'approval:1' });
  toasts.say({ tone: 'info', title: 'Another', about: 'approval:2' });
  toasts.say({ tone: 'ok', title: 'Deleted' });
  toasts.closeAbout((about) => about === 'approval:1');
  assert.deepEqual(
    store.get().toasts.map((toast) => toast.title),
    ['Another', 'Deleted'],
  );
});

test('sessions are named, grouped and dated in words', () => {
  const now = new Date(2026, 10, 15, 13, 0).getTime();
  assert.equal(sessionTitle({ key: 'agent:main:notes', title: '' }), 'notes');
  assert.equal(sessionTitle({ key: `agent:main:${'x'.repeat(22)}`, title: ' ' }), 'New session');
  assert.equal(sessionStatus(sessionOf('a'), true).words, 'Waits for your decision');
  const at = (hours: number) => now - hours * 3_600_000;
  const groups = groupSessions(
    [sessionOf('a', { updatedAt: at(1) }), sessionOf('b', { updatedAt: at(20) }), sessionOf('c', { updatedAt: at(999) })],
    now,
  );
  assert.deepEqual(
    groups.map((group) => group.title),
    ['Today', 'Yesterday', 'Earlier'],
  );
  assert.deepEqual([listTime(at(1), now), listTime(at(48), now), listTime(at(999), now)], ['12:00', 'Fri', '4 Oct']);
});
