import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BadValue } from './spec.ts';
import { list, oneOf, parseDuration, parseInteger } from './values.ts';

test('parseDuration takes a number with a unit, and milliseconds without one', () => {
  assert.deepEqual(['500', '500ms', '10s', '2m', '12h', '90d'].map(parseDuration), [500, 500, 10_000, 120_000, 43_200_000, 7_776_000_000]);
  for (const bad of ['', '0', '-1s', '1.5s', 's', '10 s', '1w', '1e3', '9'.repeat(20), '99999d']) {
    assert.throws(() => parseDuration(bad), BadValue, bad);
  }
});

test('parseInteger takes digits within its bounds, and nothing that merely looks like a number', () => {
  assert.equal(parseInteger('0', 0, 10), 0);
  assert.equal(parseInteger('-3', -5, 5), -3);
  for (const bad of ['', '11', '-1', '1.0', '1e1', '0x1', ' 1', '1 ', '١', 'NaN', '9007199254740993']) {
    assert.throws(() => parseInteger(bad, 0, 10), /a whole number from 0 to 10/, bad);
  }
});

test('oneOf names what is allowed', () => {
  assert.equal(oneOf(['a', 'b'], 'b'), 'b');
  assert.throws(() => oneOf(['a', 'b'], 'c'), /^BadValue: a or b$/);
  assert.throws(() => oneOf(['a', 'b', 'c'], ''), /one of a, b, c/);
});

test('a list splits at commas and forgets empty items', () => {
  assert.deepEqual(list('<x>', '').parse(' a, b,,c '), ['a', 'b', 'c']);
});
