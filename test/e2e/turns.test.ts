// Whole turns as users run them: a real gateway process, the real code of a provider, and a real server on the other side that
// streams, calls tools, refuses, hangs and breaks off.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifies } from '../support/verifies.ts';
import type { AssistantMessage, Entry, RunStream } from '@tenon/protocol';
import { assertUnharmed, eventually } from '../security/harness.ts';
import { call, type Conversation, openConversation, SESSION, told } from '../support/conversation.ts';
import type { ChatBody, ServerStep } from '../support/model-server.ts';

/** What was said of a run, in order, while it ran. */
function streamOf({ admin }: Conversation, runId: string): RunStream[] {
  return admin.frames.flatMap(({ event, payload }) => (event === 'agent' && payload.runId === runId ? [payload as RunStream] : []));
}

function phasesOf(talk: Conversation, runId: string): string[] {
  return streamOf(talk, runId).flatMap((each) => (each.stream === 'lifecycle' ? [each.phase] : []));
}

function endsOf({ admin }: Conversation, runId: string): number {
  return admin.frames.filter(({ event, payload }) => event === 'chat' && payload.kind === 'ended' && payload.runId === runId).length;
}

const answersIn = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.type === 'message' && entry.message.role === 'assistant' ? [entry.message as AssistantMessage] : []));
const textIn = ({ content }: AssistantMessage) => content.map((block) => (block.type === 'text' ? block.text : '')).join('');

