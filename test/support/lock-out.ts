// What a local process can try to keep the operator out, at any count: a few for the tests, all of it for `npm run chaos`.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { GatewayProcess } from './gateway.ts';
import { connectParams, connectRaw, openRaw } from './raw-client.ts';

/** The operator, who has the token. */
async function getsIn(gateway: GatewayProcess): Promise<void> {
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  assert.equal((await client.request('health')).ok, true);
  const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${gateway.token}`, connection: 'close' } });
  assert.equal(models.status, 200);
}

export const lockOuts: Readonly<Record<string, (gateway: GatewayProcess, count: number) => Promise<void>>> = {
  async 'wrong tokens'(gateway, count) {
    for (let sent = 0; sent < count; sent += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          await using client = await openRaw(gateway.socketUrl);
          await client.request('connect', connectParams('tenon_wrong'), 'connect');
        }),
      );
      await getsIn(gateway);
    }
  },
  'silent web sockets': (gateway, count) => holdOpen(gateway, count, upgradeText(gateway)),
  'connections without a word': (gateway, count) => holdOpen(gateway, count, ''),
  'half a request': (gateway, count) => holdOpen(gateway, count, 'GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: '),
};

function upgradeText({ port }: GatewayProcess): string {
  return `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
}

/** As many as are wanted, and while they are held the operator comes. */
async function holdOpen(gateway: GatewayProcess, count: number, text: string): Promise<void> {
  const sockets: Socket[] = [];
  try {
    while (sockets.length < count) {
      await Promise.all(
        Array.from({ length: Math.min(50, count - sockets.length) }, async () => {
          const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
          sockets.push(socket);
          await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
          socket.write(text);
        }),
      );
      if (sockets.length % 500 === 0 || sockets.length >= count) await getsIn(gateway);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}
