import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean, nearest } from './nearest.ts';

test('nearest finds a typo, a swap and a missing letter, and nothing when nothing is close', () => {
  const words = ['start', 'status', 'stop', 'sessions.list'];
  assert.equal(nearest('satrt', words), 'start');
  assert.equal(nearest('statsu', words), 'status');
  assert.equal(nearest('session.list', words), 'sessions.list');
  assert.equal(nearest('STOP', words), 'stop');
  assert.equal(nearest('backup', words), undefined);
  assert.equal(nearest('', words), undefined);
});

test('didYouMean is a phrase or nothing', () => {
  assert.equal(didYouMean('stpo', ['stop']), ' (did you mean "stop"?)');
  assert.equal(didYouMean('zzz', ['stop']), '');
});
