// What went wrong with a model, as a value: an error of a provider package, of the network or of the stream becomes a
// kind that the agent acts on and a text that people read. Errors are read by their fields, because each provider is a
// bundle with classes of its own. No text leaves here with a key in it.
import { visible } from '@tenon/protocol';
import { redact } from '../kernel/redact.ts';
import type { FailureKind, ModelFailure } from './types.ts';

/** Which model the failure is about, for its text. */
export interface FailurePlace {
  readonly modelId: string;
  readonly baseUrl: string;
  /** Where the key comes from, in words; undefined where there is none. */
  readonly keyFrom: string | undefined;
  /** Values that must not be told. */
  readonly secrets: readonly string[];
  /** The wall clock: a server may say when to come back as a date. */
  readonly now: number;
}

/** Thrown inside the stream by ourselves; it carries its kind. */
export class StreamFault extends Error {
  override readonly name = 'StreamFault';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const MAX_MESSAGE = 500;

/** `answered`: whether the server had begun to answer. */
export function failureOf(error: unknown, answered: boolean, place: FailurePlace): ModelFailure {
  const facts = read(error);
  const kind = kindOf(facts, answered);
  const message = tidy(redact(textOf(kind, facts, place), place.secrets));
  const retryAfterMs = kind === 'rate_limited' || kind === 'overloaded' ? retryAfter(facts, place.now) : undefined;
  return { kind, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

interface Facts {
  readonly said: string;
  readonly own: FailureKind | undefined;
  readonly status: number | undefined;
  /** `code` and `type` of the error and of what caused it: `ECONNREFUSED`, `context_length_exceeded`, `overloaded_error`. */
  readonly codes: readonly string[];
  readonly names: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const MAX_CAUSES = 8;
/** Texts around the one that says something. */
const WRAPPER = /^(failed to process|fetch failed|terminated)/i;

function read(error: unknown): Facts {
  const said: string[] = [];
  const codes: string[] = [];
  const names: string[] = [];
  let status: number | undefined;
  let headers: Record<string, string> = {};
  let body = '';
  let own: FailureKind | undefined;
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && current !== undefined && current !== null; depth++) {
    if (typeof current !== 'object') {
      said.push(String(current));
      break;
    }
    const each = current as Record<string, unknown>;
    if (current instanceof StreamFault) own ??= current.kind;
    if (typeof each.message === 'string' && each.message !== '') said.push(each.message);
    for (const value of [each.code, each.type, each.status]) if (typeof value === 'string' && value !== '') codes.push(value);
    if (typeof each.name === 'string') names.push(each.name);
    if (status === undefined) status = [each.statusCode, each.code].find((value): value is number => isStatus(value));
    if (isStringRecord(each.responseHeaders)) headers = { ...each.responseHeaders, ...headers };
    if (typeof each.responseBody === 'string' && body === '') body = each.responseBody.slice(0, 65_536);
    current = each.cause;
  }
  return {
    said: said.find((text) => !WRAPPER.test(text)) ?? said[0] ?? '',
    own,
    status,
    codes,
    names,
    headers,
    body: `${said.join(' ')} ${body}`,
  };
}

function isStatus(value: unknown): boolean {
  return typeof value === 'number' && value >= 100 && value <= 599;
}

function isStringRecord(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null;
}

const NETWORK_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_[A-Z]+|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_SOCKET|UND_ERR_CLOSED|UND_ERR_DESTROYED|CERT_.*|.*_CERT.*|ERR_TLS_.*|ERR_SSL_.*)$/;
const TIMEOUT_CODES = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const OVERFLOW =
  /context_length_exceeded|context[ _-]?(length|window|size)|maximum context|(prompt|input) is too long|input token count.{0,80}exceed|too many (input |prompt )?tokens|maximum number of tokens|request_too_large|reduce the length of/i;
const BAD_KEY = /API[ _]KEY[ _](not valid|invalid)/i;

/** Whether a text says that the conversation is longer than the window. */
export function isOverflow(text: string): boolean {
  return OVERFLOW.test(text);
}

function kindOf({ own, status, codes, names, body }: Facts, answered: boolean): FailureKind {
  if (own) return own;
  if (status !== undefined && status >= 300) {
    if (status === 401 || status === 403 || BAD_KEY.test(body)) return 'unauthorized';
    if (status === 429) return 'rate_limited';
    if (OVERFLOW.test(body)) return 'context_overflow';
    if (status === 408) return 'timeout';
    return status >= 500 ? 'overloaded' : 'invalid_request';
  }
  if (codes.some((code) => TIMEOUT_CODES.test(code))) return answered ? 'bad_output' : 'timeout';
  // A connection that breaks in the middle of an answer leaves half of one.
  if (codes.some((code) => NETWORK_CODES.test(code))) return answered ? 'bad_output' : 'unreachable';
  const words = codes.join(' ').toLowerCase();
  if (/overloaded|server_error|unavailable|internal/.test(words)) return 'overloaded';
  if (/rate_limit|resource_exhausted|insufficient_quota/.test(words)) return 'rate_limited';
  if (/authentication|permission|unauthenticated/.test(words)) return 'unauthorized';
  if (OVERFLOW.test(body)) return 'context_overflow';
  if (/invalid_request|invalid_argument|not_found/.test(words)) return 'invalid_request';
  if (answered) return 'bad_output';
  // What the package refuses before it sends anything: a file type, a schema.
  if (names.some((name) => /^AI_(Unsupported|InvalidArgument|InvalidPrompt|NoSuch|LoadAPIKey|LoadSetting)/.test(name)))
    return 'invalid_request';
  return names.includes('TypeError') || names.includes('AI_APICallError') ? 'unreachable' : 'bad_output';
}

function textOf(kind: FailureKind, facts: Facts, { modelId, baseUrl, keyFrom, secrets }: FailurePlace): string {
  const model = `Model "${modelId}"`;
  // Redacted before it is cut: half a key is a key too.
  const said = redact(facts.said, secrets).slice(0, 240).trim();
  const because = said === '' ? '' : `: ${said}`;
  const status = facts.status !== undefined && facts.status >= 300 ? ` (HTTP ${facts.status})` : '';
  if (kind === 'aborted') return 'Stopped';
  // What we refuse ourselves says it all.
  if (facts.own === 'invalid_request' || facts.own === 'missing_key' || facts.own === 'unknown_model') return `${model}${because}`;
  switch (kind) {
    case 'unauthorized':
      return `${model}: the provider refused the key${status}${because}. ${keyFrom ? `Check ${keyFrom}` : 'Set keyEnv or keyFile of the model'}`;
    case 'rate_limited':
      return `${model}: the provider asks for fewer requests${status}${because}`;
    case 'overloaded':
      return `${model}: the provider is overloaded or broken${status}${because}`;
    case 'unreachable':
      return `${model}: cannot reach ${hostOf(baseUrl)}${because}. Check baseUrl and that the server runs`;
    case 'timeout':
      return `${model}: no answer in time from ${hostOf(baseUrl)}${status}${because}`;
    case 'context_overflow':
      return `${model}: the conversation is longer than its context window${status}${because}`;
    case 'invalid_request':
      return `${model}: the provider refused the request${status}${because}`;
    case 'bad_output':
      return `${model}: the answer broke off or cannot be read${because}`;
    default:
      return `${model}${because}`;
  }
}

/** Without user, password and query. */
function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : 'its address';
}

const MAX_RETRY_AFTER_MS = 86_400_000;

// Milliseconds, seconds or a date in the headers; or, from Google, a duration in the body.
function retryAfter({ headers, body }: Facts, now: number): number | undefined {
  const value = headers['retry-after'];
  const candidates = [
    Number(headers['retry-after-ms'] || Number.NaN),
    Number(value || Number.NaN) * 1000,
    value === undefined ? Number.NaN : Date.parse(value) - now,
    Number(body.match(/"retryDelay":\s*"(\d{1,6}(?:\.\d{1,9})?)s"/)?.[1] ?? Number.NaN) * 1000,
  ];
  const found = candidates.find((each) => Number.isFinite(each));
  return found === undefined ? undefined : Math.ceil(Math.min(Math.max(0, found), MAX_RETRY_AFTER_MS));
}

function tidy(text: string): string {
  const line = visible(text.replace(/\s+/g, ' ').trim());
  return line.length <= MAX_MESSAGE ? line : `${line.slice(0, MAX_MESSAGE - 1).toWellFormed()}…`;
}
