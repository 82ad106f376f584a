import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Approval, Entry, EventPayload, RunStream } from '@tenon/protocol';
import { createFollower, type Show } from './follow.ts';

const sessionKey = 'agent:main:main';
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
let counter = 0;

function world() {
  seqs.clear();
  const shown: string[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') shown.push(text);
    text = '';
  };
  const add = (line: string) => {
    flush();
    shown.push(line);
  };
  const fetched: string[] = [];
  const show: Show = {
    answer(delta) {
      text += delta;
    },
    thinking: (delta) => add(`thinking ${delta}`),
    pause: flush,
    working: ({ name, state }) => add(`${name} ${state}`),
    worked: ({ name, state, subject }) => add(`${name} ${subject} ${state}`),
    said: (said, by) => add(`said ${by ?? ''}${said}`),
    note: (note) => add(`note ${note}`),
    problem: (problem) => add(`problem ${problem}`),
    began: (runId) => add(`began ${runId}`),
    ended: (runId, end, told) => add(`ended ${runId} ${end?.kind}${told ? ', told' : ''}`),
    waits: () => add('waits'),
    asked: ({ id }) => add(`asked ${id}`),
    settled: ({ id, state }) => add(`settled ${id} ${state}`),
  };
  const follower = createFollower({ sessionKey, show, fetchEntry: (id) => void fetched.push(id) });
  return {
    follower,
    fetched,
    shown: () => {
      flush();
      return shown.splice(0);
    },
  };
}

type Said = RunStream extends infer Each ? (Each extends RunStream ? Omit<Each, 'runId' | 'sessionKey' | 'seq' | 'ts'> : never) : never;

/** Counts within the run, as the gateway does. */
const seqs = new Map<string, number>();
const said = (stream: Said, runId = 'r1'): RunStream => {
  const seq = seqs.get(runId) ?? 0;
  seqs.set(runId, seq + 1);
  return { runId, sessionKey, seq, ts: 0, ...stream } as RunStream;
};
const delta = (text: string) => said({ stream: 'assistant', delta: text });
const message = (content: Extract<Entry, { type: 'message' }>['message'], id = `entry-${counter++}`): Entry => ({
  id,
  parentId: null,
  at: 0,
  runId: 'r1',
  type: 'message',
  message: content,
});
const user = (text: string) => message({ role: 'user', content: [{ type: 'text', text }], timestamp: 0 });
const assistant = (text: string, calls: { id: string; path: string }[] = []) =>
  message({
    role: 'assistant',
    content: [
      { type: 'text', text },
      ...calls.map(({ id, path }) => ({ type: 'toolCall' as const, id, name: 'read', arguments: { path } })),
    ],
    provider: 'p',
    model: 'm',
    usage,
    stopReason: 'stop',
    timestamp: 0,
  });
const result = (toolCallId: string) =>
  message({ role: 'toolResult', toolCallId, toolName: 'read', content: [{ type: 'text', text: 'x' }], isError: false, timestamp: 0 });
const added = (entry: Entry): EventPayload<'chat'> => ({ sessionKey, kind: 'entry', runId: 'r1', entryId: entry.id, entry });

test('an answer that streamed is not shown again when its entry comes', () => {
  const { follower, shown } = world();
  follower.chat({ sessionKey, kind: 'started', runId: 'r1' });
  for (const piece of ['Hel', 'lo ', 'you']) follower.run(delta(piece));
  follower.chat(added(assistant('Hello you')));
  follower.chat({ sessionKey, kind: 'ended', runId: 'r1', end: { kind: 'completed' } });
  follower.chat({ sessionKey, kind: 'ended', runId: 'r1', end: { kind: 'completed' } });
  assert.deepEqual(shown(), ['began r1', 'Hello you', 'ended r1 completed']);
  assert.equal(follower.running.size, 0);
});

test('what the stream left out is shown with the entry', () => {
  const { follower, shown } = world();
  follower.run(delta('Hello'));
  follower.chat(added(assistant('Hello you')));
  assert.deepEqual(shown(), ['began r1', 'Hello you']);
  // A hole in the middle: nothing is shown twice, and nothing out of place.
  follower.run(delta('one '));
  follower.interrupted();
  delta('two ');
  follower.run(delta('three'));
  follower.chat(added(assistant('one two three')));
  assert.deepEqual(shown(), ['one ', 'two three']);
  // Asked again meanwhile, the model says something else: the whole answer is shown, and said to be that.
  follower.run(delta('Hello y'));
  follower.interrupted();
  delta('Good ');
  follower.run(delta('day'));
  follower.chat(added(assistant('Good day')));
  assert.deepEqual(shown(), ['Hello y', 'note (the whole answer:)', 'Good day']);
  follower.run(delta('and on'));
  follower.chat(added(assistant('and on')));
  assert.deepEqual(shown(), ['and on']);
  // Nothing streamed at all.
  follower.chat(added(assistant('silent')));
  assert.deepEqual(shown(), ['silent']);
});

