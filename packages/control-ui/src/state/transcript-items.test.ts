import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Approval, Entry } from '@tenon/protocol';
import { type ChatState, emptyChat } from './chat-state.ts';
import { transcriptItems } from './transcript-items.ts';

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
let lastId = 0;
function entryOf(fields: object): Entry {
  return { id: `e${++lastId}`, parentId: null, at: 1_000, runId: 'r', ...fields } as Entry;
}
const message = (content: object) => entryOf({ type: 'message', message: content });
const user = (text: string) => message({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 });
const assistant = (content: object[], more: object = {}) =>
  message({ role: 'assistant', content, provider: 'p', model: 'm', usage, stopReason: 'stop', timestamp: 1, ...more });
const call = (id: string, name = 'ls', args: object = { path: '.' }) => ({ type: 'toolCall', id, name, arguments: args });
const result = (toolCallId: string, more: object = {}) =>
  message({
    role: 'toolResult',
    toolCallId,
    toolName: 'ls',
    content: [{ type: 'text', text: 'out' }],
    isError: false,
    timestamp: 1,
    ...more,
  });

const approvalOf = (fields: Partial<Approval>): Approval =>
  ({ id: 'a'.repeat(16), callId: 'c', sessionKey: 'agent:main:a', state: 'pending', title: 'Write?', ...fields }) as Approval;

function itemsOf(chat: Partial<ChatState>, approvals: Approval[] = []) {
  const whole: ChatState = { ...emptyChat('agent:main:a'), loaded: { kind: 'ready' }, ...chat };
  return transcriptItems({ chat: whole, approvals, deciding: new Map(), agent: 'main', dayOf: (at) => Math.floor(at / 86_400_000) });
}
const kinds = (chat: Partial<ChatState>, approvals: Approval[] = []) => itemsOf(chat, approvals).map((item) => item.kind);
const run = (fields: object = {}) => ({ runId: 'r', state: 'running' as const, createdAt: 1, segments: [], tools: new Map(), ...fields });

test('a message, its answer and its tool stand in the order in which they happened', () => {
  const entries = [
    user('list'),
    assistant([{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I look' }, call('c')]),
    result('c'),
    assistant([{ type: 'text', text: 'done' }]),
  ];
  const items = itemsOf({ entries });
  assert.deepEqual(
    items.map((item) => item.kind),
    ['day', 'user', 'assistant', 'tool', 'assistant'],
  );
  const [, , first, tool] = items;
  assert.equal(first?.kind === 'assistant' && first.thinking, 'hm');
  assert.deepEqual(tool?.kind === 'tool' && [tool.state, tool.output, tool.subject], ['done', 'out', '.']);
});

test('a turn that a plugin asked for is a note of the plugin, also while it waits', () => {
  const asked = message({ role: 'user', content: [{ type: 'text', text: 'goes on' }], from: 'Desk', timestamp: 1 });
  const shown = (chat: Partial<ChatState>) => itemsOf(chat).flatMap((item) => (item.kind === 'custom' ? [[item.from, item.text]] : []));
  assert.deepEqual(shown({ entries: [asked] }), [['Desk', 'goes on']]);
  const runs = new Map([['q', run({ runId: 'q', state: 'queued', text: 'goes on', from: 'Desk' })]]);
  assert.deepEqual(shown({ entries: [user('hi')], runs }), [['Desk', 'goes on']]);
});

test('a turn that a schedule or a heartbeat began is not shown as written by the person', () => {
  for (const via of ['schedule', 'heartbeat'] as const) {
    const told = message({ role: 'user', content: [{ type: 'text', text: 'look' }], from: 'Morning', via, timestamp: 1 });
    const runs = new Map([['q', run({ runId: 'q', state: 'queued', text: 'look', from: 'Morning', via })]]);
    for (const chat of [{ entries: [told] }, { entries: [user('hi')], runs }]) {
      const [item] = itemsOf(chat).flatMap((each) => (each.kind === 'custom' ? [each] : []));
      assert.deepEqual([item?.from, item?.via, item?.text], ['Morning', via, 'look']);
    }
  }
});

test('a tool says which plugin offers it; the rest is of the host', () => {
  const chat: ChatState = {
    ...emptyChat('agent:main:a'),
    entries: [assistant([call('c')]), result('c'), result('d', { toolName: 'greet' })],
  };
  const items = transcriptItems({ chat, approvals: [], deciding: new Map(), agent: 'main', owners: new Map([['greet', 'greeter']]) });
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'tool' ? [[item.name, item.offeredBy]] : [])),
    [
      ['ls', 'host'],
      ['greet', 'greeter'],
    ],
  );
});