/** A gate that a test opens, once for each chunk. */
function createGate() {
  const waiting: (() => void)[] = [];
  let passes = 0;
  return {
    gate: () => (passes-- > 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
    open() {
      const next = waiting.shift();
      if (next) next();
      else passes++;
    },
    openForGood() {
      passes = Number.MAX_SAFE_INTEGER;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

test('an answer is passed on as it comes, piece by piece, and adds up to what is kept', async () => {
  verifies('turns:providers');
  const { gate, open, openForGood } = createGate();
  const prices = '[models.prices]\ninput = 1000\noutput = 2000';
  await using talk = await openConversation({
    model: `thinking = true\n${prices}`,
    script: [{ thinking: ['Hm, ', 'yes.'], text: ['One ', 'two ', 'three.'], usage: { prompt: 1_000, completion: 100 }, gate }],
  });
  const runId = await talk.send('count');
  const heard = (text: string) =>
    talk.admin.find(({ event, payload }) => event === 'agent' && payload.runId === runId && payload.delta === text);
  // Each piece arrives while the server still holds the next one back.
  await heard('Hm, ');
  open();
  await heard('yes.');
  open();
  await heard('One ');
  open();
  await heard('two ');
  assert.equal((await talk.admin.request('agent.wait', { runId, timeoutMs: 0 })).payload.run.state, 'running');
  openForGood();
  const { end, text, run } = await talk.ended(runId);
  assert.deepEqual([end, text], [{ kind: 'completed' }, 'One two three.']);
  const said = streamOf(talk, runId);
  assert.deepEqual(
    said.map(({ seq }) => seq),
    said.map((_, index) => index + (said[0]?.seq ?? 0)),
    'seq counts without a gap',
  );
  const joined = (stream: string) => said.flatMap((each) => (each.stream === stream && 'delta' in each ? [each.delta] : [])).join('');
  assert.deepEqual([joined('thinking'), joined('assistant')], ['Hm, yes.', 'One two three.']);
  assert.deepEqual(phasesOf(talk, runId), ['started', 'model', 'ended']);
  assert.equal(endsOf(talk, runId), 1);
  assert.deepEqual([run.usage.input, run.usage.output], [1_000, 100]);
  assert.ok(Math.abs(run.usage.costUsd - 1.2) < 1e-9, String(run.usage.costUsd));
  const { payload } = await talk.admin.request('usage.get', { sessionKey: SESSION });
  assert.deepEqual([payload.total.calls, payload.total.input], [1, 1_000]);
  const [request] = talk.server.requests;
  assert.equal(request?.body?.stream, true);
  assert.equal(request?.body?.messages[0]?.role, 'system');
});

test('calls that only look run side by side, and their results are told in the order of the calls', async () => {
  // The first page is held back until the second is asked for: one after another would wait forever.
  let release: () => void = () => undefined;
  const second = new Promise<void>((resolve) => {
    release = resolve;
  });
  const pages = createServer((request, response) => {
    if (request.url === '/2') release();
    void second.then(() => response.end(`page ${request.url}`));
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const { port } = pages.address() as AddressInfo;
  try {
    const fetchPage = (id: string, path: string) => ({ id, name: 'web_fetch', arguments: { url: `http://127.0.0.1:${port}${path}` } });
    await using talk = await openConversation({
      config: `[web]\nallowPrivate = ["127.0.0.1:${port}"]\n`,
      script: [{ text: 'Let me look. ', calls: [fetchPage('first', '/1'), fetchPage('second', '/2')] }, { text: 'Seen.' }],
    });
    await talk.admin.request('sessions.create', { key: SESSION, permissions: 'bypass' });
    const { end, text, run } = await talk.say('look');
    assert.deepEqual([end.kind, text], ['completed', 'Seen.']);
    const messages = talk.server.requests[1]?.body?.messages.slice(2) ?? [];
    assert.deepEqual(
      messages.map(({ role, tool_call_id }) => [role, tool_call_id]),
      [
        ['assistant', undefined],
        ['tool', 'first'],
        ['tool', 'second'],
      ],
    );
    assert.deepEqual(
      told(talk.server, 'tool').map((each) => /page \/[12]/.exec(each)?.[0]),
      ['page /1', 'page /2'],
    );
    assert.equal(run.usage.input, 20, 'both calls of the model are counted');
  } finally {
    pages.close();
    pages.closeAllConnections();
  }
});

test('calls that change something run one after another, over several steps, and each is told before the next step', async () => {
  await using talk = await openConversation({
    script: [
      {
        calls: [
          { id: 'a', name: 'write', arguments: { path: 'list.txt', content: 'one\n' } },
          { id: 'b', name: 'edit', arguments: { path: 'list.txt', edits: [{ find: 'one', replace: 'two' }] } },
          { id: 'c', name: 'read', arguments: { path: 'list.txt' } },
        ],
      },
      call('write', { path: 'list.txt', content: 'three\n' }),
      call('read', { path: 'list.txt' }),
      { text: 'Done.' },
    ],
  });
  await talk.admin.request('sessions.create', { key: SESSION, permissions: 'accept-edits' });
  const runId = await talk.send('go');
  const { end, text } = await talk.ended(runId);
  assert.deepEqual([end.kind, text], ['completed', 'Done.']);
  const results = await talk.results();
  assert.deepEqual(
    results.map(({ isError }) => isError),
    [false, false, false, false, false],
  );
  assert.match(results[2]?.text ?? '', /two/);
  assert.match(results[4]?.text ?? '', /three/);
  assert.equal(readFileSync(join(talk.workspace(), 'list.txt'), 'utf8'), 'three\n');
  assert.equal(talk.server.requests.length, 4);
  for (const { body } of talk.server.requests) assertPaired(body);
  const tools = streamOf(talk, runId).flatMap((each) => (each.stream === 'tool' ? [`${each.callId} ${each.phase}`] : []));
  const begun = tools.filter((each) => /started|ended/.test(each));
  assert.deepEqual(begun.slice(0, 6), ['a started', 'a ended', 'b started', 'b ended', 'c started', 'c ended']);
});

/** Every call has its result right behind it, and no result is without its call. */
function assertPaired(body: ChatBody | undefined): void {
  let open: string[] = [];
  for (const { role, tool_calls, tool_call_id } of body?.messages ?? []) {
    if (role === 'tool') {
      assert.equal(open.shift(), tool_call_id, 'a result that belongs to no call before it');
      continue;
    }
    assert.deepEqual(open, [], `calls without a result before a message of ${role}`);
    open = (tool_calls ?? []).map(({ id }) => id);
  }
  assert.deepEqual(open, []);
}

test('stopping in the middle of a stream closes it, keeps what had come, and the next message is answered', async () => {
  const { gate, open } = createGate();
  await using talk = await openConversation({ script: [{ text: ['Half of ', 'an answer'], gate }] });
  const runId = await talk.send('go');
  await talk.admin.find(({ event, payload }) => event === 'agent' && payload.delta === 'Half of ');
  const { payload } = await talk.admin.request('chat.abort', { sessionKey: SESSION });
  assert.deepEqual(payload.aborted, [runId]);
  await talk.server.requests[0]?.closed;
  open();
  const { end } = await talk.ended(runId);
  assert.equal(end.kind, 'aborted');
  const [partial] = answersIn(await talk.history());
  assert.deepEqual([partial && textIn(partial), partial?.stopReason], ['Half of ', 'aborted']);
  assert.equal(endsOf(talk, runId), 1);
  talk.server.next({ text: 'Again.' });
  assert.equal((await talk.say('go on')).text, 'Again.');
  assert.deepEqual((await talk.admin.request('chat.abort', { sessionKey: SESSION })).payload.aborted, [], 'nothing runs');
});

test('stopping in the middle of a tool ends its processes, and every call has its result', async () => {
  const beat = 'while :; do echo x >> beat; sleep 0.02; done';
  await using talk = await openConversation({
    script: [
      {
        calls: [
          { id: 'long', name: 'exec', arguments: { argv: ['sh', '-c', `(${beat}) & ${beat}`] } },
          { id: 'never', name: 'exec', arguments: { command: 'touch never' } },
        ],
      },
    ],
  });
  const file = join(talk.workspace(), 'beat');
  const runId = await talk.send('go');
  await talk.answer(await talk.question(runId), 'allow-once');
  await eventually('the program runs', () => existsSync(file));
  await talk.admin.request('chat.abort', { sessionKey: SESSION });
  const { end } = await talk.ended(runId);
  assert.equal(end.kind, 'aborted');
  const size = readFileSync(file).length;
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(readFileSync(file).length, size, 'nothing is left running');
  assert.ok(!existsSync(join(talk.workspace(), 'never')));
  assert.deepEqual(
    (await talk.results()).map(({ isError }) => isError),
    [true, true],
  );
  talk.server.next({ text: 'Stopped, I see.' });
  assert.equal((await talk.say('and now?')).text, 'Stopped, I see.');
  assertPaired(talk.server.requests.at(-1)?.body);
  await assertUnharmed(talk.gateway);
});

test('stopping while a question waits withdraws it', async () => {
  await using talk = await openConversation({ script: [call('write', { path: 'x', content: 'x' })] });
  const runId = await talk.send('go');
  const { id } = await talk.question(runId);
  await talk.admin.request('chat.abort', { sessionKey: SESSION });
  assert.equal((await talk.ended(runId)).end.kind, 'aborted');
  const answer = await talk.admin.request('approvals.resolve', { id, decision: 'allow-once' });
  assert.equal(answer.error?.code, 'GONE');
  assert.ok(!existsSync(join(talk.workspace(), 'x')));
});

/** Failures that pass: asked again, the server answers. */
const passing: readonly [what: string, step: ServerStep, spoken?: true][] = [
  ['429', { status: 429, headers: { 'retry-after': '0' } }],
  ['500', { status: 500 }],
  ['503', { status: 503, body: 'try later' }],
  ['a reset', { fault: 'reset' }],
  ['no answer at all', { fault: 'no-headers' }],
  ['headers and nothing more', { fault: 'headers' }],
  ['a hang in the middle', { text: 'half', after: 'hang' }, true],
  ['a connection that breaks', { text: 'half', after: 'cut' }, true],
  ['a stream that just ends', { text: 'half', after: 'end' }, true],
  ['half a JSON', { text: 'half', after: 'bad-json' }, true],
  ['an error inside the stream', { text: 'half', after: 'error' }, true],
  ['a call that is cut off', { calls: [{ name: 'exec', arguments: ['{"command":"tou'] }], after: 'cut' }],
];

test('each failure of the server that may pass is tried again, and leaves one answer', async () => {
  // Long enough for the answer that comes on a machine with other work; waited for three times.
  await using talk = await openConversation({ config: '[model]\nattempts = 2\nidleTimeoutMs = 3000\n' });
  const runs = passing.map(async ([what, step, spoken], index) => {
    const sessionKey = `${SESSION}-${index}`;
    return { what, step, spoken, sessionKey };
  });
  for (const { what, step, spoken, sessionKey } of await Promise.all(runs)) {
    const before = talk.server.requests.length;
    talk.server.next(step, { text: 'whole' });
    const runId = await talk.send('go', { sessionKey });
    const { end, text } = await talk.ended(runId);
    assert.deepEqual([end.kind, text], ['completed', 'whole'], `${what}: ${JSON.stringify(end)}`);
    assert.equal(talk.server.requests.length - before, 2, what);
    const phases = phasesOf(talk, runId);
    assert.ok(phases.includes('retry'), `${what}: ${phases}`);
    assert.equal(phases.includes('discarded'), spoken === true, `${what}: ${phases}`);
    const answers = answersIn(await talk.history(sessionKey));
    assert.deepEqual(answers.map(textIn), ['whole'], `${what}: what was taken back is not kept`);
    assert.equal(endsOf(talk, runId), 1, what);
  }
});

/** Failures that nothing helps against: not asked again. */
const lasting: readonly [what: string, step: ServerStep, code: string, says: RegExp][] = [
  ['400', { status: 400, message: 'no such parameter' }, 'invalid_request', /refused the request \(HTTP 400\): no such parameter/],
  ['401', { status: 401, message: 'bad key' }, 'unauthorized', /refused the key \(HTTP 401\).*TEST_MODEL_KEY/],
  ['403', { status: 403, message: 'not yours' }, 'unauthorized', /HTTP 403/],
  ['404', { status: 404, message: 'no such model' }, 'invalid_request', /no such model/],
];

test('each failure of the server that lasts ends the turn with its reason, and the session goes on', async () => {
  await using talk = await openConversation({ config: '[model]\nattempts = 3\n' });
  for (const [what, step, code, says] of lasting) {
    const before = talk.server.requests.length;
    talk.server.next(step);
    const { end } = await talk.say('go');
    assert.deepEqual([end.kind, end.code], ['failed', code], what);
    assert.match(end.reason ?? '', says, what);
    assert.equal(talk.server.requests.length - before, 1, `${what}: asked once`);
    talk.server.next({ text: 'fine' });
    assert.equal((await talk.say('go')).text, 'fine', what);
  }
  // A failure that would pass, and does not.
  talk.server.next({ status: 503 }, { status: 503 }, { status: 503 });
  const { end } = await talk.say('go');
  assert.deepEqual([end.kind, end.code], ['failed', 'overloaded']);
});

test('a model that stays away is replaced by the next one, and the transcript says which one answered', async () => {
  await using talk = await openConversation({
    config: '[model]\nattempts = 2\nfallbacks = ["nowhere", "backup"]\n',
    model: ({ url }) => `[[models]]\nid = "backup"\nprovider = "openai-compatible"\nname = "spare"\nbaseUrl = "${url}"\n`,
    script: [{ status: 500 }, { text: 'half', after: 'cut' }, { text: 'From the spare one.' }],
  });
  const runId = await talk.send('go');
  const { end, text } = await talk.ended(runId);
  assert.deepEqual([end.kind, text], ['completed', 'From the spare one.']);
  assert.deepEqual(
    talk.server.requests.map(({ body }) => body?.model),
    ['test', 'test', 'spare'],
  );
  assert.equal(talk.server.requests[2]?.headers.authorization, undefined, 'a key goes to its own model only');
  const phases = phasesOf(talk, runId);
  assert.ok(phases.includes('fallback') && phases.includes('discarded'), phases.join());
  assert.deepEqual(
    answersIn(await talk.history()).map(({ model }) => model),
    ['backup'],
  );
  const { payload } = await talk.admin.request('usage.get', { runId });
  assert.deepEqual(
    payload.byModel.map(({ model }: { model: string }) => model),
    ['backup'],
  );
});

test('when the window fills, what was said is summed up: no pair is torn, and the turn goes on', async () => {
  const isSummary = (body: ChatBody | undefined) => (body?.tools ?? []).length === 0;
  await using talk = await openConversation({ model: 'contextWindow = 8192\nmaxOutputTokens = 512' });
  mkdirSync(talk.workspace(), { recursive: true });
  writeFileSync(join(talk.workspace(), 'long.txt'), `${'a long line of text in a file\n'.repeat(150)}`);
  let summaries = 0;
  const step: ServerStep = (request) => {
    if (isSummary(request.body)) return { text: `SUMMARY ${++summaries}` };
    const last = request.body?.messages.at(-1)?.role;
    return last === 'tool'
      ? { text: `It says a lot. ${'And so on. '.repeat(100)}` }
      : { calls: [{ name: 'read', arguments: { path: 'long.txt' } }] };
  };
  for (let round = 1; round <= 8; round++) {
    talk.server.next(step, step, step, step);
    const { end } = await talk.say(`Round ${round}: read it again`);
    assert.equal(end.kind, 'completed', `round ${round}: ${JSON.stringify(end)}`);
  }
  assert.ok(summaries >= 1, 'it was summed up');
  const asked = talk.server.requests.filter(({ body }) => !isSummary(body));
  for (const { body } of asked) assertPaired(body);
  const after = asked.at(-1)?.body?.messages ?? [];
  assert.match(JSON.stringify(after[1]), /What was said before, summed up:.*SUMMARY/);
  assert.ok(JSON.stringify(after).length / 4 < 8_192, 'what is told fits the window');
  const kept = (await talk.history()).filter((entry) => entry.type === 'message' && entry.message.role === 'user');
  assert.equal(kept.length, 8, 'the transcript keeps everything');
});

test('a server that says the conversation is too long gets a shorter one', async () => {
  await using talk = await openConversation();
  for (const message of ['first', 'second', 'third']) {
    talk.server.next({ text: 'An answer. '.repeat(50) });
    await talk.say(`${message} ${'and more words '.repeat(200)}`);
  }
  talk.server.next(
    { status: 400, code: 'context_length_exceeded', message: "This model's maximum context length is 100 tokens" },
    { text: 'SUMMARY' },
    { text: 'Shorter.' },
  );
  const { end, text } = await talk.say('and now?');
  assert.deepEqual([end.kind, text], ['completed', 'Shorter.'], JSON.stringify(end));
  assert.match(JSON.stringify(talk.server.requests.at(-1)?.body?.messages), /SUMMARY/);
});

test('a turn takes so many steps and no more', async () => {
  const step: ServerStep = call('ls', {});
  await using talk = await openConversation({ config: '[agent]\nmaxSteps = 3\n', script: [step, step, step, step] });
  const { end } = await talk.say('go');
  assert.equal(end.kind, 'step_limit');
  assert.match(end.reason ?? '', /agent\.maxSteps/);
  assert.equal(talk.server.requests.length, 3);
  assert.equal((await talk.results()).length, 3, 'every call has its result');
});
