import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { compileSchema } from './json-schema.ts';
import { loadPatterns } from './patterns.ts';

before(loadPatterns);

function check(schema: unknown, value: unknown): string | undefined {
  const compiled = compileSchema(schema);
  assert.ok(compiled.ok, compiled.ok ? '' : compiled.message);
  return compiled.check(value);
}

function refusal(schema: unknown): string {
  const compiled = compileSchema(schema);
  return compiled.ok ? 'taken' : compiled.message;
}

test('each keyword takes what fits and names the place of what does not', () => {
  const cases: [unknown, unknown, unknown, RegExp][] = [
    [{ type: 'integer' }, 1, 1.5, /^value must be integer$/],
    [{ type: ['string', 'null'] }, null, 1, /string or null/],
    [{ enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }, { a: 1 }, /one of/],
    [{ const: 'x' }, 'x', 'y', /must be "x"/],
    [{ minLength: 2, maxLength: 2 }, '👋👋', '👋', /at least 2/],
    [{ pattern: '^[a-z]+$' }, 'abc', 'aBc', /match/],
    [{ minimum: 1, exclusiveMaximum: 3 }, 2.9, 3, /less than 3/],
    [{ multipleOf: 0.1 }, 0.3, 0.35, /multiple/],
    [{ items: { type: 'number' }, maxItems: 2 }, [1, 2], [1, 'x'], /^value\/1 must be number$/],
    [{ prefixItems: [{ const: 1 }], items: false }, [1], [1, 2], /^value\/1 must not be there$/],
    [{ uniqueItems: true }, [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 1 }], /twice/],
    [{ properties: { a: { type: 'string' } }, required: ['a'] }, { a: '', b: 1 }, {}, /field "a"/],
    [{ properties: { a: true }, additionalProperties: false }, { a: 1 }, { b: 1 }, /unknown field "b"; it may have a$/],
    [{ oneOf: [{ const: 'x' }, { const: 2 }] }, 2, 3, /must be one of "x", 2$/],
    [{ patternProperties: { '^x': { type: 'number' } } }, { x1: 1, y: '' }, { x1: '' }, /^value\/x1/],
    [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }, /at most 1/],
    [{ dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }, /"b" beside "a"/],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 1, null, /none of the forms/],
    [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 0, 3, /exactly one/],
    [{ allOf: [{ minimum: 1 }, { maximum: 5 }] }, 3, 6, /at most 5/],
    [{ not: { type: 'string' } }, 1, 'x', /must not have/],
    // biome-ignore lint/suspicious/noThenProperty: the name of a keyword of JSON Schema
    [{ if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, 'ab', 1, /at least 2/],
    [{ $ref: '#/$defs/list', $defs: { list: { items: { $ref: '#/$defs/list' } } } }, [[[]]], undefined, /never/],
  ];
  for (const [schema, good, bad, wrong] of cases) {
    assert.equal(check(schema, good), undefined, JSON.stringify(schema));
    if (bad !== undefined) assert.match(check(schema, bad) ?? 'taken', wrong, JSON.stringify(schema));
  }
});

test('what is not understood, fetches or would hang is refused when it is registered', () => {
  let deep: unknown = {};
  for (let depth = 0; depth < 40; depth++) deep = { items: deep };
  const cases: [unknown, RegExp][] = [
    ['x', /not a schema/],
    [{ $ref: 'https://example.com/schema.json' }, /only #/],
    [{ $ref: 'file:///etc/passwd' }, /only #/],
    [{ $ref: '#/properties/a' }, /only #/],
    [{ $ref: '#/$defs/gone' }, /not there/],
    [{ $ref: '#/$defs/constructor', $defs: {} }, /not there/],
    [{ $dynamicRef: '#x' }, /not understood/],
    [{ pattern: '(a)\\1' }, /linear time/],
    [{ pattern: '(?=a)b' }, /linear time/],
    [{ patternProperties: { '(?<!a)b': true } }, /linear time/],
    [{ pattern: 'x'.repeat(600) }, /longer than 512/],
    [{ type: 'text' }, /must be one or more of/],
    [{ required: 'a' }, /list of texts/],
    [{ properties: [] }, /object of schemas/],
    [{ anyOf: [] }, /list of schemas/],
    [{ minLength: -1 }, /whole number/],
    [{ multipleOf: 0 }, /above 0/],
    [deep, /nested deeper/],
    [{ anyOf: Array.from({ length: 3_000 }, () => ({})) }, /more than 2048 parts/],
  ];
  for (const [schema, wrong] of cases) assert.match(refusal(schema), wrong);
  assert.equal(refusal({ title: 't', description: 'd', default: 1, examples: [1], format: 'email', 'x-hint': 1 }), 'taken');
});

test('a valid schema with hostile data is answered in bounded work', () => {
  const nested = {
    $ref: '#/$defs/a',
    $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] }, b: { items: { $ref: '#/$defs/a' }, maxItems: 1 } },
  };
  let value: unknown = [1, 2];
  for (let depth = 0; depth < 60; depth++) value = [value];
  assert.match(check(nested, value) ?? 'taken', /takes too long/);
  assert.match(check({ $ref: '#' }, 1) ?? 'taken', /takes too long/);
  assert.equal(check({ pattern: '^(a+)+$' }, 'a'.repeat(10_000)), undefined);
  assert.match(check({ pattern: '^(a+)+$' }, `${'a'.repeat(10_000)}b`) ?? 'taken', /match/);
  assert.match(
    check(
      { items: { pattern: '(x+x+)+$' } },
      Array.from({ length: 5_000 }, () => 'x'.repeat(1_000)),
    ) ?? 'taken',
    /takes too long/,
  );
});
