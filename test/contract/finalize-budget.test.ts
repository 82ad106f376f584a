// How often plugins may send an answer back: counted for each wish in each turn, and nothing of it outlives the turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTurns } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

test('each turn has the whole budget of every wish, however many turns have used it up before', async () => {
  verifies('seams:A1', 'seams:W15', 'seed1:finalize-retry');
  const turns = 5;
  await using world = await openTurns({ steps: Array.from({ length: turns * 3 }, (_, n) => ({ text: `Answer ${n}.` })) });
  let asked = 0;
  world.hooks.add('before_agent_finalize', {
    plugin: 'checks',
    handler: () => {
      asked++;
      return { action: 'revise', retry: { instruction: 'Look again', idempotencyKey: 'same', maxAttempts: 2 } };
    },
  });
  for (let turn = 1; turn <= turns; turn++) {
    assert.deepEqual(await world.say('Go'), { kind: 'completed' });
    assert.equal(world.model.requests.length, turn * 3, 'the first answer and two more');
  }
  assert.equal(asked, turns * 3);
});

test('two wishes of one turn are counted apart, and three revisions are all that a turn makes', async () => {
  await using world = await openTurns({ steps: Array.from({ length: 10 }, () => ({ text: 'Answer.' })) });
  for (const name of ['one', 'two', 'three', 'four'])
    world.hooks.add('before_agent_finalize', {
      plugin: name,
      handler: () => ({ action: 'revise', retry: { instruction: `By ${name}`, idempotencyKey: name, maxAttempts: 1 } }),
    });
  assert.deepEqual(await world.say('Go'), { kind: 'completed' });
  assert.equal(world.model.requests.length, 4);
});