test('an answer that begins anew after a restart is not shown a third time', () => {
  const { follower, shown } = world();
  follower.run(delta('Hello y'));
  follower.interrupted();
  seqs.clear();
  follower.run(said({ stream: 'lifecycle', phase: 'resumed' }));
  for (const piece of ['Hello ', 'you']) follower.run(delta(piece));
  follower.chat(added(assistant('Hello you')));
  follower.run(delta('next'));
  follower.chat(added(assistant('next')));
  assert.deepEqual(shown(), ['began r1', 'Hello y', 'note The gateway came back, and the turn goes on', 'Hello you', 'next']);
});

test('an entry that comes after the next message has begun does not disturb it', () => {
  const { follower, shown } = world();
  follower.run(delta('first'));
  follower.run(said({ stream: 'tool', callId: 'c', name: 'read', phase: 'started', args: { path: 'a.txt' } }));
  follower.run(said({ stream: 'tool', callId: 'c', name: 'read', phase: 'ended', durationMs: 1 }));
  follower.run(delta('sec'));
  follower.chat(added(assistant('first', [{ id: 'c', path: 'a.txt' }])));
  follower.chat(added(result('c')));
  follower.run(delta('ond'));
  follower.chat(added(assistant('second')));
  assert.deepEqual(shown(), ['began r1', 'first', 'read running', 'read ok', 'sec', 'read a.txt ok', 'ond']);
});

test('who comes in the middle of an answer is shown it when it is whole', () => {
  const { follower, shown } = world();
  delta('the beginning ');
  follower.run(delta('the end'));
  assert.deepEqual(shown(), ['began r1']);
  follower.chat(added(assistant('the beginning the end')));
  assert.deepEqual(shown(), ['the beginning the end']);
});

test('a tool whose stream was missed gets its card from its result', () => {
  const { follower, shown } = world();
  follower.chat(added(assistant('', [{ id: 'c', path: 'b.txt' }])));
  follower.chat(added(result('c')));
  follower.run(said({ stream: 'tool', callId: 'c', name: 'read', phase: 'ended' }));
  assert.deepEqual(shown(), ['read b.txt ok', 'began r1']);
});

test('a tool whose entry was missed gets its card when the turn ends', () => {
  const { follower, shown } = world();
  follower.run(said({ stream: 'tool', callId: 'c', name: 'read', phase: 'started', subject: 'x' }));
  follower.run(said({ stream: 'tool', callId: 'c', name: 'read', phase: 'ended', isError: true }));
  follower.run(said({ stream: 'tool', callId: 'd', name: 'read', phase: 'started' }));
  follower.chat({ sessionKey, kind: 'ended', runId: 'r1', end: { kind: 'aborted' } });
  assert.deepEqual(shown(), ['began r1', 'read running', 'read failed', 'read running', 'read x failed', 'ended r1 aborted']);
});

test('a program that was run with ! is a card, each time anew', () => {
  const { follower, shown } = world();
  for (const runId of ['r1', 'r2']) {
    follower.run(said({ stream: 'tool', callId: 'user-bash', name: 'exec', phase: 'started', subject: 'pwd' }, runId));
    follower.run(said({ stream: 'tool', callId: 'user-bash', name: 'exec', phase: 'ended' }, runId));
    const details = { command: 'pwd', output: '/x' };
    follower.entry({
      ...user('x'),
      id: `bash-${runId}`,
      runId,
      type: 'custom_message',
      customType: 'bash',
      display: true,
      content: [],
      details,
    } as Entry);
    follower.chat({ sessionKey, kind: 'ended', runId, end: { kind: 'completed' } });
  }
  const once = (runId: string) => [`began ${runId}`, 'exec running', 'exec ok', 'exec pwd ok', `ended ${runId} completed`];
  assert.deepEqual(shown(), [...once('r1'), ...once('r2')]);
});

test('text that is taken back is not taken for the beginning of the next', () => {
  const { follower, shown } = world();
  follower.run(delta('wrong'));
  follower.run(said({ stream: 'lifecycle', phase: 'discarded' }));
  follower.run(delta('right'));
  follower.chat(added(assistant('right')));
  assert.deepEqual(shown(), ['began r1', 'wrong', 'note (that was taken back: the model is asked again)', 'right']);
});

test('messages from elsewhere are shown, those that were typed here are not, each once', () => {
  const { follower, shown } = world();
  follower.own('mine');
  const [mine, again, other] = [user('mine'), user('mine'), user('other')];
  for (const entry of [mine, mine, other, again]) follower.chat(added(entry));
  assert.deepEqual(shown(), ['said other', 'said mine']);
  follower.own('goes on');
  follower.chat(added(message({ role: 'user', content: [{ type: 'text', text: 'goes on' }], from: 'Desk: ', timestamp: 0 })));
  assert.deepEqual(shown(), ['said Desk: goes on'], 'what a plugin asked for is said to be of the plugin');
  follower.chat(
    added(message({ role: 'user', content: [{ type: 'text', text: 'look' }], from: 'Morning', via: 'schedule', timestamp: 0 })),
  );
  assert.deepEqual(shown(), ['said schedule "Morning"look']);
});

