// Values made from a JSON Schema: ones that fit it, and ones that almost do. For tests that need many of both.
import type { Definitions, JsonSchema } from '../../scripts/protocol/json-schema.ts';
import { refName } from '../../scripts/protocol/json-schema.ts';
import type { Random } from './random.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// One of these fits every pattern of the protocol; a new pattern may need a new line.
const PATTERN_SAMPLES = [
  '/path/to/it',
  '/wave',
  'dist/index.js',
  'tools.register',
  '0 9 * * *',
  'hooks.observe:agent_end',
  'main',
  'agent:main:main',
  '0123456789abcdef',
  'f'.repeat(64),
  'v1.2-x',
  'key-1',
  'https://example.org',
  '127.0.0.1',
];

/** A value that fits the schema; lengths, counts and numbers are often at their bounds. */
export function sampleOf(schema: JsonSchema, definitions: Definitions, random: Random, depth = 0): Json {
  const named = refName(schema);
  if (named !== undefined) return sampleOf(definitions[named]!, definitions, random, depth);
  if (schema.const !== undefined) return schema.const as Json;
  if (schema.enum) return random.pick(schema.enum) as Json;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return sampleOf(random.pick(depth > 5 ? endingBranches(branches) : branches), definitions, random, depth + 1);
  if (schema.type === 'string') return sampleString(schema, random);
  if (schema.type === 'boolean') return random.chance(0.5);
  if (schema.type === 'integer' || schema.type === 'number') return sampleNumber(schema, random);
  if (schema.type === 'array') return sampleArray(schema, definitions, random, depth);
  if (schema.type === 'object') return sampleObject(schema, definitions, random, depth);
  return null;
}

/** A recursive type comes to an end because its plain branches are all that is left; one without any is not recursive. */
function endingBranches(branches: readonly JsonSchema[]): readonly JsonSchema[] {
  const plain = branches.filter(isPlain);
  return plain.length > 0 ? plain : branches;
}

function isPlain(schema: JsonSchema): boolean {
  return refName(schema) === undefined && schema.type !== 'array' && schema.type !== 'object';
}

function sampleString({ pattern, minLength = 0, maxLength }: JsonSchema, random: Random): string {
  if (pattern !== undefined) {
    const fitting = PATTERN_SAMPLES.filter((text) => new RegExp(pattern, 'u').test(text));
    if (fitting.length === 0) throw new Error(`No sample fits the pattern ${pattern}`);
    return random.pick(fitting);
  }
  const most = Math.min(maxLength ?? 40, 5_000);
  const length = random.pick([minLength, most, minLength + random.below(most - minLength + 1)]);
  return random.pick(['x', 'é', '\u{1f600}', ' ']).repeat(length);
}

function sampleNumber({ type, minimum, maximum }: JsonSchema, random: Random): number {
  const least = minimum ?? -1_000;
  const most = maximum ?? 1_000_000;
  const between = least + Math.floor(random.next() * (most - least));
  return random.pick([least, most, between, type === 'number' ? between / 3 : between]);
}

function sampleArray(schema: JsonSchema, definitions: Definitions, random: Random, depth: number): Json[] {
  const least = schema.minItems ?? 0;
  const most = Math.min(schema.maxItems ?? 3, depth > 5 ? 0 : 3);
  const items = Array.from({ length: least + random.below(Math.max(1, most - least + 1)) }, () =>
    sampleOf(schema.items ?? {}, definitions, random, depth + 1),
  );
  return schema.uniqueItems ? [...new Set(items)] : items;
}

function sampleObject(schema: JsonSchema, definitions: Definitions, random: Random, depth: number): Json {
  const required = new Set(schema.required);
  const entries = Object.entries(schema.properties ?? {})
    .filter(([name]) => required.has(name) || random.chance(0.6))
    .map(([name, property]): [string, Json] => [name, sampleOf(property, definitions, random, depth + 1)]);
  const [values] = Object.values(schema.patternProperties ?? {});
  for (let count = values && depth <= 5 ? random.below(3) : 0; values && count > 0; count--) {
    entries.push([random.pick(['a', 'b.c', 'd e', '']), sampleOf(values, definitions, random, depth + 1)]);
  }
  return Object.fromEntries(entries);
}

const STRANGERS: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  '',
  'x',
  'x'.repeat(6_000),
  '\u{1f600}'.repeat(129),
  [],
  {},
  [[]],
  { a: { b: [] } },
];

/** The same value with one to three changes somewhere in it. It may still fit. */
export function mutate(value: Json, random: Random): Json {
  let changed = structuredClone(value);
  for (let count = 1 + random.below(3); count > 0; count--) changed = change(changed, random);
  return changed;
}

function change(value: Json, random: Random): Json {
  const isLeaf = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isLeaf || random.chance(0.25)) return changeHere(value, random);
  if (Array.isArray(value)) {
    const at = random.below(value.length);
    return value.map((item, index) => (index === at ? change(item, random) : item));
  }
  const name = random.pick(Object.keys(value));
  return { ...value, [name]: change(value[name]!, random) };
}

function changeHere(value: Json, random: Random): Json {
  if (random.chance(0.4) || value === null) return random.pick(STRANGERS);
  if (Array.isArray(value)) return random.chance(0.5) ? [...value, ...value] : [...value, random.pick(STRANGERS)];
  if (typeof value === 'object') {
    const names = Object.keys(value);
    if (names.length > 0 && random.chance(0.5)) {
      const gone = random.pick(names);
      return Object.fromEntries(Object.entries(value).filter(([name]) => name !== gone));
    }
    return { ...value, [random.pick(['extra', 'Type', 'toString', 'new\nline'])]: random.pick(STRANGERS) };
  }
  if (typeof value === 'number') return random.pick([value + 1, value - 1, -value, value + 0.5, String(value)]);
  if (typeof value === 'string')
    return random.pick([`${value}x`, value.slice(1), value.toUpperCase(), `${value}\n`, value.repeat(3), [value]]);
  return !value;
}
