// The official OpenAI client, unchanged, drives an agent of a real gateway; the agent uses the demo model.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
let gateway: GatewayProcess;
let admin: RawClient;

before(async () => {
  const workspace = join(home, 'workspaces', 'main');
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, 'plums.txt'), 'sweet and cold\n');
  gateway = await startGatewayProcess({ home });
  admin = await connectRaw(gateway.socketUrl, gateway.token);
});

after(async () => {
  await admin.close();
  await gateway.remove();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

function client(apiKey = gateway.token): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

const asking = (content: string) => ({ model: 'tenon', messages: [{ role: 'user' as const, content }] });

interface Shown {
  readonly type: string;
  readonly message?: {
    readonly role: string;
    readonly toolName?: string;
    readonly content: { type: string; text?: string; name?: string }[];
  };
}

async function transcriptOf(sessionKey: string | null): Promise<Shown[]> {
  const { payload, error } = await admin.request('chat.history', { sessionKey });
  assert.equal(error, undefined);
  return payload.entries as Shown[];
}

test('models.list names the agent and the models', async () => {
  verifies('turns:openai-client');
  const { data } = await client().models.list();
  const ids = data.map(({ id }) => id);
  assert.ok(ids.includes('tenon') && ids.includes('tenon/main') && ids.includes('demo'), ids.join(', '));
});

test('an answer that took a tool call on the side of the agent', async () => {
  const { data, response } = await client().chat.completions.create(asking('List the files in the workspace')).withResponse();
  const [choice] = data.choices;
  assert.match(choice?.message.content ?? '', /plums\.txt/);
  assert.equal(choice?.finish_reason, 'stop');
  assert.equal(choice?.message.tool_calls, undefined);
  const entries = await transcriptOf(response.headers.get('x-tenon-session-key'));
  assert.deepEqual(
    entries.map(({ message }) => message?.role),
    ['user', 'assistant', 'toolResult', 'assistant'],
  );
  assert.equal(entries[2]?.message?.toolName, 'ls');
});

test('the same as a stream: words as they come, and no tool calls for the client', async () => {
  const stream = await client().chat.completions.create({
    ...asking('List the files in the workspace'),
    stream: true,
    stream_options: { include_usage: true },
  });
  const deltas: string[] = [];
  let finish: string | null = null;
  let usage: { total_tokens: number } | null | undefined;
  for await (const chunk of stream) {
    const [choice] = chunk.choices;
    assert.equal(choice?.delta.tool_calls, undefined);
    if (choice?.delta.content) deltas.push(choice.delta.content);
    finish = choice?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  assert.match(deltas.join(''), /plums\.txt/);
  assert.ok(deltas.length > 3, `${deltas.length} pieces`);
  assert.equal(finish, 'stop');
  assert.ok(usage);
});

test('what the client says was said before is known to the agent', async () => {
  const answer = await client().chat.completions.create({
    model: 'tenon/main@demo',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'My cat is called Miso' },
      { role: 'assistant', content: 'A good name.' },
      { role: 'user', content: 'What did I say so far?' },
    ],
  });
  assert.match(answer.choices[0]?.message.content ?? '', /My cat is called Miso/);
});

test('with a session key the conversation is kept by the gateway', async () => {
  const headers = { 'x-tenon-session-key': 'agent:main:kept' };
  await client().chat.completions.create(asking('My dog is called Udon'), { headers });
  const answer = await client().chat.completions.create(asking('What did I say so far?'), { headers });
  assert.match(answer.choices[0]?.message.content ?? '', /My dog is called Udon/);
  assert.equal((await transcriptOf('agent:main:kept')).filter(({ message }) => message?.role === 'user').length, 2);
});

test('a client that stops listening stops the turn', async () => {
  const leaving = new AbortController();
  const { data: stream, response } = await client()
    .chat.completions.create({ ...asking('How do I add a real model?'), stream: true }, { signal: leaving.signal })
    .withResponse();
  let words = 0;
  await assert.rejects(async () => {
    for await (const _ of stream) if (++words === 3) leaving.abort();
    // The client ends the loop when it is aborted, with or without an error.
    throw new Error('aborted');
  }, /abort/i);
  const { payload } = await admin.request('agent.wait', { runId: response.headers.get('x-tenon-run-id'), timeoutMs: 10_000 });
  assert.equal(payload.end?.kind, 'aborted');
});

test('a repeat under the same Idempotency-Key is the same run', async () => {
  const headers = { 'Idempotency-Key': 'e2e-run-1' };
  const ask = () => client().chat.completions.create(asking('What are you?'), { headers }).withResponse();
  const first = await ask();
  const second = await ask();
  assert.equal(first.response.headers.get('x-tenon-run-id'), 'e2e-run-1');
  assert.equal(second.data.choices[0]?.message.content, first.data.choices[0]?.message.content);
  const entries = await transcriptOf(first.response.headers.get('x-tenon-session-key'));
  assert.equal(entries.length, 2);
});

test('errors are those that the client knows', async () => {
  await assert.rejects(client('wrong').chat.completions.create(asking('hi')), OpenAI.AuthenticationError);
  await assert.rejects(client().chat.completions.create({ ...asking('hi'), model: 'gpt-9' }), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, 'model_not_found');
    return true;
  });
  const tools = [{ type: 'function' as const, function: { name: 'x', parameters: {} } }];
  await assert.rejects(client().chat.completions.create({ ...asking('hi'), tools }), /tools of an agent run on the side of the gateway/);
});

test('a gateway that stops says so, and the turn goes on when it is back', async () => {
  verifies('R14:running-turns');
  const place = temporaryHome();
  try {
    await using first = await startGatewayProcess({ home: place });
    const openai = new OpenAI({ apiKey: first.token, baseURL: `${first.url}/v1`, maxRetries: 0 });
    const { data: stream, response } = await openai.chat.completions
      .create({ ...asking('How do I add a real model?'), stream: true })
      .withResponse();
    let words = 0;
    await assert.rejects(async () => {
      for await (const _ of stream) if (++words === 3) first.child.kill('SIGTERM');
    }, /stopping/);
    assert.equal((await first.exited).code, 0);
    await using second = await startGatewayProcess({ home: place });
    await using raw = await connectRaw(second.socketUrl, second.token);
    const { payload } = await raw.request('agent.wait', { runId: response.headers.get('x-tenon-run-id'), timeoutMs: 20_000 });
    assert.equal(payload.end?.kind, 'completed');
  } finally {
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  }
});
