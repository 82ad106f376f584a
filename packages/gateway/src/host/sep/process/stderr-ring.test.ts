import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createManualClock } from '../../../testing/manual-clock.ts';
import { createStderrRing } from './stderr-ring.ts';
import { verifies } from '../../../../../../test/support/verifies.ts';

test('S44: a flood of standard error is read slowly, and what comes of it stays in the ring', async () => {
  verifies('S44');
  const clock = createManualClock();
  const logged: string[] = [];
  const ring = createStderrRing({ clock, log: (line) => logged.push(line) });
  let taken = 0;
  const stderr = new Readable({
    highWaterMark: 1,
    read() {
      const text = `${'e'.repeat(60_000)}\n`;
      taken += text.length;
      setImmediate(() => this.push(taken > 100_000_000 ? null : text));
    },
  });
  ring.follow(stderr);
  const settled = async () => {
    for (let step = 0; step < 1_000 && !stderr.isPaused() && !stderr.readableEnded; step++) await new Promise((next) => setImmediate(next));
  };
  await settled();
  assert.ok(taken < 4_500_000, `${taken} bytes were read at once`);
  for (let step = 0; step < 200; step++) {
    clock.advance(50);
    await settled();
  }
  assert.ok(taken > 8_000_000 && taken < 16_000_000, `${taken} bytes were read in ten seconds more`);
  assert.ok(ring.lines().join('').length <= 262_144 && ring.unlogged < taken && logged.length > 0);
});
