// What belongs to a run ends with it: after many runs with retries, injections, actions, commands and events, every map and
// set of the gateway holds what it held before. npm run chaos does the same with a hundred thousand runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf, runLeaks } from '../support/leaks.ts';
import { verifies } from '../support/verifies.ts';

test('runs with retries, injections and actions leave nothing behind in any map', async (t) => {
  verifies('seams:A1', 'seams:W15', 'seams:A16');
  const found = await runLeaks({ before: 560, all: 1_000 });
  t.diagnostic(`${found.runs} runs, ${found.requests} requests, ${found.refused} refused; ${JSON.stringify(found.last.heapMegabytes)} MB`);
  assert.ok(found.requests > found.runs, 'turns were run');
  assert.ok(Object.keys(found.last.maps).length > 20, 'maps of the gateway are seen');
  assert.deepEqual(growthOf(found), []);
});