test('a delivery has its buttons until one is pressed, wherever that was; without the delivery the press is a line', () => {
  const custom = (id: string, customType: string, data: object) =>
    ({ ...user('x'), id, type: 'custom', customType, data }) as unknown as Entry;
  const delivery = { channel: 'webchat', by: 'reminders', byName: 'Reminders', attachments: [], presentation: { title: 'Tea' } };
  const pressed = { entryId: 'd1', buttonId: 'done', label: 'Done', pluginId: 'reminders' };
  const shown = itemsOf({ entries: [custom('d1', 'delivery', delivery), custom('p1', 'delivery_pressed', pressed)] }).slice(1);
  assert.deepEqual(
    shown.map((item) => item.kind === 'delivery' && [item.entryId, item.sessionKey, item.pressed?.label]),
    [['d1', 'agent:main:a', 'Done']],
  );
  assert.deepEqual(kinds({ entries: [custom('p1', 'delivery_pressed', pressed)] }), ['day', 'custom']);
  const edited = custom('e1', 'delivery_edited', { entryId: 'd1', by: 'reminders', byName: 'Reminders', revision: 2, text: 'It is ready' });
  const [, changed] = itemsOf({ entries: [custom('d1', 'delivery', delivery), custom('p1', 'delivery_pressed', pressed), edited] });
  assert.ok(changed?.kind === 'delivery' && changed.pressed?.label === 'Done', 'what was pressed stays pressed');
  assert.deepEqual([changed.delivery.text, changed.delivery.presentation, changed.delivery.by], ['It is ready', undefined, 'reminders']);
  const [, alone] = itemsOf({ entries: [edited] });
  assert.ok(alone?.kind === 'custom' && alone.text === 'Changed: It is ready');
  const failed = custom('f1', 'delivery_failed', { entryId: 'd1', channel: 'line', reason: 'nobody answers', attempts: 6 });
  const [, line] = itemsOf({ entries: [failed] });
  assert.ok(line?.kind === 'custom' && line.text === 'Not delivered over line: nobody answers');
  assert.deepEqual(kinds({ entries: [custom('d2', 'delivery', { by: 3 })] }), ['day'], 'an import may have brought anything');
});

test('days get one line each', () => {
  const day = 86_400_000;
  const entries = [user('a'), { ...user('b'), at: 2_000 }, { ...user('c'), at: day + 1 }];
  assert.deepEqual(kinds({ entries }), ['day', 'user', 'user', 'day', 'user']);
});

test('a call without a result is running while its run is, and interrupted after it', () => {
  const entries = [assistant([call('c')])];
  const state = (chat: Partial<ChatState>) => itemsOf(chat).find((item) => item.kind === 'tool')?.state;
  assert.equal(state({ entries, runs: new Map([['r', run()]]) }), 'running');
  assert.equal(state({ entries }), 'interrupted');
});

test('how a call ended is read from its result', () => {
  const stateOf = (more: object) => {
    const tool = itemsOf({ entries: [assistant([call('c')]), result('c', more)] }).find((item) => item.kind === 'tool');
    return tool?.kind === 'tool' ? tool.state : undefined;
  };
  assert.equal(stateOf({ isError: true }), 'failed');
  assert.equal(stateOf({ isError: true, details: { outcome: 'denied' } }), 'denied');
  assert.equal(stateOf({ isError: true, details: { outcome: 'blocked' } }), 'blocked');
  assert.equal(stateOf({ isError: true, details: { outcome: 'interrupted' } }), 'interrupted');
});

