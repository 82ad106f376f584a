import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import OpenAI from 'openai';
import { openTestServer, type TestServer } from '../test-server.ts';

function clientOf(server: TestServer, apiKey = server.token): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${server.net.url}/v1`, maxRetries: 0 });
}

function post(server: TestServer, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.net.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}`, ...headers },
    body: JSON.stringify(body),
  });
}

const hello = { model: 'tenon', messages: [{ role: 'user' as const, content: 'hello' }] };

async function eventually(what: string, check: () => boolean): Promise<void> {
  const until = Date.now() + 5_000;
  while (!check()) {
    if (Date.now() > until) assert.fail(`did not happen: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('models.list gives the agents and the models that can be used', async () => {
  await using server = await openTestServer();
  const { data } = await clientOf(server).models.list();
  assert.deepEqual(
    data.map(({ id }) => id),
    ['tenon', 'tenon/main', 'tenon/coder', 'demo', 'gpt-x'],
  );
});

test('an answer comes whole, with its usage, in a session of its own', async () => {
  await using server = await openTestServer();
  server.script = ({ say }) => {
    say({ stream: 'assistant', delta: 'Hello ' });
    say({ stream: 'assistant', delta: 'you' });
    return { kind: 'completed' };
  };
  const { data, response } = await clientOf(server).chat.completions.create(hello).withResponse();
  assert.equal(data.choices[0]?.message.content, 'Hello you');
  assert.equal(data.choices[0]?.finish_reason, 'stop');
  assert.equal(data.model, 'tenon');
  assert.deepEqual([data.usage?.prompt_tokens, data.usage?.total_tokens], [0, 0]);
  const sessionKey = response.headers.get('x-tenon-session-key') ?? '';
  assert.match(sessionKey, /^agent:main:v1-[\w-]{22}$/);
  const { run, content, options } = await server.store.read('runs.message', { runId: response.headers.get('x-tenon-run-id') ?? '' });
  assert.equal(run.sessionKey, sessionKey);
  assert.deepEqual([run.trigger, content, options], ['api', [{ type: 'text', text: 'hello' }], { startsSession: true }]);
});

test('a stream says the role, the text, the thoughts, why it ends, and the usage when asked; tools are comments', async () => {
  await using server = await openTestServer();
  server.script = ({ say }) => {
    say({ stream: 'lifecycle', phase: 'started' });
    say({ stream: 'thinking', delta: 'hm' });
    say({ stream: 'assistant', delta: 'Let me ' });
    say({ stream: 'assistant', delta: 'look.' });
    say({ stream: 'tool', callId: 'c1', name: 'ls', phase: 'started' });
    say({ stream: 'tool', callId: 'c1', name: 'ls', phase: 'ended' });
    say({ stream: 'assistant', delta: 'One file.' });
    return { kind: 'completed' };
  };
  const chunks = [];
  const stream = await clientOf(server).chat.completions.create({ ...hello, stream: true, stream_options: { include_usage: true } });
  for await (const chunk of stream) chunks.push(chunk);
  assert.deepEqual(
    chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta)),
    [
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'Let me ' },
      { content: 'look.' },
      { content: '\n\nOne file.' },
      {},
    ],
  );
  assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop');
  assert.deepEqual(chunks.at(-1)?.choices, []);
  assert.equal(chunks.at(-1)?.usage?.completion_tokens, 0);
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);

  const raw = await (await post(server, { ...hello, stream: true })).text();
  assert.match(raw, /\n: tool ls started\n\n: tool ls ended\n\n/);
  assert.match(raw, /data: \[DONE\]\n\n$/);
});

test('text that is taken back is not in a whole answer', async () => {
  await using server = await openTestServer();
  server.script = ({ say }) => {
    say({ stream: 'assistant', delta: 'Half an ans' });
    say({ stream: 'lifecycle', phase: 'discarded' });
    say({ stream: 'assistant', delta: 'A whole answer' });
    return { kind: 'completed' };
  };
  const answer = await clientOf(server).chat.completions.create(hello);
  assert.equal(answer.choices[0]?.message.content, 'A whole answer');
});

test('what was said before becomes the transcript, and system messages the prompt of the turn', async () => {
  await using server = await openTestServer();
  const { response } = await clientOf(server)
    .chat.completions.create({
      model: 'tenon/coder@gpt-x',
      reasoning_effort: 'low',
      temperature: 0.3,
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'three' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
      ],
    })
    .withResponse();
  const key = response.headers.get('x-tenon-session-key') ?? '';
  assert.match(key, /^agent:coder:v1-/);
  const { content, options } = await server.store.read('runs.message', { runId: response.headers.get('x-tenon-run-id') ?? '' });
  assert.deepEqual(options, { model: 'gpt-x', thinking: 'low', extraSystemPrompt: 'Be short.\n\nBe kind.' });
  assert.deepEqual(content, [
    { type: 'text', text: 'three' },
    { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
  ]);
  const { entries } = await server.store.read('entries.path', { key, limit: 10 });
  assert.deepEqual(
    entries.map((entry) => entry.type === 'message' && [entry.message.role, entry.message.content]),
    [
      ['user', [{ type: 'text', text: 'one' }]],
      ['assistant', [{ type: 'text', text: 'two' }]],
    ],
  );
});

test('with a session key the session goes on, and what the body says was said before is not told again', async () => {
  await using server = await openTestServer();
  const headers = { 'x-tenon-session-key': 'agent:coder:notes' };
  for (const content of ['first', 'second']) {
    const messages = [
      { role: 'user', content: 'old' },
      { role: 'assistant', content: 'old' },
      { role: 'user', content },
    ];
    const response = await post(server, { model: 'tenon', messages }, headers);
    assert.equal(response.status, 200, await response.text());
    assert.equal(response.headers.get('x-tenon-session-key'), 'agent:coder:notes');
  }
  assert.deepEqual((await server.store.read('entries.path', { key: 'agent:coder:notes', limit: 10 })).entries, []);
  assert.equal((await post(server, { ...hello, model: 'tenon/main' }, headers)).status, 400, 'another agent');
  assert.equal((await post(server, hello, { 'x-tenon-session-key': 'agent:nobody:x' })).status, 404);
  assert.equal((await post(server, hello, { 'x-tenon-session-key': 'notes' })).status, 400);
});

test('a credential that is bound to a session uses that one and no other', async () => {
  await using server = await openTestServer();
  const { token } = await server.mint(['operator.write'], 'agent:coder:guest');
  const authorization = `Bearer ${token}`;
  const own = await post(server, hello, { authorization });
  assert.equal(own.headers.get('x-tenon-session-key'), 'agent:coder:guest');
  assert.equal((await post(server, hello, { authorization, 'x-tenon-session-key': 'agent:coder:other' })).status, 404);
  assert.equal((await post(server, { ...hello, model: 'main' }, { authorization })).status, 400);
  assert.deepEqual(
    (await clientOf(server, token).models.list()).data.map(({ id }) => id),
    ['tenon', 'tenon/coder'],
  );
});

test('a failed run has the status of its failure, and clients are told not to repeat it', async () => {
  await using server = await openTestServer();
  const cases: [end: { kind: 'failed' | 'aborted' | 'refused' | 'internal_error'; code?: string }, status: number, code: string][] = [
    [{ kind: 'failed', code: 'rate_limited' }, 429, 'rate_limit_exceeded'],
    [{ kind: 'failed', code: 'overloaded' }, 503, 'overloaded'],
    [{ kind: 'failed', code: 'unreachable' }, 503, 'unreachable'],
    [{ kind: 'failed', code: 'missing_key' }, 500, 'missing_key'],
    [{ kind: 'failed', code: 'context_overflow' }, 400, 'context_length_exceeded'],
    [{ kind: 'aborted' }, 400, 'aborted'],
    [{ kind: 'refused' }, 403, 'refused'],
    [{ kind: 'internal_error' }, 500, 'internal_error'],
  ];
  for (const [end, status, code] of cases) {
    server.script = () => ({ ...end, reason: 'because' });
    for (const stream of [false, true]) {
      const response = await post(server, { ...hello, stream });
      assert.equal(response.status, status, code);
      assert.equal(response.headers.get('x-should-retry'), 'false');
      const { error } = (await response.json()) as { error: { code: string; message: string; type: string } };
      assert.deepEqual([error.code, error.message], [code, 'because']);
    }
  }
  server.script = ({ say }) => {
    say({ stream: 'assistant', delta: 'So far' });
    return { kind: 'failed', code: 'overloaded', reason: 'The model is overloaded' };
  };
  const stream = await clientOf(server).chat.completions.create({ ...hello, stream: true });
  let text = '';
  await assert.rejects(async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  }, /overloaded/);
  assert.equal(text, 'So far');
});

test('a turn at its limit ends with the reason length', async () => {
  await using server = await openTestServer();
  server.script = () => ({ kind: 'step_limit' });
  assert.equal((await clientOf(server).chat.completions.create(hello)).choices[0]?.finish_reason, 'length');
});

test('a client that goes away stops its run, streaming or not', async () => {
  await using server = await openTestServer();
  for (const stream of [false, true]) {
    const begun = Promise.withResolvers<void>();
    server.script = ({ say }) => {
      say({ stream: 'assistant', delta: 'Once upon' });
      begun.resolve();
      return undefined;
    };
    const leaving = new AbortController();
    const asked = clientOf(server).chat.completions.create({ ...hello, stream }, { signal: leaving.signal });
    asked.catch(() => {});
    await begun.promise;
    leaving.abort();
    const count = stream ? 2 : 1;
    await eventually('the run is stopped', () => server.aborted.length === count);
  }
  assert.equal(server.connections.size, 0);
});

test('a run that the client named goes on without it, and a repeat gets the answer', async () => {
  await using server = await openTestServer();
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  let runs = 0;
  server.script = async ({ say }) => {
    runs++;
    say({ stream: 'assistant', delta: 'The ' });
    begun.resolve();
    await go.promise;
    say({ stream: 'assistant', delta: 'answer' });
    return { kind: 'completed' };
  };
  const named = { 'idempotency-key': 'run-1' };
  const body = {
    model: 'tenon',
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ],
  };
  const leaving = new AbortController();
  const first = fetch(`${server.net.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}`, ...named },
    body: JSON.stringify(body),
    signal: leaving.signal,
  });
  first.catch(() => {});
  await begun.promise;
  leaving.abort();
  await eventually('the first client has gone', () => server.connections.size === 0);
  const repeat = post(server, body, named);
  await eventually('the repeat has come', () => server.connections.size === 1);
  go.resolve();
  const answered = await repeat;
  const answer = (await answered.json()) as { choices: [{ message: { content: string } }] };
  assert.equal(answer.choices[0].message.content, 'The answer');
  assert.equal(answered.headers.get('x-tenon-run-id'), 'run-1');
  const again = await (await post(server, body, named)).json();
  assert.equal((again as typeof answer).choices[0].message.content, 'The answer');
  assert.deepEqual([runs, server.aborted], [1, []]);
  assert.equal((await post(server, hello, named)).status, 409, 'another request under the same key');
});

test('a repeat that streams tells the whole text, though it came in the middle', async () => {
  await using server = await openTestServer();
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  server.script = async ({ say }) => {
    say({ stream: 'assistant', delta: 'The ' });
    begun.resolve();
    await go.promise;
    say({ stream: 'assistant', delta: 'answer' });
    return { kind: 'completed' };
  };
  const named = { 'idempotency-key': 'run-2' };
  const body = { ...hello, stream: true };
  const first = post(server, body, named);
  await begun.promise;
  const second = post(server, body, named);
  await eventually('both are there', () => server.connections.size === 2);
  go.resolve();
  const textIn = (raw: string) => [...raw.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('');
  assert.equal(textIn(await (await first).text()), 'The answer');
  assert.equal(textIn(await (await second).text()), 'The answer');
});

test('what an agent cannot do is refused by name, and nothing is begun', async () => {
  await using server = await openTestServer();
  let runs = 0;
  server.script = () => {
    runs++;
    return { kind: 'completed' };
  };
  const user = { role: 'user', content: 'hi' };
  const image = (url: string) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });
  const cases: [more: Record<string, unknown>, status: number, message: RegExp][] = [
    [{ model: 'gpt-4o' }, 404, /"gpt-4o" does not exist/],
    [{ model: 'tenon/nobody' }, 404, /does not exist/],
    [{ model: 'tenon/main@nothing' }, 404, /does not exist/],
    [{ model: 7 }, 400, /body\/model/],
    [{ messages: [] }, 400, /body\/messages/],
    [{ messages: 'hi' }, 400, /body\/messages/],
    [{ messages: [{ role: 'system', content: 'x' }] }, 400, /last message must be one of the user/],
    [{ messages: [user, { role: 'assistant', content: 'x' }] }, 400, /last message must be one of the user/],
    [{ messages: [{ role: 'user', content: [] }] }, 400, /messages\[0\] has no content/],
    [{ messages: [{ role: 'tool', content: 'x', tool_call_id: 'y' }, user] }, 400, /tools of an agent run on the side of the gateway/],
    [{ messages: [{ role: 'assistant', tool_calls: [{}] }, user] }, 400, /tools of an agent run on the side of the gateway/],
    [{ tools: [{ type: 'function', function: { name: 'x' } }] }, 400, /^tools cannot be given: the tools of an agent run on the side/],
    [{ functions: [{}] }, 400, /^functions cannot/],
    [{ n: 2 }, 400, /^n must be 1/],
    [{ logprobs: true }, 400, /^logprobs/],
    [{ response_format: { type: 'json_object' } }, 400, /^response_format/],
    [{ modalities: ['text', 'audio'] }, 400, /^modalities/],
    [{ reasoning_effort: 'much' }, 400, /^reasoning_effort/],
    [image('https://evil.example/x.png'), 400, /must be a data: URL/],
    [image('data:image/svg+xml;base64,AAAA'), 400, /must be image\/png/],
    [image('data:image/png;base64,???!'), 400, /is not base64/],
    [image('data:image/png;base64,'), 400, /is not base64/],
    [image(`data:image/png;base64,${'A'.repeat(limits.imageBytes.value + 4)}`), 413, /an image has|larger than/],
    [{ messages: [{ role: 'user', content: 'x'.repeat(limits.messageChars.value + 1) }] }, 413, /longer than/],
    [{ messages: [{ role: 'system', content: 'x'.repeat(limits.messageChars.value + 1) }, user] }, 413, /longer than/],
  ];
  for (const [more, status, message] of cases) {
    const response = await post(server, { ...hello, ...more });
    const { error } = (await response.json()) as { error: { message: string; type: string } };
    assert.equal(response.status, status, error.message);
    assert.match(error.message, message);
    assert.equal(error.type, 'invalid_request_error');
  }
  assert.equal(runs, 0);
  const harmless = { tools: [], tool_choice: 'none', n: 1, temperature: 1, top_p: 0.5, seed: 7, user: 'me', max_tokens: 5, stream: null };
  assert.equal((await post(server, { ...hello, ...harmless })).status, 200);
});

test('a credential can have so many completions under way, and no more', async () => {
  await using server = await openTestServer();
  server.script = () => undefined;
  const leaving = new AbortController();
  const { token } = await server.mint(['operator.write']);
  const asked = Array.from({ length: limits.completionsPerCredential.value }, () =>
    clientOf(server)
      .chat.completions.create(hello, { signal: leaving.signal })
      .catch(() => {}),
  );
  await eventually('all are under way', () => server.connections.size === limits.completionsPerCredential.value);
  const refused = await post(server, hello);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.ok(server.refused.includes('http.in-flight'));
  server.script = () => ({ kind: 'completed' });
  assert.equal((await post(server, hello, { authorization: `Bearer ${token}` })).status, 200, 'another credential');
  leaving.abort();
  await Promise.all(asked);
  await eventually('all have gone', () => server.connections.size === 0);
  assert.equal((await post(server, hello)).status, 200);
});

test('a revoked credential ends what it has under way; a gateway that stops leaves the run alone', async () => {
  await using server = await openTestServer();
  server.script = ({ say }) => {
    say({ stream: 'assistant', delta: 'Once' });
    return undefined;
  };
  const { token, id } = await server.mint(['operator.write']);
  const asked = post(server, { ...hello, stream: true }, { authorization: `Bearer ${token}` });
  const response = await asked;
  server.connections.revoke(`token:${id}`);
  assert.match(await response.text(), /"code":"AUTH_REVOKED"/);
  await eventually('its run is stopped', () => server.aborted.length === 1);

  const other = post(server, hello);
  await eventually('another is under way', () => server.connections.size === 1);
  server.connections.closeAll(1012, 'service restart');
  assert.equal((await other).status, 503);
  assert.equal(server.aborted.length, 1);
});

test('a client that does not read is cut off, and its run is stopped', async () => {
  await using server = await openTestServer();
  let open = true;
  server.script = async ({ say }) => {
    while (open) {
      say({ stream: 'assistant', delta: 'x'.repeat(200_000) });
      await new Promise((resolve) => setImmediate(resolve));
      open = server.aborted.length === 0;
    }
    return undefined;
  };
  const socket = connect({ host: '127.0.0.1', port: server.net.port });
  await once(socket, 'connect');
  socket.pause();
  const body = JSON.stringify({ ...hello, stream: true });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${server.net.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually('the run is stopped', () => server.aborted.length === 1);
  assert.ok(server.refused.includes('http.unread'));
  socket.destroy();
});
