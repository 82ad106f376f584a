// Schemas as functions. Each is compiled when it is first used and kept with its schema, so that start-up pays for none.
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

const compiled = new WeakMap<TSchema, Validator>();

function validatorOf(schema: TSchema): Validator {
  let validator = compiled.get(schema);
  if (!validator) {
    validator = Compile(schema) as Validator;
    compiled.set(schema, validator);
  }
  return validator;
}

export function matches<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  return validatorOf(schema).Check(value);
}

/** What is wrong with the value, in one line that names the place: `params/limit must be <= 200`. Undefined when nothing is. */
export function explain(schema: TSchema, value: unknown, name: string): string | undefined {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return undefined;
  const [first] = sortByPlace(validator.Errors(value));
  if (!first) return `${name} does not fit its schema`;
  const kind = kindMeant(schema, value, first);
  if (kind) return 'wrong' in kind ? `${name}${kind.wrong}` : explain(kind.schema, kind.value, `${name}${kind.place}`);
  return `${name}${first.instancePath} ${wordsOf(schema, first)}`;
}

export interface PlacedFault {
  /** `/run/command` */
  readonly place: string;
  /** What follows the place in a sentence. */
  readonly message: string;
}

/** What is wrong with the value, the outermost places first, a line for each; as many as the library looks for. */
export function faultsIn(schema: TSchema, value: unknown): PlacedFault[] {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return [];
  const faults = new Map<string, string>();
  for (const fault of sortByPlace(validator.Errors(value))) {
    const { requiredProperties: missing = [] } = fault.params as { requiredProperties?: string[] };
    for (const name of missing) faults.set(`${fault.instancePath}/${name}`, 'is missing');
    if (missing.length === 0 && !faults.has(fault.instancePath)) faults.set(fault.instancePath, wordsOf(schema, fault));
  }
  return [...faults].map(([place, message]) => ({ place, message }));
}

function wordsOf(schema: TSchema, fault: Fault): string {
  const unknownKeys = (fault.params as { additionalProperties?: string[] }).additionalProperties;
  if (unknownKeys?.length) return `has an unknown field "${unknownKeys[0]}"`;
  // A pattern is for machines; a schema that has one says in words what it wants.
  const wanted = wantedAt(schemaAt(schema, fault.schemaPath), fault.keyword);
  return wanted === undefined ? fault.message : `must be ${wanted}`;
}

interface Described {
  readonly description?: string;
  readonly enum?: readonly unknown[];
}

/** In words, where the schema has them and the library says only that it does not fit. */
function wantedAt(schema: Described | undefined, keyword: string): string | undefined {
  if (keyword === 'pattern') return schema?.description;
  return keyword === 'enum' && schema?.enum ? `one of ${schema.enum.join(', ')}` : undefined;
}

function schemaAt(schema: TSchema, path: string): Described | undefined {
  let at: unknown = schema;
  for (const part of path.split('/').slice(1)) at = (at as Record<string, unknown> | undefined)?.[part];
  return at as Described | undefined;
}

type Fault = ReturnType<Validator['Errors']>[number];
type Node = Readonly<Record<string, unknown>>;

/**
 * Of a union of kinds that a fixed value tells apart, or of one kind and null, the one that is meant: what is wrong with it, and not that it is none of the
 * others. Undefined where the fault lies in no such union.
 */
function kindMeant(
  schema: TSchema,
  value: unknown,
  { schemaPath, instancePath }: Fault,
): { readonly schema: TSchema; readonly value: unknown; readonly place: string } | { readonly wrong: string } | undefined {
  const keys = instancePath.split('/').slice(1);
  const parts = schemaPath.split('/').slice(1);
  let [at, here, place] = [schema as unknown as Node, value, ''];
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? '';
    if (part === 'anyOf') {
      const kinds = at.anyOf as readonly Node[] | undefined;
      // A schema that refers to itself: the path goes on elsewhere.
      if (!kinds) return undefined;
      const [other, ...more] = kinds.filter(({ type }) => type !== 'null');
      // Something or nothing, and it is not nothing: what is wrong with it is what helps.
      const isOptional = other !== undefined && more.length === 0 && kinds.length > 1 && here !== null;
      const meant = isOptional ? [other] : kinds.filter((each) => isOfKind(each, here));
      if (meant.length === 1) return { schema: meant[0] as unknown as TSchema, value: here, place };
      return meant.length === 0 ? wrongKind(kinds, here, place) : undefined;
    }
    if (part === 'properties' || part === 'items') {
      const key = keys.shift() ?? '';
      here = (here as Node | undefined)?.[key];
      place += `/${key}`;
      at = (part === 'items' ? at.items : (at.properties as Node | undefined)?.[parts[++index] ?? '']) as Node;
    } else return undefined;
    if (typeof at !== 'object') return undefined;
  }
  return undefined;
}

/** The fields that have one fixed value. */
function fixedOf({ properties = {} }: { readonly properties?: unknown }): [string, unknown][] {
  return Object.entries(properties as Record<string, { const?: unknown }>).flatMap(([key, field]) => {
    return field.const === undefined ? [] : [[key, field.const] as [string, unknown]];
  });
}

function isOfKind(kind: Node, value: unknown): boolean {
  const fixed = fixedOf(kind);
  return fixed.length > 0 && typeof value === 'object' && value !== null && fixed.every(([key, one]) => (value as Node)[key] === one);
}

/** All kinds are told apart by the same field, and it has none of their values. */
function wrongKind(kinds: readonly Node[], value: unknown, place: string): { readonly wrong: string } | undefined {
  const fixed = kinds.map(fixedOf);
  const key = fixed[0]?.[0]?.[0];
  const values = fixed.flatMap((each) => each.flatMap(([name, one]) => (name === key ? [one] : [])));
  if (key === undefined || values.length < kinds.length || typeof value !== 'object' || value === null) return undefined;
  return { wrong: `${place}/${key} must be one of ${[...new Set(values)].join(', ')}` };
}

// The library reports `schema is false` for each unknown key beside the one message that says so, and the branches
// of a union before the union: the plainest message is the shallowest that is neither.
function sortByPlace(faults: readonly Fault[]): Fault[] {
  const depth = (fault: Fault) => fault.instancePath.split('/').length;
  return faults.filter((fault) => fault.message !== 'schema is false').sort((a, b) => depth(a) - depth(b));
}

const openForms = new WeakMap<object, object>();

/**
 * The schema as a reader takes it: the same, but fields that it does not know are let pass. Writers are held to closed
 * objects; a reader that insisted on them would break with the first field that a newer gateway adds.
 */
export function reading<Schema extends TSchema>(schema: Schema): Schema {
  return opened(schema) as Schema;
}

function opened(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const known = openForms.get(schema);
  if (known) return known;
  if (Array.isArray(schema)) return schema.map(opened);
  const form = Object.create(Object.getPrototypeOf(schema), Object.getOwnPropertyDescriptors(schema)) as Record<string, unknown>;
  openForms.set(schema, form);
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'additionalProperties' && value === false) delete form[key];
    else if (typeof value === 'object') form[key] = opened(value);
  }
  return form;
}
