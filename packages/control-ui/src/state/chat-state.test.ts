import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, EventPayload, Result, RunStream } from '@tenon/protocol';
import { bounds } from './bounds.ts';
import { type ChatState, emptyChat, isBusy, withArrived, withChatEvent, withHistory, withOlder, withRunStream } from './chat-state.ts';

const KEY = 'agent:main:a';
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };

function entryOf(id: string, parentId: string | null, message: object, runId?: string): Entry {
  return { id, parentId, at: 1, ...(runId ? { runId } : {}), type: 'message', message } as Entry;
}
const user = (id: string, parentId: string | null, runId?: string) =>
  entryOf(id, parentId, { role: 'user', content: [{ type: 'text', text: id }], timestamp: 1 }, runId);
const assistant = (id: string, parentId: string | null, runId: string, text = id) =>
  entryOf(
    id,
    parentId,
    { role: 'assistant', content: [{ type: 'text', text }], provider: 'p', model: 'm', usage, stopReason: 'stop', timestamp: 1 },
    runId,
  );
const result = (id: string, parentId: string, runId: string, toolCallId: string) =>
  entryOf(id, parentId, { role: 'toolResult', toolCallId, toolName: 'ls', content: [], isError: false, timestamp: 1 }, runId);

const chatEvent = (event: Omit<EventPayload<'chat'>, 'sessionKey'>): EventPayload<'chat'> => ({ sessionKey: KEY, ...event });
const added = (chat: ChatState, entry: Entry) => withChatEvent(chat, chatEvent({ kind: 'entry', entryId: entry.id, entry }), 1);
const said = (event: object): RunStream => ({ runId: 'r', sessionKey: KEY, seq: 0, ts: 5, ...event }) as RunStream;
const page = (entries: Entry[], more?: string, runs: Result<'chat.history'>['runs'] = []): Result<'chat.history'> =>
  ({ session: {}, entries, leafId: entries.at(-1)?.id ?? null, runs, ...(more ? { more } : {}) }) as unknown as Result<'chat.history'>;

test('text that streamed is not shown twice once its entry is there, and its row keeps its key', () => {
  let chat = withHistory(emptyChat(KEY), page([]));
  chat = added(chat, user('u1', null, 'r'));
  chat = withRunStream(chat, said({ stream: 'assistant', delta: 'Hel' }));
  chat = withRunStream(chat, said({ stream: 'assistant', delta: 'lo' }));
  const segment = chat.runs.get('r')!.segments[0]!;
  assert.equal(segment.text, 'Hello');
  chat = added(chat, assistant('a1', 'u1', 'r', 'Hello'));
  assert.deepEqual(chat.runs.get('r')!.segments, []);
  assert.equal(chat.rowKeys.get('a1'), segment.key);
});

test('each model call has a segment of its own, so a late entry takes only its own text away', () => {
  let chat = emptyChat(KEY);
  chat = withRunStream(chat, said({ stream: 'lifecycle', phase: 'model' }));
  chat = withRunStream(chat, said({ stream: 'assistant', delta: 'one' }));
  chat = withRunStream(chat, said({ stream: 'lifecycle', phase: 'model', ts: 6 }));
  chat = withRunStream(chat, said({ stream: 'assistant', delta: 'two' }));
  chat = withHistory(chat, page([user('u1', null, 'r')], undefined, [{ run: { runId: 'r', state: 'running', createdAt: 1 } }] as never));
  chat = added(chat, assistant('a1', 'u1', 'r', 'one'));
  assert.deepEqual(
    chat.runs.get('r')!.segments.map((segment) => segment.text),
    ['two'],
  );
});

test('discarded text is taken back', () => {
  let chat = withRunStream(emptyChat(KEY), said({ stream: 'assistant', delta: 'half an ans' }));
  chat = withRunStream(chat, said({ stream: 'lifecycle', phase: 'discarded' }));
  assert.deepEqual(chat.runs.get('r')!.segments, []);
});

test('a tool goes through its phases and is gone once its result is in the transcript', () => {
  let chat = withHistory(emptyChat(KEY), page([assistant('a1', null, 'r')]));
  chat = withRunStream(chat, said({ stream: 'tool', callId: 'c', name: 'ls', phase: 'started', args: { path: '.' }, ts: 10 }));
  chat = withRunStream(chat, said({ stream: 'tool', callId: 'c', name: 'ls', phase: 'output', output: 'x', ts: 20 }));
  const tool = chat.runs.get('r')!.tools.get('c')!;
  assert.deepEqual([tool.phase, tool.output, tool.args, tool.startedAt], ['output', 'x', { path: '.' }, 10]);
  chat = added(chat, result('t1', 'a1', 'r', 'c'));
  assert.equal(chat.runs.get('r')!.tools.size, 0);
});

