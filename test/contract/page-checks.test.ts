// The checks that the build makes for the page say the same as the compiled schemas, about good and bad values alike.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches } from '@tenon/protocol';
import { checkedSchemas, checksAsExpression } from '../../scripts/page/checks.ts';
import { createRandom } from '../support/random.ts';

// Code of our own build, as the bundle has it.
const checks = new Function(`return ${checksAsExpression()}`)() as Map<string, (value: unknown) => boolean>;
const schemas = checkedSchemas() as Map<string, Parameters<typeof matches>[0]>;

interface Plain {
  readonly [keyword: string]: unknown;
}

test('every schema that the page reads has a check', () => {
  assert.deepEqual([...checks.keys()], [...schemas.keys()]);
  assert.ok(checks.size > 30);
});

test('each check agrees with its schema, on values that fit and on values with one thing changed', () => {
  const random = createRandom(20261115);
  let [good, bad] = [0, 0];
  for (const [place, schema] of schemas) {
    const check = checks.get(place)!;
    for (let round = 0; round < 40; round++) {
      const value = sample(schema as unknown as Plain, schema as unknown as Plain, random, 0);
      assert.equal(matches(schema, value), true, `the sample fits ${place}: ${JSON.stringify(value)}`);
      for (const each of [value, ...variants(value, random)]) {
        const expected = matches(schema, each);
        expected ? good++ : bad++;
        assert.equal(check(each), expected, `${place}: ${JSON.stringify(each)}`);
      }
    }
  }
  assert.ok(good > 1_000 && bad > 1_000, `${good} fit, ${bad} did not`);
});

type Random = ReturnType<typeof createRandom>;

const TEXTS = [
  'main',
  'agent:main:main',
  '0123456789abcdef',
  'f'.repeat(64),
  'v1.2-x',
  'key-1',
  'https://example.org',
  'tools.register',
  '/plan',
  '0 9 * * *',
  'Europe/Berlin',
  '',
];

function sample(schema: Plain, root: Plain, random: Random, depth: number): unknown {
  if (schema.$defs && typeof schema.$ref === 'string')
    return sample((schema.$defs as Record<string, Plain>)[schema.$ref]!, schema, random, depth);
  if (typeof schema.$ref === 'string')
    return depth > 4 ? null : sample((root.$defs as Record<string, Plain>)[schema.$ref]!, root, random, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum as unknown[]);
  if (schema.anyOf) {
    const branches = schema.anyOf as Plain[];
    const plain = branches.filter((branch) => branch.type !== 'array' && branch.type !== 'object');
    return sample(random.pick(depth > 4 && plain.length > 0 ? plain : branches), root, random, depth + 1);
  }
  switch (schema.type) {
    case 'string': {
      if (typeof schema.pattern === 'string') return TEXTS.find((text) => new RegExp(schema.pattern as string, 'u').test(text));
      const least = (schema.minLength as number | undefined) ?? 0;
      const most = Math.min((schema.maxLength as number | undefined) ?? 60, 600);
      return random.pick(['x', 'é', '\u{1f600}']).repeat(random.pick([least, most]));
    }
    case 'integer':
    case 'number':
      return random.pick([schema.minimum ?? 0, schema.maximum ?? 7]);
    case 'boolean':
      return random.chance(0.5);
    case 'array': {
      const count = schema.uniqueItems ? 1 : Math.min(random.below(3), (schema.maxItems as number | undefined) ?? 3);
      return Array.from({ length: count }, () => sample(schema.items as Plain, root, random, depth + 1));
    }
    case 'object': {
      if (schema.patternProperties)
        return depth > 4
          ? {}
          : { a: sample(Object.values(schema.patternProperties as Record<string, Plain>)[0]!, root, random, depth + 1) };
      const required = new Set((schema.required as string[] | undefined) ?? []);
      const fields = Object.entries((schema.properties as Record<string, Plain> | undefined) ?? {});
      return Object.fromEntries(
        fields
          .filter(([name]) => required.has(name) || random.chance(0.5))
          .map(([name, field]) => [name, sample(field, root, random, depth + 1)]),
      );
    }
    default:
      return null;
  }
}

const STRANGE = [null, true, 0, -1, 1.5, 2 ** 53, '', 'x'.repeat(700), '\n', [], ['a', 'a'], {}, { a: 1 }];

/** One place of the value replaced, taken away, or added to. */
function* variants(value: unknown, random: Random): Generator<unknown> {
  yield random.pick(STRANGE);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    yield [...value, random.pick(STRANGE)];
    for (const inner of value.slice(0, 1)) for (const each of variants(inner, random)) yield [each, ...value.slice(1)];
    return;
  }
  yield { ...value, unknownField: 1 };
  for (const [name, inner] of Object.entries(value)) {
    const { [name]: _, ...rest } = value as Record<string, unknown>;
    yield rest;
    yield { ...value, [name]: random.pick(STRANGE) };
    for (const each of variants(inner, random)) yield { ...value, [name]: each };
  }
}