test("a message of one's own with files does not come into the middle of its answer", () => {
  const file = (name: string) => ({ handle: `a${'0'.repeat(25)}`, name, mime: 'image/png', bytes: 2 });
  const sent = (text: string) =>
    message({
      role: 'user',
      content: [
        { type: 'text', text },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      ],
      attachments: [file('pic.png'), { ...file('huge.png'), unseen: 'bytes' }],
      timestamp: 0,
    });
  const unseen = 'note [file] huge.png (the model does not see it: it is too large for a model)';
  const { follower, shown } = world();
  follower.own('what is in it?');
  follower.run(delta('a '));
  follower.chat(added(sent('what is in it?')));
  follower.run(delta('cat'));
  follower.chat(added(assistant('a cat')));
  assert.deepEqual(shown(), ['began r1', 'a cat', unseen], 'what the model does not see is said after it');
  follower.own('and now?');
  follower.chat(added(sent('and now?')));
  assert.deepEqual(shown(), ['note [file] pic.png', unseen], 'before an answer, all of them');
  follower.chat(added(sent('from elsewhere')));
  assert.deepEqual(shown(), ['said from elsewhere', 'said [image]', 'note [file] pic.png', unseen]);
});

test('a command that was given elsewhere is shown with its answer', () => {
  const { follower, shown } = world();
  const command = (text: string): Entry => ({
    id: `entry-${counter++}`,
    parentId: null,
    at: 0,
    type: 'custom',
    customType: 'command',
    data: { command: text, reply: 'done' },
  });
  follower.own('/status');
  follower.entry(command('/status'));
  follower.entry(command('/compact'));
  assert.deepEqual(shown(), ['said /compact', 'note done']);
});

test('an entry that was too large to be published is asked for, once it is not known', () => {
  const { follower, fetched, shown } = world();
  follower.chat({ sessionKey, kind: 'entry', entryId: 'large-entry' });
  assert.deepEqual(fetched, ['large-entry']);
  const entry = assistant('long');
  follower.entry({ ...entry, id: 'large-entry' });
  follower.chat({ sessionKey, kind: 'entry', entryId: 'large-entry' });
  assert.deepEqual(fetched, ['large-entry']);
  assert.deepEqual(shown(), ['long']);
});

test('a question is asked once, and folded when it was answered anywhere', () => {
  const { follower, shown } = world();
  const approval = { id: 'q', sessionKey, state: 'pending' } as Approval;
  follower.asked(approval);
  follower.asked(approval);
  follower.asked({ ...approval, id: 'x', sessionKey: 'agent:main:other' });
  follower.settled({ id: 'q', state: 'denied' });
  follower.settled({ id: 'q', state: 'denied' });
  follower.settled({ id: 'x', state: 'denied' });
  assert.deepEqual(shown(), ['asked q', 'settled q denied']);
});

test('a program that was run with ! and refused is no success', () => {
  const { follower, shown } = world();
  follower.chat({ sessionKey, kind: 'started', runId: 'r1' });
  const data = { command: 'rm x', output: 'denied' };
  follower.entry({ id: 'bash-1', parentId: null, at: 0, runId: 'r1', type: 'custom', customType: 'bash', data });
  assert.deepEqual(shown(), ['began r1', 'exec rm x failed']);
});

test('a program that was run with ! and denied is told of once, without the words for the model', () => {
  const words = 'The operator denied this call. Do not try to do the same in another way; ask what to do instead.';
  const data = { command: 'rm x', output: words };
  const entry: Entry = { id: 'bash-denied', parentId: null, at: 0, runId: 'r1', type: 'custom', customType: 'bash', data };
  const here = world();
  here.follower.chat({ sessionKey, kind: 'started', runId: 'r1' });
  here.follower.asked({ id: 'q', runId: 'r1', sessionKey, state: 'pending' } as Approval);
  here.follower.settled({ id: 'q', state: 'denied' });
  here.follower.entry(entry);
  here.follower.chat({ sessionKey, kind: 'ended', runId: 'r1', end: { kind: 'refused', reason: words } });
  assert.deepEqual(here.shown(), ['began r1', 'asked q', 'settled q denied', 'ended r1 refused, told']);
  // Who may not see the questions gets it from the entry.
  const elsewhere = world();
  elsewhere.follower.entry(entry);
  assert.deepEqual(elsewhere.shown(), ['exec rm x denied']);
});

test('other sessions are none of its business', () => {
  const { follower, shown } = world();
  follower.chat({ ...added(assistant('x')), sessionKey: 'agent:main:other' });
  follower.run({ ...delta('x'), sessionKey: 'agent:main:other' });
  follower.session({ key: 'agent:main:other', reason: 'delete' });
  assert.deepEqual(shown(), []);
});
