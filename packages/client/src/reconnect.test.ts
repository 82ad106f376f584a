import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../../test/support/verifies.ts';
import { createBackoff, retryDelay } from './reconnect.ts';

test('the window doubles from minMs to maxMs, and the delay is drawn from all of it', () => {
  verifies('foundation:client-reconnect');
  const draws = [0.5, 0.5, 0.5, 0.5, 0, 0.999];
  const backoff = createBackoff({ minMs: 100, maxMs: 500 }, () => draws.shift() ?? 0.5);
  assert.deepEqual(
    Array.from({ length: 6 }, () => backoff.next()),
    [50, 100, 200, 250, 0, 499],
  );
  backoff.reset();
  assert.equal(backoff.next(), 50);
});

test('what the gateway asks for is waited before the jitter, but not for ever', () => {
  const backoff = createBackoff({ minMs: 100, maxMs: 100 }, () => 0.5);
  assert.equal(retryDelay(backoff, 7_000), 7_050);
  assert.equal(retryDelay(backoff), 50);
  assert.equal(retryDelay(backoff, Number.MAX_SAFE_INTEGER), 3_600_050);
});
