// JSON Schemas that plugins bring: for their configuration, their tools and their actions. A closed set of keywords is
// understood and everything else is refused when the schema is registered, so that nothing is fetched and nothing is
// silently not checked. Patterns run in linear time, and a check ends after so many steps, whatever the data.
import type { JsonValue } from '@tenon/protocol';
import { canonical } from '../kernel/canonical.ts';
import { compilePattern } from './patterns.ts';

export interface CompiledSchema {
  readonly ok: true;
  /** What is wrong with the value, in words that name the place; undefined when nothing is. */
  check(value: unknown, name?: string): string | undefined;
}

export type SchemaOutcome = CompiledSchema | { readonly ok: false; readonly message: string };

const MAX_DEPTH = 32;
const MAX_NODES = 2_048;
const MAX_PATTERN = 512;
/** About a tenth of a second. */
const MAX_STEPS = 200_000;

type Schema = Readonly<Record<string, unknown>>;
type Find = (text: string) => boolean;

interface Rule {
  /** Whether its value is understood. */
  readonly fits: (value: unknown) => boolean;
  readonly wants: string;
}

const count: Rule = { fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0, wants: 'a whole number from 0' };
const number: Rule = { fits: (value) => typeof value === 'number' && Number.isFinite(value), wants: 'a number' };
const flag: Rule = { fits: (value) => typeof value === 'boolean', wants: 'true or false' };
const texts: Rule = { fits: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'), wants: 'a list of texts' };
const anything: Rule = { fits: () => true, wants: 'anything' };
const schema: Rule = { fits: isSchema, wants: 'a schema' };
const schemas: Rule = { fits: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema), wants: 'a list of schemas' };
const schemaMap: Rule = { fits: (value) => isRecord(value) && Object.values(value).every(isSchema), wants: 'an object of schemas' };

const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];

const keywords: Readonly<Record<string, Rule>> = {
  type: {
    fits: (value) => {
      const names: unknown[] = Array.isArray(value) ? value : [value];
      return names.length > 0 && names.every((each) => TYPES.includes(each as string));
    },
    wants: `one or more of ${TYPES.join(', ')}`,
  },
  enum: { fits: (value) => Array.isArray(value) && value.length > 0, wants: 'a list that is not empty' },
  const: anything,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: the name of a keyword of JSON Schema; the table is never awaited
  then: schema,
  else: schema,
  properties: schemaMap,
  patternProperties: schemaMap,
  additionalProperties: schema,
  propertyNames: schema,
  required: texts,
  dependentRequired: { fits: (value) => isRecord(value) && Object.values(value).every(texts.fits), wants: 'an object of lists of texts' },
  minProperties: count,
  maxProperties: count,
  items: schema,
  prefixItems: schemas,
  minItems: count,
  maxItems: count,
  uniqueItems: flag,
  minLength: count,
  maxLength: count,
  pattern: { fits: (value) => typeof value === 'string', wants: 'a text' },
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: { fits: (value) => number.fits(value) && (value as number) > 0, wants: 'a number above 0' },
  $ref: { fits: (value) => typeof value === 'string', wants: 'a text' },
  $defs: schemaMap,
  definitions: schemaMap,
};

/** Said for people and tools; nothing is checked by them. */
const ANNOTATIONS = new Set(
  '$schema $comment title description default examples format deprecated readOnly writeOnly contentMediaType contentEncoding'.split(' '),
);

const INNER_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const INNER_MAPS = ['properties', 'patternProperties', '$defs', 'definitions'];
const INNER = ['not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames', 'items'];

class Unusable extends Error {}
class TooMuch extends Error {}

