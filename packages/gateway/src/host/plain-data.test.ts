import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyPlain, freezeDeep } from './plain-data.ts';

test('freezeDeep freezes everything inside', () => {
  const value = freezeDeep({ list: [{ a: 1 }], inner: { b: { c: 2 } } });
  assert.ok(Object.isFrozen(value) && Object.isFrozen(value.list) && Object.isFrozen(value.list[0]) && Object.isFrozen(value.inner.b));
});

test('copyPlain makes a frozen copy that later changes do not reach, and leaves out undefined fields', () => {
  const inner = { a: 1 };
  const copied = copyPlain({ list: [Object.freeze({ inner })], gone: undefined, none: null });
  inner.a = 2;
  assert.deepEqual(copied, { value: { list: [{ inner: { a: 1 } }], none: null } });
  assert.ok('value' in copied && Object.isFrozen(copied.value));
});

test('copyPlain refuses what is not plain data, and says what', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const wide = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner, inner], {});
  const cases: [unknown, RegExp][] = [
    [() => {}, /has a function/],
    [{ a: 5n }, /has a bigint/],
    [{ a: Number.NaN }, /number NaN/],
    [new Date(0), /object of a class/],
    [{ a: new Map() }, /object of a class/],
    [JSON.parse('{"a": {"__proto__": {"polluted": true}}}'), /reserved key "__proto__"/],
    [{ constructor: {} }, /reserved key "constructor"/],
    [cycle, /nested deeper than 64/],
    [wide, /more than 1000000 values/],
    [new Array(4_000_000_000), /more than 1000000 values/],
    [[Symbol('s')], /has a symbol/],
  ];
  for (const [value, expected] of cases) {
    const copied = copyPlain(value);
    assert.ok('wrong' in copied, String(expected));
    assert.match(copied.wrong, expected);
  }
});

test('more text than any transcript has is refused by its length, and nothing of it is read', () => {
  const half = 'x'.repeat(32_000_001);
  const answer = copyPlain({ one: half, two: half });
  assert.ok('wrong' in answer && /characters of text/.test(answer.wrong));
  const before = process.memoryUsage().rss;
  const huge = copyPlain({ deep: [{ text: '\u4e2d'.repeat(2 ** 29 - 24) }] });
  assert.ok('wrong' in huge);
  assert.ok(process.memoryUsage().rss - before < 200_000_000, 'a text of a gigabyte is not made one piece');
});
