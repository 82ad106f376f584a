// What a request over HTTP is answered with. Errors have the shape that the clients of the path know: OpenAI's under
// /v1, ours elsewhere; the strict headers are on all of them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorCode, errors, GatewayError, type JsonValue, limits } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { securityHeaders } from './headers.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly nonce?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal whose HTTP status is not the one of its code. */
export class HttpError extends GatewayError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    more: { details?: JsonValue; retryAfterMs?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message, more);
    this.status = status;
    this.headers = more.headers ?? {};
  }
}

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(value)}\n`, headers };
}

/** The answer to a refusal; `path` says who asks. */
export function fromError(error: GatewayError, path: string): Answer {
  const status = error instanceof HttpError ? error.status : errors[error.code].status;
  const headers = {
    ...(error.retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }),
    ...(error instanceof HttpError ? error.headers : {}),
  };
  return json(status, path.startsWith('/v1/') ? openAiError(error, status) : error.toShape(), headers);
}

/** The error object that OpenAI's clients read. `code` is the finest that there is. */
export function openAiError(error: GatewayError, status: number): JsonValue {
  const details = error.details as { code?: JsonValue; param?: JsonValue } | null | undefined;
  return {
    error: {
      message: error.message.slice(0, 4096),
      type: openAiTypes[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
      param: typeof details?.param === 'string' ? details.param : null,
      code: typeof details?.code === 'string' ? details.code : error.code,
    },
  };
}

const openAiTypes: Readonly<Record<number, string>> = { 401: 'authentication_error', 403: 'permission_error', 429: 'rate_limit_error' };

export function send(request: IncomingMessage, response: ServerResponse, answer: Answer, clock: Clock): void {
  const { status, type, body, nonce, headers } = answer;
  if (status >= 400) response.setHeader('connection', 'close');
  const content = hasNoContent(status) ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...securityHeaders(nonce), ...headers, ...content });
  if (request.method !== 'HEAD' && !hasNoContent(status)) response.write(body);
  if (status < 400 || request.complete || request.destroyed) {
    response.end();
    return;
  }
  // Somebody who is still sending has not read the answer yet, and would lose it with the connection: what comes is
  // dropped for a moment, then the connection ends.
  request.resume();
  const finish = () => {
    cut.cancel();
    response.end();
  };
  const cut = clock.after(limits.closeGraceMs.value, finish);
  request.once('end', finish);
  request.once('close', finish);
}

function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