/** The schema must be plain data that nobody changes any more. Where it has patterns, `loadPatterns` has been called. Contract: does not throw. */
export function compileSchema(root: unknown): SchemaOutcome {
  const patterns = new Map<string, Find>();
  const refs = new Map<string, unknown>();
  try {
    let nodes = 0;
    const visit = (at: unknown, place: string, depth: number): void => {
      if (++nodes > MAX_NODES) throw new Unusable(`the schema has more than ${MAX_NODES} parts`);
      if (depth > MAX_DEPTH) throw new Unusable(`the schema is nested deeper than ${MAX_DEPTH}`);
      if (typeof at === 'boolean') return;
      if (!isRecord(at)) throw new Unusable(`${place} is not a schema`);
      for (const [keyword, value] of Object.entries(at)) {
        if (ANNOTATIONS.has(keyword) || keyword.startsWith('x-')) continue;
        const rule = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
        if (!rule) throw new Unusable(`${place} has the keyword "${keyword.slice(0, 64)}", which is not understood`);
        if (!rule.fits(value)) throw new Unusable(`${place}/${keyword} must be ${rule.wants}`);
      }
      if (typeof at.pattern === 'string') addPattern(at.pattern, place);
      for (const pattern of Object.keys((at.patternProperties as object | undefined) ?? {})) addPattern(pattern, place);
      if (typeof at.$ref === 'string') refs.set(at.$ref, follow(root, at.$ref, place));
      for (const keyword of INNER) if (at[keyword] !== undefined) visit(at[keyword], `${place}/${keyword}`, depth + 1);
      for (const keyword of INNER_LISTS) {
        for (const [index, inner] of ((at[keyword] as unknown[] | undefined) ?? []).entries()) {
          visit(inner, `${place}/${keyword}/${index}`, depth + 1);
        }
      }
      for (const keyword of INNER_MAPS) {
        for (const [name, inner] of Object.entries((at[keyword] as object | undefined) ?? {})) {
          visit(inner, `${place}/${keyword}/${name.slice(0, 64)}`, depth + 1);
        }
      }
    };
    const addPattern = (pattern: string, place: string): void => {
      if (pattern.length > MAX_PATTERN) throw new Unusable(`${place} has a pattern longer than ${MAX_PATTERN} characters`);
      try {
        patterns.set(pattern, compilePattern(pattern));
      } catch {
        throw new Unusable(
          `${place} has the pattern "${pattern.slice(0, 64)}", which cannot be matched in linear time (no look-around, no back-references)`,
        );
      }
    };
    visit(root, '#', 0);
  } catch (error) {
    if (error instanceof Unusable) return { ok: false, message: error.message };
    return { ok: false, message: 'the schema cannot be read' };
  }
  return { ok: true, check: (value, name = 'value') => checkWith({ patterns, refs }, root, value, name) };
}

/** Only into the definitions of the schema itself, and to a place that is there. */
function follow(root: unknown, ref: string, place: string): unknown {
  const match = /^#(?:\/(\$defs|definitions)\/([^/~%]+))?$/.exec(ref);
  if (!match) throw new Unusable(`${place} refers to "${ref.slice(0, 128)}"; only #, #/$defs/<name> and #/definitions/<name> are followed`);
  const [, part, name] = match;
  if (part === undefined || name === undefined) return root;
  const map = (root as Schema)[part];
  if (!isRecord(map) || !Object.hasOwn(map, name)) throw new Unusable(`${place} refers to "${ref}", which is not there`);
  return map[name];
}

interface Parts {
  readonly patterns: ReadonlyMap<string, Find>;
  readonly refs: ReadonlyMap<string, unknown>;
}

