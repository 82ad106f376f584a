// A real HTTP server that speaks OpenAI's chat completions, for tests and the benchmark: each request gets the next step
// of a script, and is kept. It can do everything that goes wrong between a gateway and a model.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer. Without a script, and when it is used up, `{ text: 'ok' }` or `otherwise`. */
export type ServerStep =
  | ServerAnswer
  | ServerRefusal
  | ServerFault
  | ((request: RecordedRequest) => ServerAnswer | ServerRefusal | ServerFault);

export interface ServerCall {
  readonly id?: string;
  readonly name: string;
  /** Sent as they are, in one fragment each. An object is one fragment of JSON. */
  readonly arguments?: object | string | readonly string[];
}

export interface ServerAnswer {
  readonly thinking?: string | readonly string[];
  /** One chunk each. */
  readonly text?: string | readonly string[];
  /** Several are written at the same time, fragment by fragment in turn. */
  readonly calls?: readonly ServerCall[];
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly usage?: { readonly prompt: number; readonly completion: number; readonly cached?: number };
  /** Awaited before each chunk after the first: a test decides when it goes on. */
  readonly gate?: () => Promise<void>;
  /** What happens after the chunks, in place of the finish. */
  readonly after?: 'hang' | 'cut' | 'end' | 'bad-json' | 'invalid-utf8' | 'endless' | 'error';
}

export interface ServerRefusal {
  readonly status: number;
  readonly message?: string;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the usual JSON. */
  readonly body?: string;
}

export interface ServerFault {
  /** `no-headers`: never answers. `headers`: answers with headers and nothing more. `reset`: the connection is broken. */
  readonly fault: 'no-headers' | 'headers' | 'reset';
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body, read as JSON; undefined where there is none. */
  readonly body: ChatBody | undefined;
  /** Resolves when the connection of this request is closed by the other side, or the answer is finished. */
  readonly closed: Promise<void>;
}

export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: object } }[];
  readonly stream?: boolean;
  readonly [key: string]: unknown;
}

export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly tool_call_id?: string;
  readonly [key: string]: unknown;
}

export interface ModelServerOptions {
  readonly script?: readonly ServerStep[];
  readonly otherwise?: ServerStep;
  /** For the benchmark: every request gets this, nothing is kept or parsed. */
  readonly fixed?: ServerAnswer;
  readonly models?: readonly string[];
}

