// What a request to an extension, or one of its own, ends in when it does not succeed: the error of the wire.
import { errors } from '@tenon/protocol/sep/wire';
import { shortText } from '../../error-text.ts';

export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Nobody answered: the connection is gone or not there yet, too much waits for it already, it took too long, or nobody waits any more. */
export class NotAnswered extends RpcError {
  readonly why: 'closed' | 'busy' | 'late' | 'cancelled';
  constructor(why: NotAnswered['why'], message: string) {
    super(why === 'cancelled' ? errors.Cancelled.code : errors.Internal.code, message);
    this.why = why;
  }
}

/** What stands in the `error` of a reply; whatever is no such thing is an error of its own. */
export function readRpcError(given: unknown, fallbackCode: number): RpcError {
  if (typeof given !== 'object' || given === null) return new RpcError(fallbackCode, 'the error of the reply cannot be read');
  const { code, message, data } = given as Record<string, unknown>;
  if (typeof code !== 'number' || !Number.isInteger(code) || typeof message !== 'string')
    return new RpcError(fallbackCode, 'the error of the reply cannot be read');
  return new RpcError(code, shortText(message), data);
}
