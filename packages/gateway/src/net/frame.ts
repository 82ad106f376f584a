// Bytes to a request frame, or to what is wrong with them.
import { explain, GatewayError, matches, parseJson, RequestFrame } from '@tenon/protocol';

/** A frame that cannot be taken: the error, and the id where one can be read, so that the sender knows which it was. */
export interface BadFrame {
  readonly id: string;
  readonly error: GatewayError;
}

export function parseFrame(data: Buffer): RequestFrame | BadFrame {
  const parsed = parseJson(data.toString());
  if (!parsed.ok) {
    return {
      id: '?',
      error: new GatewayError('PARSE', `Cannot read the frame: ${parsed.fault.reason}`, { details: { offset: parsed.fault.offset } }),
    };
  }
  if (matches(RequestFrame, parsed.value)) return parsed.value;
  const id = (parsed.value as { id?: unknown } | null)?.id;
  const error = new GatewayError('INVALID_REQUEST', explain(RequestFrame, parsed.value, 'frame') ?? 'not a request frame', {
    details: { code: 'INVALID_FRAME' },
  });
  return { id: typeof id === 'string' && id.length > 0 && id.length <= 128 ? id : '?', error };
}