test('an approval stands right after its call, which waits; without the call it stands at the end', () => {
  const entries = [assistant([call('c'), call('d')])];
  const items = itemsOf({ entries, runs: new Map([['r', run()]]) }, [approvalOf({})]);
  assert.deepEqual(
    items.map((item) => item.kind),
    ['day', 'tool', 'approval', 'tool'],
  );
  assert.equal(items[1]?.kind === 'tool' && items[1].state, 'waiting');
  assert.deepEqual(kinds({ entries: [] }, [approvalOf({})]), ['approval']);
  assert.deepEqual(
    kinds({ entries: [] }, [approvalOf({ state: 'denied' })]),
    [],
    'a decision about a call that is not shown is for the inbox',
  );
});

test('a model that numbers its calls from the beginning in each run: every approval stands with the call of its own run', () => {
  const ran = (runId: string, entry: Entry): Entry => ({ ...entry, runId });
  const entries = [ran('r1', assistant([call('c')])), ran('r1', result('c')), ran('r2', assistant([call('c')]))];
  const items = itemsOf({ entries, runs: new Map([['r2', run({ runId: 'r2' })]]) }, [
    approvalOf({ id: 'first', runId: 'r1', state: 'denied' }),
    approvalOf({ id: 'second', runId: 'r2' }),
  ]);
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'tool' ? [item.state] : item.kind === 'approval' ? [item.approval.id] : [])),
    ['done', 'first', 'waiting', 'second'],
  );
});

test('a decided approval stays with its call', () => {
  const entries = [assistant([call('c')]), result('c')];
  const items = itemsOf({ entries }, [approvalOf({ state: 'allowed', decision: 'allow-once' })]);
  assert.deepEqual(
    items.map((item) => item.kind),
    ['day', 'tool', 'approval'],
  );
  assert.equal(items[1]?.kind === 'tool' && items[1].state, 'done', 'the result finds its call although the approval came between');
});

test('what streams comes after the entries, and only the last part has the caret', () => {
  const segment = (key: string, text: string) => ({ key, text, thinking: '', startedAt: 1, textAt: 1 });
  const runs = new Map([['r', run({ segments: [segment('s1', 'one'), segment('s2', 'two')] })]]);
  const items = itemsOf({ entries: [user('hi')], runs });
  assert.deepEqual(
    items.slice(2).map((item) => item.kind === 'assistant' && [item.text, item.streaming]),
    [
      ['one', false],
      ['two', true],
    ],
  );
});

test('a run that has said nothing yet shows that it is at work, unless something else does', () => {
  const runs = new Map([['r', run()]]);
  assert.deepEqual(kinds({ entries: [user('hi')], runs }).at(-1), 'notice');
  assert.deepEqual(kinds({ entries: [assistant([call('c')])], runs }).at(-1), 'tool');
});

test('messages that wait stand at the end, and one that is on its way keeps its key when it arrives', () => {
  const outgoing = [{ runId: 'q', text: 'later', images: [], at: 2, state: 'sent' as const }];
  const runs = new Map([
    ['r', run()],
    ['q', run({ runId: 'q', state: 'queued', createdAt: 3, text: 'later' })],
  ]);
  const items = itemsOf({ entries: [user('hi')], runs, outgoing });
  const last = items.at(-1);
  assert.deepEqual(last?.kind === 'user' && [last.state, last.text, last.key], ['queued', 'later', 'user:q']);
  assert.equal(items.filter((item) => item.kind === 'user').length, 2);
  const told = itemsOf({ entries: [{ ...user('later'), runId: 'q' }] }).at(-1);
  assert.equal(told?.key, 'user:q');
});

