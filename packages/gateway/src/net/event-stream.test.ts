import assert from 'node:assert/strict';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Clock } from '../kernel/clock.ts';
import { createEventStream, type EventStream } from './event-stream.ts';

interface Opened extends AsyncDisposable {
  readonly stream: EventStream;
  readonly response: ServerResponse;
  /** The answer as the client sees it, once there is one. */
  readonly answer: Promise<IncomingMessage>;
  beat(): void;
}

async function openStream(): Promise<Opened> {
  let beat = () => {};
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after: () => ({ cancel() {} }),
    every(_, call) {
      beat = call;
      return {
        cancel() {
          beat = () => {};
        },
      };
    },
  };
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, response) => asked.resolve(response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, resolve).on('error', reject);
  });
  const response = await asked.promise;
  const stream = createEventStream(response, { clock, headers: { 'x-more': 'yes' }, onSlow: () => {} });
  return {
    stream,
    response,
    answer,
    beat: () => beat(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return text;
}

test('a stream opens with its first word, and a comment cannot become an event', async () => {
  await using opened = await openStream();
  const { stream, answer } = opened;
  assert.equal(stream.opened, false);
  stream.comment('one\n\ndata: two\r\rthree');
  stream.event('{"a":1}');
  stream.end();
  stream.event('too late');
  const got = await answer;
  assert.equal(got.statusCode, 200);
  assert.equal(got.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(got.headers['cache-control'], 'no-store');
  assert.equal(got.headers['x-more'], 'yes');
  assert.equal(await textOf(got), ': one data: two three\n\ndata: {"a":1}\n\n');
});

test('signs of life open it, too, and end with it', async () => {
  await using opened = await openStream();
  const { stream, answer, beat } = opened;
  beat();
  assert.equal(stream.opened, true);
  beat();
  stream.end();
  beat();
  assert.equal(await textOf(await answer), ': still here\n\n: still here\n\n');
});

test('a stream that nothing was said in leaves the answer to others', async () => {
  await using opened = await openStream();
  const { stream, response, answer } = opened;
  stream.end();
  response.writeHead(503).end('plain');
  assert.equal((await answer).statusCode, 503);
});
