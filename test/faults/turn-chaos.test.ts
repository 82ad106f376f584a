// The bounded part of `npm run chaos -- --only turns`: many sessions, random messages, stops, answers, resets and kills.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seed } from '../support/chaos.ts';
import { engines } from '../support/stores.ts';
import { runTurnChaos } from '../support/turn-chaos.ts';
import { verifies } from '../support/verifies.ts';

const KILLS = { sqlite: 8, postgres: 4 } as const;

for (const engine of engines) {
  test(`${engine}: turns of many sessions survive ${KILLS[engine]} kills among random messages, stops, answers and resets`, async (t) => {
    verifies('turns:chaos', 'turns:ends-once', 'turns:queue-modes', 'turns:abort', 'R01', 'R03', 'R14:running-turns');
    t.diagnostic(`seed ${seed}`);
    const stats = await runTurnChaos({ engine, seed, kills: KILLS[engine] });
    t.diagnostic(JSON.stringify(stats));
    assert.ok(stats.acknowledged > 20 && stats.requests > 20, 'next to nothing happened');
  });
}
