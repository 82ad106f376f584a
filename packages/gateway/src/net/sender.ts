// How frames leave. What is sent to one socket in one turn of the event loop leaves in one write, and one callback
// flushes them all, however many clients an event goes to.
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

export type Send = (frame: string | Buffer) => void;

export interface Senders {
  create(webSocket: WebSocket, socket: Duplex): Send;
}

const TEXT = { binary: false, compress: false } as const;

export function createSenders(): Senders {
  let corked: Duplex[] = [];

  function flush(): void {
    const sockets = corked;
    corked = [];
    for (const socket of sockets) socket.uncork();
  }

  return {
    create: (webSocket, socket) => (frame) => {
      if (webSocket.readyState !== webSocket.OPEN) return;
      if (socket.writableCorked === 0) {
        socket.cork();
        if (corked.push(socket) === 1) setImmediate(flush);
      }
      webSocket.send(frame, TEXT, ignore);
    },
  };
}

/** A failed send ends the socket, which is noticed there. */
export const ignore = () => {};
