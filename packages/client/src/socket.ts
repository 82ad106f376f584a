// The part of a WebSocket that is used. The browser's class, Node's and the one of the package `ws` all fit.

/** `never` makes every platform's event type fit: handlers are only ever assigned here, never called. */
type Handler = ((event: never) => void) | null;

export interface SocketLike {
  onopen: Handler;
  onmessage: Handler;
  onerror: Handler;
  onclose: Handler;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

export type SocketConstructor = new (url: string) => SocketLike;

export interface MessageLike {
  readonly data: unknown;
}

export interface ErrorLike {
  readonly message?: string;
  readonly error?: unknown;
}

export interface CloseLike {
  readonly code: number;
  readonly reason: string;
}

/** Codes of the close frame that mean something to a client. The others all mean: come back. */
export const closeCodes = {
  normal: 1000,
  /** Ours: the gateway fell silent, or events are missing. */
  restart: 4000,
  /** The gateway's: the credential was revoked. */
  revoked: 4001,
} as const;
