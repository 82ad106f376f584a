// The providers that have a wire format of their own, each through its real package against a local server that speaks
// it: an answer with thinking and a tool call, what goes back in the next request, and how a refusal is read. And the
// files that the build makes of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { modelProviders, type Message, type ModelConfig, type ModelProvider } from '@tenon/protocol';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { createModels } from '../../packages/gateway/src/model/models.ts';
import type { OpenModel } from '../../packages/gateway/src/model/providers/language-model.ts';
import type { Model, ModelEvent, ModelRequest } from '../../packages/gateway/src/model/types.ts';
import { startModelServer } from '../support/model-server.ts';

const KEY = 'key-of-this-test';

type Json = Record<string, unknown>;

interface Answer {
  readonly status?: number;
  readonly events?: readonly Json[];
  readonly body?: Json;
}

/** Answers each request with the next of these, as server-sent events named by their `type`. */
async function startWire(answers: readonly Answer[]) {
  const waiting = [...answers];
  const requests: { path: string; headers: Record<string, unknown>; body: Json }[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    requests.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) as Json });
    const { status = 200, events, body } = waiting.shift() ?? { status: 500, body: {} };
    response.writeHead(status, { 'content-type': events ? 'text/event-stream' : 'application/json' });
    for (const event of events ?? []) {
      response.write(`${typeof event.type === 'string' ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end(body ? JSON.stringify(body) : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function modelOf(provider: ModelProvider, baseUrl: string, config: Partial<ModelConfig> = {}): Model {
  return createModels({
    configs: [{ id: 'm', provider, baseUrl, keyEnv: 'KEY', thinking: true, ...config }],
    defaultId: '',
    env: { KEY },
    clock: systemClock,
    idleTimeoutMs: 60_000,
    readSecretFile: () => assert.fail('no file is read'),
    demoFacts: () => assert.fail('the demo model is not asked'),
  }).get('m')!;
}

const tools = [{ name: 'ls', description: 'Lists files.', parameters: { type: 'object', properties: { path: { type: 'string' } } } }];
const hello: Message = { role: 'user', content: [{ type: 'text', text: 'list' }], timestamp: 1 };

async function events(model: Model, messages: readonly Message[] = [hello], change: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const request: ModelRequest = { system: 'Be brief.', messages, tools, thinking: 'low', cacheKey: 'agent:main:x', ...change };
  const all: ModelEvent[] = [];
  for await (const event of model.stream(request, new AbortController().signal)) all.push(event);
  return all;
}

/** Asks, gives the tool's result with an image, and asks again. */
async function converse(model: Model): Promise<ModelEvent[]> {
  const first = await events(model);
  const end = first.at(-1);
  assert.equal(end?.type, 'end', JSON.stringify(end));
  const call = end.message.content.find((block) => block.type === 'toolCall');
  assert.ok(call);
  const result: Message = {
    role: 'toolResult',
    toolCallId: call.id,
    toolName: call.name,
    content: [
      { type: 'text', text: 'a.md' },
      { type: 'image', mimeType: 'image/png', data: 'aGVsbG8=' },
    ],
    isError: false,
    timestamp: 2,
  };
  const second = await events(model, [hello, end.message, result]);
  assert.equal(second.at(-1)?.type, 'end', JSON.stringify(second.at(-1)));
  return first;
}

function summary(all: readonly ModelEvent[]): string[] {
  return all.map((event) => {
    if (event.type === 'text' || event.type === 'thinking') return `${event.type}: ${event.delta}`;
    return event.type === 'tool' ? `tool: ${event.name}` : event.type;
  });
}

function messageOf(all: readonly ModelEvent[]) {
  const end = all.at(-1);
  assert.equal(end?.type, 'end');
  return end.message;
}

test('openai: responses with encrypted reasoning, a function call, and both sent back; nothing is stored there', async () => {
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'SECRET-THOUGHT' };
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'ls', arguments: '{"path":"src"}', status: 'completed' };
  const response = { id: 'resp_1', created_at: 1, model: 'gpt-5.1', service_tier: 'default' };
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 60 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
  };
  const first = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [], encrypted_content: null } },
    { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
    { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'hm' },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '', status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"path":' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '"src"}' },
    { type: 'response.output_item.done', output_index: 1, item: call },
    { type: 'response.completed', response: { ...response, usage, incomplete_details: null } },
  ];
  const second = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { id: 'msg_1', type: 'message' } },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'One ' },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'file.' },
    { type: 'response.output_item.done', output_index: 0, item: { id: 'msg_1', type: 'message' } },
    { type: 'response.completed', response: { ...response, usage, incomplete_details: null } },
  ];
  await using wire = await startWire([{ events: first }, { events: second }]);
  const all = await converse(modelOf('openai', wire.url, { name: 'gpt-5.1' }));
  assert.deepEqual(summary(all), ['thinking: hm', 'tool: ls', 'end']);
  const { content, usage: counted, stopReason } = messageOf(all);
  assert.deepEqual(content.at(-1), { ...content.at(-1), type: 'toolCall', id: 'call_1', name: 'ls', arguments: { path: 'src' } });
  assert.deepEqual([stopReason, counted], ['toolUse', { input: 40, output: 9, cacheRead: 60, cacheWrite: 0, costUsd: 0 }]);
  const [asked, again] = wire.requests;
  assert.ok(asked && again);
  assert.equal(asked.path, '/v1/responses');
  assert.equal(asked.headers.authorization, `Bearer ${KEY}`);
  assert.deepEqual([asked.body.store, asked.body.stream], [false, true]);
  assert.equal((asked.body.reasoning as Json).effort, 'low');
  assert.match(String(asked.body.prompt_cache_key), /^[0-9a-f]{32}$/);
  const input = again.body.input as Json[];
  assert.deepEqual(
    input.map((item) => item.type ?? item.role),
    ['developer', 'user', 'reasoning', 'function_call', 'function_call_output'],
  );
  assert.equal(input[2]?.encrypted_content, 'SECRET-THOUGHT');
  assert.equal(input[3]?.call_id, 'call_1');
  assert.deepEqual(input[4]?.output, [
    { type: 'input_text', text: 'a.md' },
    { type: 'input_image', image_url: 'data:image/png;base64,aGVsbG8=' },
  ]);
});

test('anthropic: messages with signed thinking, a tool use, and both sent back; the prompt is marked for the cache', async () => {
  const usage = { input_tokens: 40, output_tokens: 1, cache_creation_input_tokens: 7, cache_read_input_tokens: 60 };
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], stop_reason: null, usage },
  };
  const block = (index: number, content_block: Json, ...deltas: Json[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const finish = (stop_reason: string) => [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  const first = [
    start,
    { type: 'ping' },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 'SIGNED' },
    ),
    ...block(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'Looking.' }),
    ...block(
      2,
      { type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} },
      { type: 'input_json_delta', partial_json: '{"path":' },
      { type: 'input_json_delta', partial_json: '"src"}' },
    ),
    ...finish('tool_use'),
  ];
  const second = [start, ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'One file.' }), ...finish('end_turn')];
  await using wire = await startWire([{ events: first }, { events: second }]);
  const all = await converse(modelOf('anthropic', wire.url, { name: 'claude-sonnet-4-5', maxOutputTokens: 8_000 }));
  assert.deepEqual(summary(all), ['thinking: hm', 'text: Looking.', 'tool: ls', 'end']);
  const { content, usage: counted, stopReason } = messageOf(all);
  assert.deepEqual(content, [
    { type: 'thinking', thinking: 'hm', thinkingSignature: '{"signature":"SIGNED"}' },
    { type: 'text', text: 'Looking.' },
    { ...content[2], type: 'toolCall', id: 'toolu_1', name: 'ls', arguments: { path: 'src' } },
  ]);
  assert.deepEqual([stopReason, counted], ['toolUse', { input: 40, output: 9, cacheRead: 60, cacheWrite: 7, costUsd: 0 }]);
  const [asked, again] = wire.requests;
  assert.ok(asked && again);
  assert.equal(asked.path, '/v1/messages');
  assert.equal(asked.headers['x-api-key'], KEY);
  const cache_control = { type: 'ephemeral' };
  assert.deepEqual(asked.body.system, [{ type: 'text', text: 'Be brief.', cache_control }]);
  const [, assistant, user] = again.body.messages as { role: string; content: Json[] }[];
  assert.deepEqual(assistant?.content[0], { type: 'thinking', thinking: 'hm', signature: 'SIGNED' });
  assert.equal(assistant?.content[2]?.id, 'toolu_1');
  assert.deepEqual(user?.content, [
    {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: [
        { type: 'text', text: 'a.md' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
      ],
      cache_control,
    },
  ]);
});

test('google: candidates with thoughts, a signed function call, and its signature sent back', async () => {
  const usageMetadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 4,
    totalTokenCount: 109,
  };
  const candidate = (parts: Json[], finishReason?: string) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason ? { finishReason } : {}) }],
    usageMetadata,
  });
  const call = { functionCall: { id: 'fn_1', name: 'ls', args: { path: 'src' } }, thoughtSignature: 'SIGNED' };
  const first = [candidate([{ text: 'hm', thought: true }]), candidate([{ text: 'Looking.' }]), candidate([call]), candidate([], 'STOP')];
  await using wire = await startWire([{ events: first }, { events: [candidate([{ text: 'One file.' }], 'STOP')] }]);
  const all = await converse(modelOf('google', wire.url, { name: 'gemini-3-pro-preview' }));
  assert.deepEqual(summary(all), ['thinking: hm', 'text: Looking.', 'tool: ls', 'end']);
  const { content, usage, stopReason } = messageOf(all);
  const block = content.at(-1);
  assert.ok(block?.type === 'toolCall');
  assert.deepEqual([block.name, block.arguments, stopReason], ['ls', { path: 'src' }, 'toolUse']);
  assert.match(block.thoughtSignature ?? '', /SIGNED/);
  assert.deepEqual(usage, { input: 40, output: 9, cacheRead: 60, cacheWrite: 0, costUsd: 0 });
  const [asked, again] = wire.requests;
  assert.ok(asked && again);
  assert.equal(asked.path, '/v1/models/gemini-3-pro-preview:streamGenerateContent?alt=sse');
  assert.equal(asked.headers['x-goog-api-key'], KEY);
  assert.deepEqual(asked.body.systemInstruction, { parts: [{ text: 'Be brief.' }] });
  const [, model, results] = again.body.contents as { parts: Json[] }[];
  const sent = model?.parts.find((part) => part.functionCall);
  assert.equal(sent?.thoughtSignature, 'SIGNED');
  assert.match(JSON.stringify(results), /"name":"ls".*a\.md.*aGVsbG8=/);
});

for (const [provider, name, body, expected] of [
  [
    'openai',
    'gpt-5.1',
    { error: { message: 'Your input exceeds the context window', code: 'context_length_exceeded', type: 'invalid_request_error' } },
    'context_overflow',
  ],
  [
    'anthropic',
    'claude-sonnet-4-5',
    { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
    'context_overflow',
  ],
  [
    'google',
    'gemini-2.5-flash',
    {
      error: {
        code: 400,
        message: 'The input token count (1048577) exceeds the maximum number of tokens allowed',
        status: 'INVALID_ARGUMENT',
      },
    },
    'context_overflow',
  ],
  [
    'google',
    'gemini-2.5-flash',
    { error: { code: 400, message: `API key not valid. ${KEY}`, status: 'INVALID_ARGUMENT' } },
    'unauthorized',
  ],
] as const) {
  test(`${provider}: "${JSON.stringify(body).slice(0, 60)}…" is ${expected}`, async () => {
    await using wire = await startWire([{ status: 400, body }]);
    const last = (await events(modelOf(provider, wire.url, { name }))).at(-1);
    assert.equal(last?.type === 'failed' && last.failure.kind, expected, JSON.stringify(last));
    assert.ok(!JSON.stringify(last).includes(KEY));
  });
}

test('anthropic: overload in the middle of a stream is overloaded', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: null, usage },
  };
  const text = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'half' } },
  ];
  await using wire = await startWire([{ events: [start, ...text, error] }, { events: [start, ...text] }]);
  const model = modelOf('anthropic', wire.url, { name: 'claude-sonnet-4-5' });
  const kinds = [];
  for (let count = 0; count < 2; count++) {
    const last = (await events(model)).at(-1);
    kinds.push(last?.type === 'failed' ? [last.failure.kind, last.partial?.content.length] : last);
  }
  assert.deepEqual(kinds, [
    ['overloaded', 1],
    ['bad_output', 1],
  ]);
});

const dist = join(import.meta.dirname, '..', '..', 'packages', 'gateway', 'dist');

test('each provider is a file of its own beside the bundle, which holds none of them', async () => {
  const require = createRequire(import.meta.url);
  await using server = await startModelServer({ otherwise: { text: 'from the file' } });
  for (const provider of modelProviders) {
    const { openModel } = require(join(dist, `provider-${provider}.cjs`)) as { openModel: OpenModel };
    const config: ModelConfig = { id: 'm', provider };
    const { model } = openModel({ config, name: 'm', baseUrl: server.url, key: KEY, fetch });
    assert.equal(model.specificationVersion, 'v4');
    if (provider !== 'openai-compatible') continue;
    const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] });
    let said = '';
    for await (const part of stream) if (part.type === 'text-delta') said += part.delta;
    assert.equal(said, 'from the file');
  }
  const marker = 'ai-sdk-provider-utils';
  assert.ok(readFileSync(join(dist, 'provider-openai.cjs'), 'utf8').includes(marker), 'a file of a provider is known by this');
  assert.ok(!readFileSync(join(dist, 'tenon.cjs'), 'utf8').includes(marker), 'the bundle holds code of the AI SDK');
});