export interface ModelServer extends AsyncDisposable {
  /** With `/v1`: what goes into `baseUrl`. */
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** Further steps. */
  next(...steps: ServerStep[]): void;
  /** Resolves when so many requests have come in. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

const MAX_KEPT = 10_000;

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const steps = [...(options.script ?? [])];
  const requests: RecordedRequest[] = [];
  const waiting = new Set<{ count: number; resolve: () => void }>();
  const fixed = options.fixed ? Buffer.from(`${chunksOf(options.fixed).map(event).join('')}${DONE}`) : undefined;
  const server = createServer((request, response) => {
    // What a broken connection does to either side is the point of many tests.
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    if (fixed && request.method === 'POST') return sendFixed(request, response, fixed);
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      text,
      body: text === '' ? undefined : (JSON.parse(text) as ChatBody),
      closed,
    };
    if (requests.length < MAX_KEPT) requests.push(recorded);
    for (const each of waiting) if (requests.length >= each.count) each.resolve();
    if (request.method === 'GET' && request.url === '/v1/models') {
      const data = (options.models ?? ['test']).map((id) => ({ id, object: 'model' }));
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }));
    }
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      return refuse(response, { status: 404, message: `no such path ${request.url}` });
    }
    const next = steps.shift() ?? options.otherwise ?? { text: 'ok' };
    const step = typeof next === 'function' ? next(recorded) : next;
    if ('status' in step) return refuse(response, step);
    if ('fault' in step) {
      if (step.fault === 'reset') request.socket.resetAndDestroy();
      if (step.fault === 'headers') response.writeHead(200, SSE).flushHeaders();
      return;
    }
    await say(response, step);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    next: (...more) => void steps.push(...more),
    arrived(count) {
      if (requests.length >= count) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.add({ count, resolve });
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const SSE = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const DONE = 'data: [DONE]\n\n';

function sendFixed(request: IncomingMessage, response: ServerResponse, answer: Buffer): void {
  request.resume();
  request.once('end', () => response.writeHead(200, SSE).end(answer));
}

function refuse(response: ServerResponse, { status, message = 'refused', code, headers, body }: ServerRefusal): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body ?? JSON.stringify({ error: { message, type: 'error', code: code ?? null } }));
}

async function say(response: ServerResponse, answer: ServerAnswer): Promise<void> {
  response.writeHead(200, SSE);
  const chunks = chunksOf(answer);
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await answer.gate?.();
    if (response.destroyed) return;
    response.write(event(chunk));
  }
  switch (answer.after) {
    case undefined:
      response.end(DONE);
      return;
    case 'hang':
      return;
    case 'cut':
      // After the bytes have left: what was said before must arrive.
      response.write(': almost\n\n', () => response.socket?.destroy());
      return;
    case 'end':
      response.end();
      return;
    case 'bad-json':
      response.end(`data: {"choices":[{"delta":{"content":"half\n\n${DONE}`);
      return;
    case 'error':
      response.end(`data: ${JSON.stringify({ error: { message: 'the engine died', type: 'server_error', code: null } })}\n\n`);
      return;
    case 'invalid-utf8': {
      const [head, tail] = event(textChunk('@')).split('@');
      response.write(Buffer.concat([Buffer.from(head!), Buffer.from([0x61, 0xff, 0xfe, 0x62]), Buffer.from(tail!)]));
      response.end(`${event(finishChunk('stop'))}${DONE}`);
      return;
    }
    case 'endless':
      await sayForever(response);
      return;
  }
}

// 64 kB at a time, as fast as the other side takes it, until it hangs up.
async function sayForever(response: ServerResponse): Promise<void> {
  const piece = event(textChunk('forever '.repeat(8_192)));
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  while (!response.destroyed) {
    const next = response.write(piece)
      ? new Promise((resolve) => setImmediate(resolve))
      : new Promise((resolve) => response.once('drain', resolve));
    await Promise.race([next, closed]);
  }
}

function chunksOf({ thinking, text, calls = [], finish, usage, after }: ServerAnswer): object[] {
  const chunks: object[] = [];
  for (const piece of pieces(thinking)) chunks.push(deltaChunk({ reasoning_content: piece }));
  for (const piece of pieces(text)) chunks.push(textChunk(piece));
  const fragments = calls.map(({ arguments: args = {} }) =>
    typeof args === 'object' && !Array.isArray(args) ? [JSON.stringify(args)] : pieces(args as string | string[]),
  );
  for (const [index, { id = `call_${index}`, name }] of calls.entries()) {
    chunks.push(deltaChunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
  }
  const rounds = Math.max(0, ...fragments.map(({ length }) => length));
  for (let round = 0; round < rounds; round++) {
    for (const [index, of] of fragments.entries()) {
      if (round < of.length) chunks.push(deltaChunk({ tool_calls: [{ index, function: { arguments: of[round] } }] }));
    }
  }
  if (after === undefined) {
    chunks.push(finishChunk(finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')));
    const { prompt = 10, completion = 5, cached = 0 } = usage ?? {};
    chunks.push({
      ...frame,
      choices: [],
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        prompt_tokens_details: { cached_tokens: cached },
      },
    });
  }
  return chunks;
}

function pieces(text: string | readonly string[] | undefined): readonly string[] {
  return text === undefined ? [] : typeof text === 'string' ? [text] : text;
}

const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'test' };

function deltaChunk(delta: object): object {
  return { ...frame, choices: [{ index: 0, delta, finish_reason: null }] };
}

function textChunk(content: string): object {
  return deltaChunk({ content });
}

function finishChunk(reason: string): object {
  return { ...frame, choices: [{ index: 0, delta: {}, finish_reason: reason }] };
}

function event(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
