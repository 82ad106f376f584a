import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, AssistantMessage as AssistantMessageSchema, type AssistantMessage, type JsonObject, type Message } from '@tenon/protocol';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { attachedNote } from './attached-note.ts';
import { demoKinds, type DemoFacts } from './demo-kinds.ts';
import { demoTasks, findTask } from './demo-tasks.ts';
import { createDemoModel } from './demo.ts';
import type { ModelEvent, ModelRequest } from './types.ts';

const NOW = 1_700_000_000_000;
const clock: Clock = { ...systemClock, now: () => NOW };

const facts: DemoFacts = {
  version: '9.8.7',
  startedAt: NOW - 3_700_000,
  address: 'http://127.0.0.1:18789',
  configFile: '/home/me/.tenon/tenon.toml',
  store: 'sqlite',
  sessions: [{ key: 'agent:main:main', title: 'Garden' }, { key: 'agent:main:two' }],
  moreSessions: false,
  pendingApprovals: 1,
  permissions: 'ask',
  sandbox: 'Programs run in a sandbox.',
};

const tools = ['ls', 'read', 'write', 'exec'].map((name) => ({ name, description: `Does ${name}. And more.`, parameters: {} }));

const model = createDemoModel({ clock, facts: () => facts, models: () => [model.info], isDefault: true, paceMs: 0 });

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 });

async function events(messages: readonly Message[], change: Partial<ModelRequest> = {}, signal = new AbortController().signal) {
  const all: ModelEvent[] = [];
  for await (const event of model.stream({ system: '', messages, tools, thinking: 'off', ...change }, signal)) all.push(event);
  return all;
}

async function ask(messages: readonly Message[], change?: Partial<ModelRequest>): Promise<AssistantMessage> {
  const all = await events(messages, change);
  const end = all.at(-1);
  assert.equal(end?.type, 'end', JSON.stringify(end));
  assert.ok(matches(AssistantMessageSchema, end.message));
  const streamed = all.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join('');
  assert.equal(said(end.message), streamed);
  return end.message;
}

