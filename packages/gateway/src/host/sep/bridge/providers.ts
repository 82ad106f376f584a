// Models that an extension serves, as models of a plugin: a call is `provider/complete`, what `provider/delta` tells meanwhile are
// its pieces. Deltas are dropped, and counted, where they are of no call under way or cannot be read.
import type { ModelAnswer, ModelCredentials, ModelFailed, ModelPiece, ModelProviderRequest, RegisterApi } from '@tenon/plugin-sdk';
import { type JsonObject, type Message, type ModelFailureKind, modelFailures } from '@tenon/protocol';
import { readResult, type Registrations, type SepResult } from '@tenon/protocol/sep';
import { errors, methods } from '@tenon/protocol/sep/wire';
import { randomId } from '../../../kernel/ids.ts';
import type { DispatchContext, Dispatches } from '../serve/dispatches.ts';
import type { Params, RequestOptions } from '../connection/peer.ts';
import { NotAnswered, RpcError } from '../connection/rpc-error.ts';
import type { Served } from '../serve/serve.ts';

export interface ProviderDeps {
  readonly dispatches: Dispatches;
  readonly request: (method: string, params: Params, options: RequestOptions) => Promise<unknown>;
  /** Something that was said was not taken. */
  readonly dropped: (kind: 'late-delta' | 'unreadable-delta') => void;
}

export interface Providers {
  register(api: RegisterApi, provider: Provider): void;
  readonly served: Served;
}

type Provider = NonNullable<Registrations['providers']>[number];
type Completed = SepResult<'provider/complete'>;
type OwnMethod = 'provider/complete' | 'provider/oauth_login' | 'provider/oauth_refresh';

/** One call under way. */
interface Underway {
  readonly piece: (piece: ModelPiece) => void;
  hasSpoken: boolean;
  /** What the result may leave to them. */
  usage?: Completed['usage'];
  finishReason?: string;
}

export function createProviders({ dispatches, request, dropped }: ProviderDeps): Providers {
  const underway = new Map<string, Underway>();

  async function complete(
    provider: string,
    given: ModelProviderRequest,
    call: Parameters<Parameters<RegisterApi['registerModelProvider']>[0]['complete']>[1],
  ): Promise<ModelAnswer | ModelFailed> {
    const id = randomId();
    const said: Underway = { piece: call.piece, hasSpoken: false };
    underway.set(id, said);
    try {
      const answer = await ask(
        'provider/complete',
        call,
        (context) => ({ ...wireRequest(id, provider, given), context }),
        () => underway.delete(id),
      );
      const read = readResult('provider/complete', answer);
      if (!read.ok) return failed('bad_output', `its answer cannot be read: ${read.message}`);
      return answerOf(read.value, said);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { failed: failureOf(error, said.hasSpoken) };
    } finally {
      underway.delete(id);
    }
  }

  function ask(
    method: OwnMethod,
    call: Parameters<Dispatches['during']>[1] & { readonly signal: AbortSignal },
    params: (context: DispatchContext) => Params,
    over: () => void = () => {},
  ): Promise<unknown> {
    const { signal } = call;
    return dispatches.during('command', call, signal, (context) =>
      request(method, params(context), { timeoutMs: methods[method].timeoutMs, signal, over }),
    );
  }

  async function credentials(
    method: 'provider/oauth_login' | 'provider/oauth_refresh',
    params: Params,
    call: Parameters<typeof ask>[1],
  ): Promise<ModelCredentials> {
    const read = readResult(method, await ask(method, call, (context) => ({ ...params, context })));
    if (!read.ok) throw new RpcError(errors.Internal.code, `its answer to ${method} cannot be read: ${read.message}`);
    const { api_key: apiKey, access_token: accessToken, refresh_token: refreshToken, expires_at: expiresAt, extra } = read.value;
    return {
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(accessToken === undefined ? {} : { accessToken }),
      ...(refreshToken === undefined ? {} : { refreshToken }),
      ...(expiresAt === undefined ? {} : { expiresAt: expiresAt * 1_000 }),
      ...(extra === undefined ? {} : { extra: extra as JsonObject }),
    };
  }

  return {
    register(api, { name, models = [], oauth }) {
      api.registerModelProvider({
        name,
        models: models.map(({ id, display_name: shown }) => ({ id, ...(shown === undefined ? {} : { name: shown }), thinking: true })),
        complete: (given, call) => complete(name, given, call),
        ...(oauth
          ? {
              signIn: (call) => credentials('provider/oauth_login', { provider: name }, call),
              renew: (token, call) =>
                credentials('provider/oauth_refresh', { provider: name, ...(token === undefined ? {} : { refresh_token: token }) }, call),
            }
          : {}),
      });
    },
    served: {
      'provider/delta'({ request_id: id, event }) {
        const said = underway.get(id);
        if (!said) return dropped('late-delta');
        if (!takeDelta(event as Params, said)) dropped('unreadable-delta');
      },
    },
  };
}

