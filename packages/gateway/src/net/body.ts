// Reads the body of a request, bounded in size and time: by what it declares before a byte is read, and by what comes
// while it is read. All bodies together are bounded, too, so that many allowed ones do not add up to all memory.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, type JsonValue, limits, parseJson } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { HttpError } from './answer.ts';

export interface BodyRow {
  readonly maxBytes: number;
  /** How long it may take to arrive; without it, what strangers or credentials have. */
  readonly timeoutMs?: number;
  /** Content types that it may have; `any`: whatever it is, it is given on as it came. */
  readonly types: readonly string[] | 'any';
}

export interface HeldBody {
  readonly bytes: Buffer;
  /** The request is over; called once. */
  release(): void;
}

export interface Bodies {
  /** Throws a GatewayError; what was read of a refused body is forgotten. */
  read(request: IncomingMessage, response: ServerResponse, row: BodyRow, timeoutMs: number): Promise<HeldBody>;
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

export function createBodies({ clock, maxHeldBytes = limits.httpBodiesBytes.value }: { clock: Clock; maxHeldBytes?: number }): Bodies {
  let held = 0;

  return {
    async read(request, response, row, timeoutMs) {
      checkType(request, row);
      const declared = Number(request.headers['content-length'] ?? 0);
      if (declared > row.maxBytes) throw tooLarge(row);
      if (held + declared > maxHeldBytes) throw busy();
      // Only now: who waits to be asked for it has not sent a byte of what is refused above.
      if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
      let mine = 0;
      const release = () => {
        held -= mine;
        mine = 0;
      };
      try {
        const chunks: Buffer[] = [];
        await collect(request, clock, timeoutMs, (chunk) => {
          mine += chunk.length;
          held += chunk.length;
          if (mine > row.maxBytes) throw tooLarge(row);
          if (held > maxHeldBytes) throw busy();
          chunks.push(chunk);
        });
        return { bytes: Buffer.concat(chunks, mine), release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function collect(request: IncomingMessage, clock: Clock, timeoutMs: number, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      timer.cancel();
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      request.on('error', () => {});
      if (!error) return resolve();
      request.pause();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        finish(error as Error);
      }
    };
    const onEnd = () => finish();
    const onClose = () => finish(new GatewayError('INVALID_REQUEST', 'The connection ended before the body did'));
    const timer = clock.after(timeoutMs, () =>
      finish(
        new HttpError(408, 'INVALID_REQUEST', `The body did not arrive within ${timeoutMs} ms`, { details: { code: 'BODY_TIMEOUT' } }),
      ),
    );
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function checkType({ headers }: IncomingMessage, { types }: BodyRow): void {
  if (types === 'any') return;
  const [essence = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1]).find(Boolean) ?? 'utf-8';
  if (!types.includes(essence.trim()) || (charset !== 'utf-8' && charset !== 'utf8'))
    throw new HttpError(415, 'INVALID_REQUEST', `The body must be ${types.join(' or ')} in UTF-8; say so in Content-Type`);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new HttpError(415, 'INVALID_REQUEST', 'The body must not be compressed');
}

function tooLarge({ maxBytes }: BodyRow): GatewayError {
  return new GatewayError('TOO_LARGE', maxBytes === 0 ? 'This takes no body' : `The body is larger than ${maxBytes} bytes`);
}

function busy(): GatewayError {
  return new GatewayError('UNAVAILABLE', 'Too much is being sent to the gateway at once', {
    retryAfterMs: 1000,
    details: { code: 'TOO_MANY_IN_FLIGHT' },
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function textOf(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new GatewayError('PARSE', 'The body is not UTF-8');
  }
}

/** As strict as a frame of the socket, but as long as the body may be. */
export function jsonOf(body: Buffer): JsonValue {
  const parsed = parseJson(textOf(body), { depth: limits.jsonDepth.value, keys: limits.jsonKeys.value });
  if (!parsed.ok)
    throw new GatewayError('PARSE', `The body is not JSON that is accepted: ${parsed.fault.reason} at ${parsed.fault.offset}`);
  return parsed.value;
}
