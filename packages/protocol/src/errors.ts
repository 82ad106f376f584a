// Every error code a client can see. Clients branch on `code` and `details.code`, never on the text.
import { Type, type Static } from 'typebox';
import { JsonValue } from './json.ts';

interface ErrorSpec {
  readonly summary: string;
  /** The HTTP status where the same refusal is given over HTTP. */
  readonly status: number;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
}

export const errors = {
  PARSE: {
    summary: 'The frame is not JSON that Tenon accepts: syntax, depth, number of keys, duplicate or reserved keys, lone surrogates.',
    status: 400,
    retryable: false,
  },
  INVALID_REQUEST: { summary: 'The request does not fit its schema, or cannot be done in this state.', status: 400, retryable: false },
  UNKNOWN_METHOD: { summary: 'There is no method of this name.', status: 404, retryable: false },
  PROTOCOL_MISMATCH: {
    summary: 'The protocol range of the client does not include the version of the gateway.',
    status: 426,
    retryable: false,
  },
  UNAUTHORIZED: { summary: 'The credential is missing, wrong, expired or revoked.', status: 401, retryable: false },
  NOT_PAIRED: {
    summary: 'The device is not approved yet; `details.requestId` names the request that an operator can approve.',
    status: 401,
    retryable: true,
  },
  SCOPE: { summary: 'The credential lacks a scope; `details` lists what is required and what is missing.', status: 403, retryable: false },
  FORBIDDEN_ORIGIN: { summary: 'The Origin or Host header is not on the allow-list.', status: 403, retryable: false },
  NOT_FOUND: {
    summary: 'The thing that the request names does not exist, or is not visible to this credential.',
    status: 404,
    retryable: false,
  },
  CONFLICT: { summary: 'The thing was changed meanwhile, or exists already.', status: 409, retryable: false },
  GONE: { summary: 'It was there, and is settled: answered by somebody else, or expired.', status: 410, retryable: false },
  IDEMPOTENCY_CONFLICT: { summary: 'The idempotency key was used before with another request.', status: 409, retryable: false },
  TOO_LARGE: { summary: 'The request or its answer is over a size limit.', status: 413, retryable: false },
  RATE_LIMITED: { summary: 'Too many attempts; `retryAfterMs` says when to come back.', status: 429, retryable: true },
  UNAVAILABLE: { summary: 'The gateway cannot do it now: it is starting, stopping or busy.', status: 503, retryable: true },
  PLUGIN: {
    summary: 'A plugin failed; `details.plugin` names it, and the log has more. Nothing was changed.',
    status: 500,
    retryable: false,
  },
  STORAGE: {
    summary: 'The store refused the write or read: disk full, file damaged, database away. Nothing was changed.',
    status: 507,
    retryable: true,
  },
  INTERNAL: { summary: 'A fault in the gateway. `details.reference` finds the record in its log.', status: 500, retryable: false },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = Object.keys(errors) as ErrorCode[];

export const ErrorShape = Type.Object(
  {
    code: Type.Enum(errorCodes),
    message: Type.String({ maxLength: 4096 }),
    details: Type.Optional(JsonValue),
    retryable: Type.Optional(Type.Boolean()),
    retryAfterMs: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
export type ErrorShape = Static<typeof ErrorShape>;

/** A refusal with a code, thrown by whoever refuses and turned into a response in one place. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly details: JsonValue | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, more: { details?: JsonValue; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.details = more.details;
    this.retryAfterMs = more.retryAfterMs;
  }

  toShape(): ErrorShape {
    return {
      code: this.code,
      message: this.message.slice(0, 4096),
      ...(this.details === undefined ? {} : { details: this.details }),
      ...(errors[this.code].retryable ? { retryable: true } : {}),
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: Math.max(0, Math.ceil(this.retryAfterMs)) }),
    };
  }
}
