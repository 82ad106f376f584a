import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generationIn, placeIn } from './load-module.ts';

const ADDRESS = 'file:///home/x/my%20plugin/index.ts?tenon-generation=7%3A%2Fhome%2Fx%2Fmy%20plugin';

test('a stack says in which file and line of the plugin something was thrown', () => {
  const thrown = `TypeError: no\n    at JSON.parse (<anonymous>)\n    at Object.register (${ADDRESS}:2:83)\n    at node:events:1`;
  assert.equal(placeIn(thrown), '/home/x/my plugin/index.ts:2');
  assert.equal(generationIn(thrown), 7);
});

test('a file that cannot be read as code is named with the line', () => {
  assert.equal(placeIn(`${ADDRESS}:14\n  api.on( }\n          ^\n\nSyntaxError: Expression expected`), '/home/x/my plugin/index.ts:14');
});

test('code of others is no place of a plugin', () => {
  assert.equal(placeIn('Error: no\n    at file:///home/x/other.ts:3:1'), undefined);
  assert.equal(placeIn(''), undefined);
});