/** False when it is none. */
function takeDelta({ type, ...event }: Params, said: Underway): boolean {
  const { content, index, id, name, arguments_chunk: chunk, finish_reason: reason } = event;
  const piece = (each: ModelPiece): true => {
    said.hasSpoken = true;
    said.piece(each);
    return true;
  };
  switch (type) {
    case 'Delta':
      return typeof content === 'string' && piece({ type: 'text', text: content });
    case 'Reasoning':
      return typeof content === 'string' && piece({ type: 'thinking', text: content });
    case 'ToolCallStart':
      return isIndex(index) && typeof id === 'string' && typeof name === 'string' && piece({ type: 'call', index, id, name });
    case 'ToolCallArgumentsDelta':
      return isIndex(index) && typeof chunk === 'string' && piece({ type: 'arguments', index, text: chunk });
    case 'Usage':
      said.usage = readUsage(event);
      return true;
    case 'Done':
      if (typeof reason !== 'string') return false;
      said.finishReason = reason;
      return true;
    // Whose words they are is known already.
    case 'Model':
      return typeof name === 'string';
    default:
      return false;
  }
}

function isIndex(index: unknown): index is number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0;
}

function readUsage(event: Params): NonNullable<Completed['usage']> {
  const of = (name: string) => (isIndex(event[name]) ? { [name]: event[name] } : {});
  return { ...of('prompt_tokens'), ...of('completion_tokens'), ...of('cached_tokens') };
}

function answerOf(result: Completed, { usage: told, finishReason }: Underway): ModelAnswer {
  const { content, reasoning_content: thinking, tool_calls: calls = [], finish_reason: reason = finishReason, usage = told } = result;
  const { prompt_tokens: prompt = 0, completion_tokens: output = 0, cached_tokens: cached = 0 } = usage ?? {};
  return {
    ...(content === undefined ? {} : { text: content }),
    ...(thinking === undefined ? {} : { thinking }),
    calls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: argumentsOf(args) })),
    end: endOf(reason),
    usage: { input: Math.max(0, prompt - cached), output, cacheRead: cached },
  };
}

/** As text where they are no object: the model is told that they cannot be read. */
function argumentsOf(args: unknown): JsonObject | string {
  if (typeof args === 'string') return args;
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? (args as JsonObject) : (JSON.stringify(args) ?? '');
}

function endOf(reason: string | undefined): NonNullable<ModelAnswer['end']> {
  if (reason === 'length' || reason === 'max_tokens') return 'length';
  if (reason === 'content_filter') return 'content-filter';
  return reason === 'error' ? 'error' : 'stop';
}

function failed(kind: ModelFailureKind, message: string): ModelFailed {
  return { failed: { kind, message } };
}

/** `data` of an error may say what it is: `kind` as a turn knows it or the HTTP `status` of the service, and `retry_after_ms`. */
function failureOf(error: RpcError, hasSpoken: boolean): ModelFailed['failed'] {
  const { message, data } = error;
  const { retry_after_ms: wait } = (typeof data === 'object' && data !== null ? data : {}) as Params;
  const retryAfterMs = typeof wait === 'number' && wait > 0 ? { retryAfterMs: wait } : {};
  return { kind: kindOf(error, hasSpoken), message: `its extension says: ${message}`, ...retryAfterMs };
}

function kindOf(error: RpcError, hasSpoken: boolean): ModelFailureKind {
  if (error instanceof NotAnswered) {
    if (error.why === 'closed') return hasSpoken ? 'bad_output' : 'unreachable';
    return ({ busy: 'overloaded', late: 'timeout', cancelled: 'aborted' } as const)[error.why];
  }
  const { kind, status } = (typeof error.data === 'object' && error.data !== null ? error.data : {}) as Params;
  // That somebody has stopped it is for the gateway to know.
  if (typeof kind === 'string' && Object.hasOwn(modelFailures, kind) && kind !== 'aborted') return kind as ModelFailureKind;
  if (typeof status === 'number') return kindOfStatus(status);
  return byCode.get(error.code) ?? 'bad_output';
}

const byCode = new Map<number, ModelFailureKind>([
  [errors.InvalidParams.code, 'invalid_request'],
  [errors.InvalidRequest.code, 'invalid_request'],
  [errors.Blocked.code, 'invalid_request'],
  [errors.MethodNotFound.code, 'unknown_model'],
  [errors.NotTrusted.code, 'unauthorized'],
]);

function kindOfStatus(status: number): ModelFailureKind {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 429) return 'rate_limited';
  if (status === 408) return 'timeout';
  if (status === 413) return 'context_overflow';
  return status >= 500 ? 'overloaded' : 'invalid_request';
}

function wireRequest(id: string, provider: string, { model, system, messages, tools, thinking }: ModelProviderRequest): Params {
  return {
    request_id: id,
    provider,
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.map(wireMessage)],
    ...(tools.length === 0 ? {} : { tools }),
    stream: true,
    ...(thinking === 'off' ? {} : { thinking }),
  };
}

function wireMessage(message: Message): Params {
  const content = message.content.flatMap((block) => {
    if (block.type === 'text') return [block.text];
    return block.type === 'image' ? [`[an image (${block.mimeType}) that this model cannot see]`] : [];
  });
  const text = content.filter((each) => each !== '').join('\n');
  if (message.role === 'toolResult') return { role: 'tool', tool_call_id: message.toolCallId, content: text || '(no output)' };
  if (message.role === 'user') return { role: 'user', content: text };
  const calls = message.content.flatMap((block) =>
    block.type === 'toolCall' ? [{ id: block.id, name: block.name, arguments: block.arguments }] : [],
  );
  return { role: 'assistant', content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}