function said(message: AssistantMessage): string {
  return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

function callOf(message: AssistantMessage) {
  const call = message.content.find((block) => block.type === 'toolCall');
  return call?.type === 'toolCall' ? call : undefined;
}

const expected: Readonly<Record<string, RegExp>> = {
  'What Tenon is': /demo model of Tenon 9\.8\.7/,
  'How to add a real model': /\[\[models\]\][\s\S]*openai-compatible/,
  'Which models there are': /`demo` \(demo\)/,
  Sessions: /2 sessions[\s\S]*agent:main:main` Garden/,
  'How the gateway is': /running for 1 hour and 1 minute at http:\/\/127\.0\.0\.1:18789/,
  'Approvals and permissions': /`ask`: reading goes ahead[\s\S]*1 question waiting/,
  Tools: /4 tools[\s\S]*`exec`: Does exec\./,
  'Plugins and extensions': /None runs before you enable it/,
  'Our conversation so far': /first thing you said/,
  'The time': /2023-11-14 22:13 UTC/,
};

test('there are ten kinds of question, and each answers its own example from the facts', async () => {
  assert.equal(demoKinds.length, 10);
  for (const { name, example } of demoKinds) {
    assert.match(said(await ask([user(example)])), expected[name] ?? assert.fail(`no expectation for ${name}`));
    assert.equal(demoKinds.find((kind) => kind.matches.test(example))?.name, name, 'an example is its own kind');
    assert.equal(findTask(example), undefined, 'a question is no task');
  }
});

test('an answer comes in several pieces and is the same each time', async () => {
  const [first, second] = [await events([user('What are you?')]), await events([user('What are you?')])];
  assert.deepEqual(first, second);
  assert.ok(first.filter(({ type }) => type === 'text').length > 20);
});

test('what it does not understand is answered with everything it does', async () => {
  const text = said(await ask([user('Prove the Riemann hypothesis')]));
  for (const { example } of [...demoKinds, ...demoTasks]) assert.ok(text.includes(example), example);
  assert.match(text, /did not understand/);
  assert.doesNotMatch(said(await ask([user('help')])), /did not understand/);
});

test('it remembers what was said', async () => {
  const text = said(await ask([user('My cat is Tom'), await ask([user('My cat is Tom')]), user('What did I say so far?')]));
  assert.match(text, /1 thing:\n\n- My cat is Tom/);
});

const tasks: readonly [string, string, JsonObject][] = [
  ['list the files', 'ls', { path: '.' }],
  ['List files in src', 'ls', { path: 'src' }],
  ['Please list the files in the folder notes', 'ls', { path: 'notes' }],
  ['Which files are there?', 'ls', { path: '.' }],
  ['Can you show me the files in my workspace?', 'ls', { path: '.' }],
  ['Read notes/a.md', 'read', { path: 'notes/a.md' }],
  ['show me the file README.md', 'read', { path: 'README.md' }],
  ['open "todo.txt"', 'read', { path: 'todo.txt' }],
  ['Write a note: water the plants', 'write', { path: 'notes/water-the-plants.md', content: 'water the plants\n' }],
  ['note: Käse & Brot', 'write', { path: 'notes/kase-brot.md', content: 'Käse & Brot\n' }],
  ['write a note that says "hello there"', 'write', { path: 'notes/hello-there.md', content: 'hello there\n' }],
  ['Write a note called Shopping: milk', 'write', { path: 'notes/shopping.md', content: 'milk\n' }],
  ['write a note about ../../etc/passwd', 'write', { path: 'notes/etc-passwd.md', content: '../../etc/passwd\n' }],
  ['Run uname -a', 'exec', { command: 'uname -a' }],
  ['Call ls {"path": "src"}', 'ls', { path: 'src' }],
  ['please call the tool `read` with {"path": "a.md"}', 'read', { path: 'a.md' }],
  ['call ls', 'ls', {}],
  ['please run the command `ls | wc -l`', 'exec', { command: 'ls | wc -l' }],
];
for (const [text, tool, args] of tasks) {
  test(`"${text}" calls ${tool}`, async () => {
    const message = await ask([user(text)]);
    const call = callOf(message);
    assert.deepEqual([call?.name, call?.arguments, message.stopReason], [tool, args, 'toolUse']);
  });
}

for (const text of [
  'run',
  'read',
  'write a note',
  'I want to run away',
  'show me how plugins work',
  'note',
  'call me later',
  'Call ls {"path": }',
]) {
  test(`"${text}" calls nothing`, async () => assert.equal(callOf(await ask([user(text)])), undefined));
}

test('what plugins put before and after the message does not hide what the person said', async () => {
  const block = (text: string) => ({ type: 'text' as const, text });
  const message: Message = {
    role: 'user',
    content: [block('Only look: the tools that write are closed.'), block('Run uname -a'), block('Keep it short.')],
    timestamp: 1,
  };
  assert.equal(callOf(await ask([message]))?.name, 'exec');
});

test('of the files that came with a message it reads the first that is text, and names the others', async () => {
  const picture = { handle: 'picture-picture-1', name: 'a "b".png', mime: 'image/png', bytes: 50_287, unseen: 'bytes' as const };
  const note = { handle: 'note-note-note-12', name: 'note.txt', mime: 'text/plain', bytes: 1 };
  const withFiles = (text: string, files: (typeof picture | typeof note)[]): Message => ({
    role: 'user',
    content: [text, attachedNote(files)].map((each) => ({ type: 'text', text: each })),
    timestamp: 1,
  });
  const reader = [...tools, { name: 'attachment_read', description: 'Reads.', parameters: {} }];

  const both = await ask([withFiles('what is in it?', [picture, note])], { tools: reader });
  assert.deepEqual(callOf(both)?.arguments, { handle: note.handle });
  assert.match(said(both), /2 files:[\s\S]*`a "b"\.png` \(image\/png, 50287 bytes\)[\s\S]*`note\.txt` \(text\/plain, 1 byte\)/);

  const unread = await ask([withFiles('summarize this', [picture])], { tools: reader });
  assert.equal(callOf(unread), undefined);
  assert.match(said(unread), /1 file:[\s\S]*I can read only text/);

  const task = await ask([withFiles('Run uname -a', [note])], { tools: reader });
  assert.equal(callOf(task)?.name, 'exec');
  assert.match(said(await ask([withFiles('hello', [note]), user('What did I say so far?')])), /1 thing:\n\n- hello$/);
});

test('without the tool it says so', async () => {
  const message = await ask([user('Run uname -a')], { tools: [] });
  assert.equal(callOf(message), undefined);
  assert.match(said(message), /`exec`[\s\S]*do not have it/);
});

test('arguments that are no JSON are said to be so, and a turn that a plugin asked for is answered with what it told', async () => {
  assert.match(said(await ask([user('Call ls {"path": }')])), /What stands after `ls` is no JSON object/);
  const texts = ['The door is open.', '(No person wrote this: the plugin Desk asks the agent to go on.)'];
  const message: Message = { role: 'user', content: texts.map((text) => ({ type: 'text', text })), from: 'Desk', timestamp: 1 };
  assert.equal(said(await ask([message])), 'I go on, because Desk asks for it. I was told:\n\n- The door is open.');
});

async function afterTool(text: string, output: string, isError = false): Promise<string> {
  const asked = await ask([user(text)]);
  const call = callOf(asked) ?? assert.fail('no call');
  const result: Message = {
    role: 'toolResult',
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: 'text', text: output }],
    isError,
    timestamp: 2,
  };
  const message = await ask([user(text), asked, result]);
  assert.equal(message.stopReason, 'stop');
  return said(message);
}

test('after the tool has answered it says in words what came of it', async () => {
  assert.match(await afterTool('list the files', 'a.md\nsrc/'), /The workspace has 2 entries:\n\n```\na\.md\nsrc\/\n```/);
  for (const nothing of ['', 'The folder is empty']) assert.match(await afterTool('list the files in src', nothing), /`src` is empty/);
  assert.match(await afterTool('read a.md', 'one ``` two'), /`a\.md` says:\n\n````\none ``` two\n````/);
  assert.match(await afterTool('write a note: milk', 'written'), /the note is in `notes\/milk\.md`/);
  assert.match(await afterTool('run date', 'Tuesday'), /`date` printed:\n\n```\nTuesday/);
  assert.match(await afterTool('run date', 'Tuesday\n[Exit code 0]'), /`date` printed:\n\n```\nTuesday\n```$/);
  assert.match(await afterTool('run true', '[Exit code 0]'), /`true` ran and printed nothing/);
  assert.match(await afterTool('read a.md', '<foreign-text>\nfrom: a.md\none\ntwo\n</foreign-text>'), /says:\n\n```\none\ntwo\n```$/);
  assert.match(await afterTool('read a.md', '[a.md is empty]'), /`read` says: a\.md is empty\./);
  assert.match(await afterTool('read a.md', 'line\n'.repeat(500)), /There is more/);
});

test('it says when a tool failed and when it was not allowed', async () => {
  assert.match(await afterTool('read gone.md', 'Cannot find "gone.md"', true), /did not work\. `read` says: Cannot find "gone\.md"/);
  const refused = `Blocked by gate: ${'it is down for a reason that is long '.repeat(8)}and this is what to do`;
  assert.match(await afterTool('read a.md', refused, true), /and this is what to do$/, 'how to get out of it stands at the end');
  assert.match(await afterTool('run rm x', 'The operator denied this call', true), /Nothing was done: `exec` was not allowed/);
});

test('a summary names what was said and used', async () => {
  const messages = [user('My cat is Tom'), user('Summarize the conversation so far.')];
  assert.match(said(await ask(messages, { tools: [] })), /- My cat is Tom/);
  const told = user(
    'Sum up this conversation.\n\n<conversation>\nUser: list files\n\nAgent: Looking.\nCalls ls {"path":"."}\n</conversation>',
  );
  assert.match(said(await ask([told], { tools: [] })), /- list files\n\nTools that were used: ls\./);
});

test('an abort stops it between two words', async () => {
  const controller = new AbortController();
  const all: ModelEvent[] = [];
  for await (const event of model.stream({ system: '', messages: [user('help')], tools, thinking: 'off' }, controller.signal)) {
    all.push(event);
    if (all.length === 3) controller.abort();
  }
  const last = all.at(-1);
  assert.equal(all.length, 4);
  assert.equal(last?.type === 'failed' && last.failure.kind, 'aborted');
});

test('with a pace it waits between words, and an abort ends the wait', async () => {
  const waits: number[] = [];
  const waiting = Promise.withResolvers<void>();
  const slow: Clock = {
    ...clock,
    after(ms) {
      waits.push(ms);
      waiting.resolve();
      return { cancel: () => undefined };
    },
  };
  const controller = new AbortController();
  const paced = createDemoModel({ clock: slow, facts: () => facts, models: () => [], isDefault: true });
  const stream = paced.stream({ system: '', messages: [user('help')], tools, thinking: 'off' }, controller.signal)[Symbol.asyncIterator]();
  await stream.next();
  const next = stream.next();
  await waiting.promise;
  controller.abort();
  assert.equal((await next).value?.type, 'failed');
  assert.deepEqual(waits, [12]);
});

test('facts that cannot be had are a failure, not a throw', async () => {
  const broken = createDemoModel({
    clock,
    facts: () => Promise.reject(new Error('store away')),
    models: () => [],
    isDefault: true,
    paceMs: 0,
  });
  const all: ModelEvent[] = [];
  for await (const event of broken.stream({ system: '', messages: [user('status')], tools, thinking: 'off' }, new AbortController().signal))
    all.push(event);
  assert.deepEqual(all, [{ type: 'failed', failure: { kind: 'bad_output', message: 'Model "demo": store away' } }]);
});