function checkWith({ patterns, refs }: Parts, root: unknown, given: unknown, name: string): string | undefined {
  let steps = 0;
  const step = (by = 1): void => {
    steps += by;
    if (steps > MAX_STEPS) throw new TooMuch();
  };

  function check(at: unknown, value: unknown, place: string, depth: number): string | undefined {
    step();
    if (depth > MAX_DEPTH * 4) throw new TooMuch();
    if (at === true) return undefined;
    if (at === false) return `${place} must not be there`;
    const rules = at as Schema;
    return (
      checkPlain(rules, value, place) ??
      checkText(rules, value, place) ??
      checkNumber(rules, value, place) ??
      checkList(rules, value, place, depth) ??
      checkObject(rules, value, place, depth) ??
      checkTogether(rules, value, place, depth)
    );
  }

  function checkPlain(rules: Schema, value: unknown, place: string): string | undefined {
    if (rules.type !== undefined) {
      const types = (Array.isArray(rules.type) ? rules.type : [rules.type]) as string[];
      if (!types.some((type) => isOfType(value, type))) return `${place} must be ${types.join(' or ')}`;
    }
    if (rules.enum !== undefined) {
      const texts = (rules.enum as JsonValue[]).map((each) => canonical(each));
      step(texts.length);
      if (!texts.includes(canonical(value))) return `${place} must be one of ${texts.join(', ').slice(0, 256)}`;
    }
    if ('const' in rules && canonical(rules.const) !== canonical(value)) return `${place} must be ${canonical(rules.const).slice(0, 128)}`;
    return undefined;
  }

  function checkText(rules: Schema, value: unknown, place: string): string | undefined {
    if (typeof value !== 'string') return undefined;
    if (rules.minLength !== undefined || rules.maxLength !== undefined) {
      step(Math.ceil(value.length / 64));
      const length = lengthOf(value);
      if (length < ((rules.minLength as number | undefined) ?? 0)) return `${place} must have at least ${rules.minLength} characters`;
      if (length > ((rules.maxLength as number | undefined) ?? length)) return `${place} must have at most ${rules.maxLength} characters`;
    }
    if (typeof rules.pattern === 'string' && !finds(rules.pattern, value)) return `${place} must match ${rules.pattern.slice(0, 128)}`;
    return undefined;
  }

  function finds(pattern: string, text: string): boolean {
    step(Math.ceil((text.length * (pattern.length + 1)) / 64));
    return patterns.get(pattern)!(text);
  }

  function checkNumber(rules: Schema, value: unknown, place: string): string | undefined {
    if (typeof value !== 'number') return undefined;
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rules as Record<string, number | undefined>;
    if (minimum !== undefined && value < minimum) return `${place} must be at least ${minimum}`;
    if (maximum !== undefined && value > maximum) return `${place} must be at most ${maximum}`;
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `${place} must be more than ${exclusiveMinimum}`;
    if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return `${place} must be less than ${exclusiveMaximum}`;
    if (multipleOf !== undefined) {
      const times = value / multipleOf;
      // 0.3 is three times 0.1, whatever binary fractions make of it.
      if (Math.abs(times - Math.round(times)) > 1e-9 * Math.max(1, Math.abs(times))) return `${place} must be a multiple of ${multipleOf}`;
    }
    return undefined;
  }

  function checkList(rules: Schema, value: unknown, place: string, depth: number): string | undefined {
    if (!Array.isArray(value)) return undefined;
    const { minItems, maxItems } = rules as Record<string, number | undefined>;
    if (minItems !== undefined && value.length < minItems) return `${place} must have at least ${minItems} items`;
    if (maxItems !== undefined && value.length > maxItems) return `${place} must have at most ${maxItems} items`;
    if (rules.uniqueItems === true) {
      step(value.length);
      if (new Set(value.map((each) => canonical(each))).size < value.length) return `${place} must not have an item twice`;
    }
    const first = (rules.prefixItems as unknown[] | undefined) ?? [];
    if (first.length === 0 && rules.items === undefined) return undefined;
    for (const [index, each] of value.entries()) {
      const rule = index < first.length ? first[index] : rules.items;
      const wrong = rule === undefined ? undefined : check(rule, each, `${place}/${index}`, depth + 1);
      if (wrong) return wrong;
    }
    return undefined;
  }

  function checkObject(rules: Schema, value: unknown, place: string, depth: number): string | undefined {
    if (!isRecord(value)) return undefined;
    const keys = Object.keys(value);
    step(keys.length);
    const { minProperties, maxProperties } = rules as Record<string, number | undefined>;
    if (minProperties !== undefined && keys.length < minProperties) return `${place} must have at least ${minProperties} fields`;
    if (maxProperties !== undefined && keys.length > maxProperties) return `${place} must have at most ${maxProperties} fields`;
    for (const key of (rules.required as string[] | undefined) ?? []) {
      if (!Object.hasOwn(value, key)) return `${place} must have the field "${key.slice(0, 64)}"`;
    }
    for (const [key, others] of Object.entries((rules.dependentRequired as Record<string, string[]> | undefined) ?? {})) {
      const missing = Object.hasOwn(value, key) ? others.find((other) => !Object.hasOwn(value, other)) : undefined;
      if (missing !== undefined) return `${place} must have the field "${missing.slice(0, 64)}" beside "${key.slice(0, 64)}"`;
    }
    const properties = (rules.properties as Schema | undefined) ?? {};
    const byPattern = Object.entries((rules.patternProperties as Schema | undefined) ?? {});
    for (const key of keys) {
      const inside = `${place}/${key.slice(0, 64)}`;
      const wrongName = rules.propertyNames === undefined ? undefined : check(rules.propertyNames, key, inside, depth + 1);
      if (wrongName) return wrongName;
      const named = Object.hasOwn(properties, key) ? [properties[key]] : [];
      const matching = byPattern.filter(([pattern]) => finds(pattern, key)).map(([, inner]) => inner);
      const apply = [...named, ...matching];
      if (apply.length === 0 && rules.additionalProperties !== undefined) {
        if (rules.additionalProperties === false) return `${place} has an unknown field "${key.slice(0, 64)}"${fieldsOf(rules)}`;
        apply.push(rules.additionalProperties);
      }
      for (const rule of apply) {
        const wrong = check(rule, value[key], inside, depth + 1);
        if (wrong) return wrong;
      }
    }
    return undefined;
  }

  function checkTogether(rules: Schema, value: unknown, place: string, depth: number): string | undefined {
    const fits = (inner: unknown) => check(inner, value, place, depth + 1) === undefined;
    if (typeof rules.$ref === 'string') {
      const wrong = check(refs.get(rules.$ref), value, place, depth + 1);
      if (wrong) return wrong;
    }
    for (const inner of (rules.allOf as unknown[] | undefined) ?? []) {
      const wrong = check(inner, value, place, depth + 1);
      if (wrong) return wrong;
    }
    if (rules.anyOf !== undefined && !(rules.anyOf as unknown[]).some(fits))
      return formsOf(rules.anyOf, place) ?? `${place} fits none of the forms that it may have`;
    if (rules.oneOf !== undefined && (rules.oneOf as unknown[]).filter(fits).length !== 1)
      return formsOf(rules.oneOf, place) ?? `${place} must fit exactly one form`;
    if (rules.not !== undefined && fits(rules.not)) return `${place} has a form that it must not have`;
    if (rules.if !== undefined) {
      const branch = fits(rules.if) ? rules.then : rules.else;
      if (branch !== undefined) return check(branch, value, place, depth + 1);
    }
    return undefined;
  }

  try {
    return check(root, given, name, 0);
  } catch (error) {
    if (error instanceof TooMuch) return `${name} takes too long to check against its schema`;
    throw error;
  }
}

function fieldsOf({ properties }: Schema): string {
  const names = isRecord(properties) ? Object.keys(properties) : [];
  return names.length === 0 ? '' : `; it may have ${names.join(', ').slice(0, 256)}`;
}

/** Where all forms are single values, they can be named. */
function formsOf(forms: unknown, place: string): string | undefined {
  const values = (forms as unknown[]).map((form) => (isRecord(form) && 'const' in form ? canonical(form.const as JsonValue) : undefined));
  return values.includes(undefined) ? undefined : `${place} must be one of ${values.join(', ').slice(0, 256)}`;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === type;
}

/** Characters as people count them, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isRecord(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