test('an entry that hangs elsewhere, or came without its content, asks for a fresh read', () => {
  const chat = withHistory(emptyChat(KEY), page([user('u1', null)]));
  assert.equal(added(chat, user('u3', 'u2')).stale, true);
  assert.equal(withChatEvent(chat, chatEvent({ kind: 'entry', entryId: 'big' }), 1).stale, true);
  assert.equal(withChatEvent(chat, chatEvent({ kind: 'moved', leafId: null }), 1).stale, true);
  assert.equal(added(chat, user('u2', 'u1')).stale, false);
  assert.equal(added(chat, user('u1', null)), chat, 'an entry that is there already changes nothing');
});

test('entries that came while the page was being read are kept after it', () => {
  const arrived = [user('u2', 'u1')];
  const chat = withArrived(withHistory(emptyChat(KEY), page([user('u1', null)])), arrived);
  assert.deepEqual(
    chat.entries.map((entry) => entry.id),
    ['u1', 'u2'],
  );
});

test('a fresh read keeps older pages where it touches them, and drops them where it does not', () => {
  let chat = withHistory(emptyChat(KEY), page([user('u2', 'u1'), user('u3', 'u2')], 'u2'));
  chat = withOlder(chat, { entries: [user('u1', null)] });
  assert.equal(chat.more, undefined);
  const touching = withHistory(chat, page([user('u2', 'u1'), user('u3', 'u2'), user('u4', 'u3')], 'u2'));
  assert.deepEqual(
    touching.entries.map((entry) => entry.id),
    ['u1', 'u2', 'u3', 'u4'],
  );
  const apart = withHistory(chat, page([user('x9', 'x8')], 'x9'));
  assert.deepEqual([apart.entries.map((entry) => entry.id), apart.more], [['x9'], 'x9']);
});

test('a rewind leaves nothing of what came after', () => {
  const chat = withHistory(emptyChat(KEY), page([user('u1', null), assistant('a1', 'u1', 'r')]));
  const moved = withHistory({ ...chat, stale: true }, page([user('u1', null)]));
  assert.deepEqual(
    moved.entries.map((entry) => entry.id),
    ['u1'],
  );
});

test('a message of this page is gone from the outgoing ones once it is told, waits, or its run has ended', () => {
  const outgoing = { runId: 'r', text: 'hi', images: [], at: 1, state: 'sent' as const };
  const chat = { ...withHistory(emptyChat(KEY), page([])), outgoing: [outgoing] };
  assert.equal(added(chat, user('u1', null, 'r')).outgoing.length, 0);
  assert.equal(withChatEvent(chat, chatEvent({ kind: 'ended', runId: 'r', end: { kind: 'completed' } }), 1).outgoing.length, 0);
  assert.equal(isBusy(chat), true);
  const failed = { ...chat, outgoing: [{ ...outgoing, state: 'failed' as const }] };
  assert.equal(withHistory(failed, page([])).outgoing.length, 1, 'what failed stays until the person decides');
  assert.equal(isBusy(failed), false);
});

test('only an end that needs words is kept, and deltas after it bring nothing back', () => {
  let chat = withRunStream(emptyChat(KEY), said({ stream: 'assistant', delta: 'x' }));
  const done = withChatEvent(chat, chatEvent({ kind: 'ended', runId: 'r', end: { kind: 'completed' } }), 9);
  assert.deepEqual([done.ended.length, done.runs.size], [0, 0]);
  chat = withChatEvent(chat, chatEvent({ kind: 'ended', runId: 'r', end: { kind: 'aborted' } }), 9);
  assert.equal(chat.ended[0]?.end.kind, 'aborted');
  assert.equal(withRunStream(chat, said({ stream: 'assistant', delta: 'late' })), chat);
});

test('the oldest entries go when there are too many, and can be read again', () => {
  const many = Array.from({ length: bounds.entries }, (_, index) => user(`e${index}`, index === 0 ? null : `e${index - 1}`));
  const chat = added(withHistory(emptyChat(KEY), page(many)), user('last', `e${bounds.entries - 1}`));
  assert.equal(chat.entries.length, bounds.entries);
  assert.equal(chat.more, 'e1');
});
