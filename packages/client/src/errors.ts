// The ways a call or a connection ends without an answer. An answer that refuses is a `GatewayError` of the protocol.
// An aborted call rejects with the `reason` of its signal, as the platform's own functions do.

/**
 * UNREACHABLE: no connection was made. LOST: the connection broke and reconnecting is off.
 * REVOKED: the gateway withdrew the credential. CLOSED: `close()` was called, or `connect()` never was.
 */
export type ConnectionErrorCode = 'UNREACHABLE' | 'LOST' | 'REVOKED' | 'CLOSED';

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: ConnectionErrorCode;
  /** The code of the WebSocket's close frame, where there was one. */
  readonly closeCode: number | undefined;

  constructor(code: ConnectionErrorCode, message: string, more: { closeCode?: number; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.closeCode = more.closeCode;
  }
}

/** The gateway said something that its own tables do not allow. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  /** What was received. */
  readonly frame: unknown;

  constructor(message: string, frame: unknown) {
    super(message);
    this.frame = frame;
  }
}

/** No answer in time. The gateway may still do what it was asked; repeat with the same `idempotencyKey` to find out. */
export class CallTimeout extends Error {
  override readonly name = 'CallTimeout';
  readonly method: string;
  readonly timeoutMs: number;

  constructor(method: string, timeoutMs: number) {
    super(`No answer to "${method}" within ${timeoutMs} ms`);
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

/** Too much waits for an answer already; nothing was sent. */
export class TooManyCalls extends Error {
  override readonly name = 'TooManyCalls';
}
