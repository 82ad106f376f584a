// Text from the socket to a frame that can be trusted. Frames and fields that this version does not know are not errors:
// a frame of an unknown type is kept as it came; only a frame that claims to be a known type and is not is invalid.
import { EventFrame, explain, type JsonValue, matches, parseJson, reading, ResponseFrame } from '@tenon/protocol';

export type UnknownFrame = { readonly type: string; readonly [field: string]: JsonValue };

/** What was received and cannot be used. */
export interface Invalid {
  readonly reason: string;
  /** The parsed frame, or the beginning of a text that could not be parsed. */
  readonly frame: unknown;
}

export type Incoming =
  | { readonly kind: 'response'; readonly frame: ResponseFrame }
  | { readonly kind: 'event'; readonly frame: EventFrame }
  | { readonly kind: 'unknown'; readonly frame: UnknownFrame }
  | { readonly kind: 'invalid'; readonly invalid: Invalid /** The request that this tried to answer. */; readonly id?: string };

// Looser than what a gateway accepts, because answers gather what many requests brought in: the presence list of a full
// gateway alone has more keys than one request may have.
const BOUNDS = { depth: 128, keys: 1_000_000 };
const LONGEST_TEXT = 16 * 1024 * 1024;
const SAMPLE_LENGTH = 1024;

export function readIncoming(data: unknown): Incoming {
  if (typeof data !== 'string') return invalid('the message is binary', undefined);
  if (data.length > LONGEST_TEXT) return invalid(`the message is longer than ${LONGEST_TEXT} characters`, data.slice(0, SAMPLE_LENGTH));
  const parsed = parseJson(data, BOUNDS);
  if (!parsed.ok) return invalid(`the message is not JSON: ${parsed.fault.reason}`, data.slice(0, SAMPLE_LENGTH));

  const value = parsed.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid('the frame is not an object', value);
  const { type, id } = value;
  if (typeof type !== 'string') return invalid('the frame has no type', value);

  if (type === 'event') {
    if (matches(reading(EventFrame), value)) return { kind: 'event', frame: value };
    return invalid(explain(reading(EventFrame), value, 'event'), value);
  }
  if (type === 'res') {
    if (matches(reading(ResponseFrame), value)) return { kind: 'response', frame: value };
    return { ...invalid(explain(reading(ResponseFrame), value, 'response'), value), ...(typeof id === 'string' ? { id } : {}) };
  }
  return { kind: 'unknown', frame: { ...value, type } };
}

function invalid(reason: string | undefined, frame: unknown): Extract<Incoming, { kind: 'invalid' }> {
  return { kind: 'invalid', invalid: { reason: reason ?? 'the frame does not fit its schema', frame } };
}
