// Finished jobs, turns and sessions leave nothing behind: over a virtual day, every map and set of the gateway holds in the end
// what it held after the first part of it. npm run chaos does the same with 100,000 one-shot jobs, and says how the process grew.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf, runSoak } from '../support/leaks.ts';
import { verifies } from '../support/verifies.ts';

/** So many that the runs which are remembered as ended, a bounded number, are full at the first look. */
const JOBS = 900;

test('a day of one-shot jobs, turns and sessions that come and go leaves nothing behind in any map', async (t) => {
  verifies('R19', 'seams:A5', 'seams:W15');
  const { first, last, ...sums } = await runSoak({ jobs: JOBS });
  t.diagnostic(`${JSON.stringify(sums)}; ${last.heapMegabytes} MB`);
  assert.equal(sums.turns, sums.jobs + sums.messages, 'every job was run once, and every message answered');
  assert.ok(sums.virtualHours >= 24 && sums.sessions >= 48);
  assert.ok(sums.changes >= 3 * sums.jobs, 'added, started, finished');
  assert.deepEqual([last.left, last.recorded], [0, 1], 'finished jobs are not listed, and can be read');
  assert.deepEqual(growthOf({ first, last }), []);
});
