import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../../test/support/verifies.ts';
import { parseJson, placeInText } from './json.ts';
import { limits } from './limits.ts';
import { RESERVED_KEYS } from './names.ts';

const seed = 20_260_101;

function reasonFor(text: string): string {
  const parsed = parseJson(text);
  assert.ok(!parsed.ok, `accepted: ${text.slice(0, 80)}`);
  return parsed.fault.reason;
}

function parsedValue(text: string): unknown {
  const parsed = parseJson(text);
  assert.ok(parsed.ok, `refused: ${text.slice(0, 80)}`);
  return parsed.value;
}

test('S26 depth: 64 is accepted, 65 and 100,000 are refused without overflowing the stack', () => {
  verifies('S26');
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const nestedObjects = (depth: number) => '{"a":'.repeat(depth) + 1 + '}'.repeat(depth);
  assert.equal(limits.jsonDepth.value, 64);
  for (const make of [nested, nestedObjects]) {
    assert.ok(parseJson(make(64)).ok);
    assert.match(reasonFor(make(65)), /nested deeper than 64/);
    assert.match(reasonFor(make(100_000)), /nested deeper than 64/);
  }
  assert.match(reasonFor('['.repeat(100_000)), /nested deeper than 64/);
});

test('S26 keys: 10,000 are accepted, one more and a million are refused', () => {
  verifies('S26');
  const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`;
  const spread = (count: number) => `[${Array.from({ length: count }, () => '{"a":0}').join(',')}]`;
  assert.equal(limits.jsonKeys.value, 10_000);
  for (const make of [keys, spread]) {
    assert.ok(parseJson(make(10_000)).ok);
    assert.match(reasonFor(make(10_001)), /more than 10000 keys/);
  }
  const million = keys(1_000_000);
  assert.match(reasonFor(million), /longer than/);
  const parsed = parseJson(million, { depth: 64, keys: 10_000 });
  assert.ok(!parsed.ok && /more than 10000 keys/.test(parsed.fault.reason), 'a caller that allows the length still has the bound of keys');
});

test('S26 a string of 10 MB is refused by its length; one that fits a frame is accepted', () => {
  verifies('S26');
  assert.match(reasonFor(`"${'a'.repeat(10_000_000)}"`), /longer than 1048576 characters/);
  assert.equal((parsedValue(`"${'a'.repeat(1_000_000)}"`) as string).length, 1_000_000);
});

test('S26 numbers that overflow are refused, wherever they stand', () => {
  verifies('S26');
  for (const text of ['1e400', '-1e400', '[1e309]', '{"a":1E+400}', `${'9'.repeat(400)}`])
    assert.match(reasonFor(text), /number out of range/);
  for (const text of ['1e308', '-0.5', '1E-400', '0']) assert.equal(parsedValue(text), Number(text));
});

test('S26 lone surrogates are refused, raw and escaped, in values and keys; pairs are accepted', () => {
  verifies('S26');
  const lone = [
    '"\ud800"',
    '"\udc00"',
    '"a\ud83dz"',
    '"\ude00\ud83d"',
    '"\\ud800"',
    '"\\uDC00x"',
    '"\\ud83d\\u0041"',
    '"\ud83d\\ude0"',
    '{"\ud800":1}',
    '{"\\ud800":1}',
  ];
  for (const text of lone) reasonFor(text);
  assert.equal(parsedValue('"\ud83d\ude00"'), '\u{1f600}');
  assert.equal(parsedValue('"\\ud83d\\ude00"'), '\u{1f600}');
});

test('S26 duplicate keys are refused, also when one is spelled with escapes; equal keys of two objects are not duplicates', () => {
  verifies('S26');
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"a" : 1 , "a"\n:2}',
    '[{"x":{"b":1,"b":1}}]',
    '{"":1,"":2}',
    '{"a":{"b":1},"a":2}',
  ]) {
    assert.match(reasonFor(text), /duplicate key/);
  }
  assert.deepEqual(parsedValue('[{"a":1},{"a":{"a":2}}]'), [{ a: 1 }, { a: { a: 2 } }]);
  assert.deepEqual(parsedValue('{"a":"a","b":["a","a"]}'), { a: 'a', b: ['a', 'a'] });
});

test('S26 NUL in a string is refused, raw and escaped', () => {
  verifies('S26');
  reasonFor('"\0"');
  assert.match(reasonFor('"\\u0000"'), /NUL/);
  assert.match(reasonFor('{"a\\u0000":1}'), /NUL/);
});

test('S25 reserved keys are refused at any depth and in any spelling; as values they are text', () => {
  verifies('S25');
  for (const key of RESERVED_KEYS) {
    for (const text of [`{"${key}":{"polluted":1}}`, `[[{"a":{"${key}":1}}]]`, `{"a":1,"${key}" :null}`])
      assert.match(reasonFor(text), /reserved key/);
    const escaped = `\\u00${key.charCodeAt(0).toString(16)}${key.slice(1)}`;
    assert.match(reasonFor(`{"${escaped}":1}`), /reserved key/);
    assert.equal(parsedValue(`"${key}"`), key);
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test('what is not JSON is refused', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '}',
    '[1,]',
    '{"a"}',
    '{a:1}',
    "'a'",
    '01',
    '1.',
    '+1',
    'NaN',
    'Infinity',
    'undefined',
    '"a',
    '"\\',
    '"\\x"',
    '\ufeff{}',
    '["a":1]',
    '1 2',
    '// x',
    '"\n"',
    'nul',
  ]) {
    reasonFor(text);
  }
});

test('every JSON value without the refused parts comes back as it was', () => {
  verifies('S26', 'foundation:json-value');
  const holds = fc.property(fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' }), (value) => {
    const text = JSON.stringify(value);
    if (hasRefusedText(value)) return;
    assert.deepEqual(parsedValue(text), JSON.parse(text));
    assert.deepEqual(parsedValue(JSON.stringify(value, undefined, 2)), value);
  });
  fc.assert(holds, { seed, numRuns: 2_000 });
});

function hasRefusedText(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => RESERVED_KEYS.has(key) || hasRefusedText(key) || hasRefusedText(inner));
}

test('no text makes it throw, and what it accepts JSON.parse accepts alike', () => {
  verifies('S26');
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    '"a"',
    '\\u00',
    '\ud800',
    '1e400',
    '-',
    '0',
    'true',
    'null',
    ' ',
    '\0',
    '"__proto__"',
  );
  const noisy = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(noisy, (text) => {
      const parsed = parseJson(text);
      if (parsed.ok) assert.deepEqual(parsed.value, JSON.parse(text));
      else assert.ok(parsed.fault.reason !== '' && parsed.fault.offset >= 0 && parsed.fault.offset <= text.length);
    }),
    { seed, numRuns: 5_000 },
  );
});

test('what is not JSON is refused where it goes wrong', () => {
  const at = (text: string) => {
    const parsed = parseJson(text);
    assert.ok(!parsed.ok, text);
    return parsed.fault.offset;
  };
  const wrong: readonly [text: string, offset: number][] = [
    ['', 0],
    ['  nul', 2],
    ['{"a": }', 6],
    ['{"a" 1}', 5],
    ['{"a":1,}', 7],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['{a:1}', 1],
    ['{"a":1} x', 8],
    ['[01]', 1],
    ['[1}', 2],
    ['["a', 1],
    ['["a\nb"]', 3],
    ['{"a":[1,2', 9],
    ['truex', 0],
  ];
  for (const [text, offset] of wrong) assert.equal(at(text), offset, text);
  assert.equal(placeInText('{\n  "a": }', 9), 'line 2, column 8');
});

test('where a text goes wrong is inside it, and nothing before it is wrong', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', ':', '"', 'x', '1', ' '), (text, place, put) => {
      const at = place % (text.length + 1);
      const changed = text.slice(0, at) + put + text.slice(at + 1);
      const parsed = parseJson(changed);
      if (parsed.ok || parsed.fault.reason !== 'not valid JSON') return;
      assert.ok(parsed.fault.offset >= 0 && parsed.fault.offset <= changed.length);
      // What stands before it can still become JSON: with nothing after it, the fault is at the end.
      const before = parseJson(changed.slice(0, parsed.fault.offset));
      if (!before.ok && before.fault.reason === 'not valid JSON') assert.equal(before.fault.offset, parsed.fault.offset);
    }),
    { seed },
  );
});