test('how a run ended is said once: by the transcript, or by the event where the transcript does not', () => {
  const stopped = assistant([{ type: 'text', text: 'hal' }], { stopReason: 'aborted' });
  const ended = [{ runId: 'r', end: { kind: 'aborted' as const }, at: 1, after: stopped.id }];
  const ends = itemsOf({ entries: [stopped], ended }).filter((item) => item.kind === 'notice');
  assert.equal(ends.length, 1);
  const failed = itemsOf({ entries: [user('x'), assistant([], { stopReason: 'error', errorMessage: 'overloaded' })] }).at(-1);
  assert.deepEqual(failed?.kind === 'notice' && failed.notice.type === 'end' && [failed.notice.end.reason, failed.notice.retryable], [
    'overloaded',
    true,
  ]);
});

test('every row has its own key, whatever ids an import brought', () => {
  const entries = [
    assistant([call('same')]),
    result('same'),
    { ...assistant([call('same')]), id: 'x1' },
    { ...result('same'), id: 'x1' },
    { ...user('a'), id: 'x1', runId: undefined } as never,
  ];
  const keys = itemsOf({ entries }).map((item) => item.key);
  assert.equal(new Set(keys).size, keys.length);
});

test('commands, summaries and notes of others are rows of their own; what is not for people is not shown', () => {
  const entries = [
    entryOf({ type: 'custom', customType: 'command', data: { text: '/status', reply: 'All well' } }),
    entryOf({ type: 'custom', customType: 'plugin-state', data: { n: 1 } }),
    entryOf({ type: 'compaction', summary: 's', firstKeptEntryId: 'e1aa', tokensBefore: 10 }),
    entryOf({
      type: 'custom_message',
      customType: 'note',
      content: [{ type: 'text', text: 'psst' }],
      display: true,
      details: { label: 'cert-watch' },
    }),
    entryOf({ type: 'custom_message', customType: 'note', content: [], display: false }),
  ];
  const items = itemsOf({ entries }).slice(1);
  assert.deepEqual(
    items.map((item) => (item.kind === 'notice' ? item.notice.type : item.kind === 'custom' ? item.from : item.kind)),
    ['command', 'compaction', 'cert-watch'],
  );
});

test('an entry of an extension is a row where it says how it is shown: Markdown as it is, all else with its columns', () => {
  const shown = (block: object, text: string) =>
    entryOf({ type: 'custom', customType: 'extension', data: { plugin: 'watch', entry: {}, block, text } });
  const entries = [
    shown({ kind: 'markdown', text: '**up**' }, '**up**'),
    shown({ kind: 'table' }, 'a  b\n```'),
    entryOf({ type: 'custom', customType: 'extension', data: { plugin: 'watch', entry: { tag: 'none' } } }),
  ];
  const items = itemsOf({ entries }).slice(1);
  assert.deepEqual(
    items.map((item) => (item.kind === 'custom' ? [item.from, item.text] : item.kind)),
    [
      ['watch', '**up**'],
      ['watch', '````\na  b\n```\n````'],
    ],
  );
});

test('the first line changes its key when older messages of the same day arrive', () => {
  const [older, newer] = [user('a'), user('b')];
  assert.notEqual(itemsOf({ entries: [newer] })[0]?.key, itemsOf({ entries: [older, newer] })[0]?.key);
});

test('the lines of a reply stay lines, and its code stays as it is', () => {
  const data = { command: '/status', reply: 'Session: a\nAgent: main\n\n- one\n- two\n\n```\nx\ny\n```' };
  const notice = itemsOf({ entries: [entryOf({ type: 'custom', customType: 'command', data })] }).at(-1);
  const reply = notice?.kind === 'notice' && notice.notice.type === 'command' ? notice.notice.reply : '';
  assert.match(reply, /^Session: a {2}\nAgent: main\n\n/);
  assert.match(reply, /```\nx\ny\n```$/);
});
