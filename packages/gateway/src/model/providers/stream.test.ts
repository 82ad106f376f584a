import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import type { ModelEvent } from '../types.ts';
import type { StreamPart } from './language-model.ts';
import { streamAnswer } from './stream.ts';
import { openWatch, type Watch } from './watch.ts';

const finish: StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: {
    inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: Number.NaN, text: undefined, reasoning: undefined },
  },
};

async function run(parts: readonly StreamPart[], after: Promise<void>, clock: Clock = systemClock) {
  const watch: Watch = openWatch(clock, 60_000, new AbortController().signal);
  const stream = new ReadableStream<StreamPart>(
    {
      async start(controller) {
        for (const part of parts) controller.enqueue(part);
        await after;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const events: ModelEvent[] = [];
  const place = { modelId: 'm', baseUrl: 'http://x', keyFrom: undefined, secrets: [], now: 0 };
  const answer = streamAnswer({
    config: { id: 'm', provider: 'openai-compatible' },
    clock,
    openWatch: () => watch,
    open: async () => ({ stream, metadataKey: 'x' }),
    place: () => place,
    failed: () => undefined,
  });
  for await (const event of answer) events.push(event);
  return { events, watch, stream };
}

test('after the end the connection is read on, so that it can be used again', async () => {
  const rest = Promise.withResolvers<void>();
  const { events, watch } = await run([{ type: 'text-delta', id: '1', delta: 'hi' }, finish], rest.promise);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['text', 'end'],
  );
  assert.equal(watch.signal.aborted, false);
  const hungUp = new Promise((resolve) => watch.signal.addEventListener('abort', resolve));
  rest.resolve();
  await hungUp;
});

test('a server that does not close after the end is hung up on', async () => {
  const due: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after(_ms, call) {
      due.push(call);
      return { cancel: () => undefined };
    },
  };
  const { watch } = await run([finish], new Promise(() => undefined), clock);
  assert.equal(watch.signal.aborted, false);
  due.at(-1)?.();
  assert.equal(watch.signal.aborted, true);
});

test('numbers that are none count as nothing', async () => {
  const { events } = await run([finish], Promise.resolve());
  const end = events.at(-1);
  assert.deepEqual(end?.type === 'end' && end.message.usage, { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 });
});

test('what the content filter stopped is a failure that no other attempt mends', async () => {
  const filtered: StreamPart = { ...finish, finishReason: { unified: 'content-filter', raw: 'content_filter' } };
  const { events, watch } = await run([{ type: 'text-delta', id: '1', delta: 'hi' }, filtered], Promise.resolve());
  const last = events.at(-1);
  assert.ok(last?.type === 'failed' && last.failure.kind === 'invalid_request' && last.partial);
  assert.equal(watch.signal.aborted, true);
});
