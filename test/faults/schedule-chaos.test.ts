// The bounded part of `npm run chaos -- --only schedules`: jobs over virtual days, and kills around the times at which they are due.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seed } from '../support/chaos.ts';
import { runScheduleChaos } from '../support/schedule-chaos.ts';
import { engines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const SIZE = { sqlite: { jobs: 40, days: 5, kills: 16 }, postgres: { jobs: 20, days: 4, kills: 8 } } as const;
/** Opening a store takes longer than all else. */
const REOPEN_EVERY = 8;

for (const engine of engines) {
  const { jobs, days, kills } = SIZE[engine];
  test(`${engine}: every time of ${jobs} jobs over ${days} days is accounted for once, through ${kills} kills around due times`, async (t) => {
    verifies('R04', 'R12');
    t.diagnostic(`seed ${seed}`);
    const stats = await runScheduleChaos({ engine, seed, jobs, days, kills, reopenEvery: REOPEN_EVERY });
    t.diagnostic(JSON.stringify(stats));
    assert.equal(stats.kills, kills);
    assert.ok(stats.times > jobs && (stats.byState.done ?? 0) > 10, 'next to nothing happened');
  });
}
