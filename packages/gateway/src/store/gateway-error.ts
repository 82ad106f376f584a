// A failure of the store as the rest of the gateway throws it.
import { GatewayError } from '@tenon/protocol';
import type { PlainFailure } from './failure.ts';

export function toGatewayError(failure: PlainFailure): Error {
  if (failure.kind === 'bug') return new Error(failure.message, { cause: failure.cause });
  return new GatewayError(failure.code, failure.message, {
    ...(failure.details === undefined ? {} : { details: failure.details }),
    ...(failure.cause === undefined ? {} : { cause: failure.cause }),
    ...(failure.kind === 'storage' ? { retryAfterMs: 1000 } : {}),
  });
}
