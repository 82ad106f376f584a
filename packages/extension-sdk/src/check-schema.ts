// Whether a value fits a JSON Schema: the part of it that parameters of tools are written in. An extension that starts
// should not pay for a compiler of schemas, and the arguments of one call are small. What is not here (formats, remote
// references, unevaluated properties) is not checked, as JSON Schema allows.

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Where it does not fit and why, or undefined. `root` is what `$ref` leads into. */
export function findFault(schema: unknown, value: unknown, root: unknown = schema, path = '', depth = 0): string | undefined {
  if (schema === true || schema === undefined) return undefined;
  if (schema === false) return `${at(path)} is not allowed`;
  if (!isObject(schema)) return undefined;
  if (depth > MOST_DEPTH) return `${at(path)} is nested too deeply`;
  const inner: Inner = (part, of, to = path) => findFault(part, of, root, to, depth + 1);
  if (typeof schema.$ref === 'string') {
    const target = resolveRef(root, schema.$ref);
    const fault = target === undefined ? `${at(path)} cannot be checked: "${schema.$ref}" leads nowhere` : inner(target, value);
    if (fault !== undefined) return fault;
  }
  return (
    faultOfValue(schema, value, path) ??
    faultOfChoice(schema, value, path, inner) ??
    (typeof value === 'string' ? faultOfText(schema, value, path) : undefined) ??
    (typeof value === 'number' ? faultOfNumber(schema, value, path) : undefined) ??
    (Array.isArray(value)
      ? faultOfList(schema, value, path, inner)
      : isObject(value)
        ? faultOfObject(schema, value, path, inner)
        : undefined)
  );
}

type Inner = (schema: unknown, value: unknown, path?: string) => string | undefined;

function faultOfValue({ type, const: only, enum: some }: JsonSchema, value: unknown, path: string): string | undefined {
  if (typeof type === 'string' && isOfType(value, type) && only === undefined && some === undefined) return undefined;
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? (type as unknown[]) : [];
  if (types.length > 0 && !types.some((name) => isOfType(value, name)))
    return `${at(path)} must be ${types.join(' or ')}, not ${nameOf(value)}`;
  if (only !== undefined && !isSame(value, only)) return `${at(path)} must be ${JSON.stringify(only)}`;
  if (Array.isArray(some) && !some.some((each) => isSame(value, each))) return `${at(path)} must be one of ${JSON.stringify(some)}`;
  return undefined;
}

function faultOfChoice({ allOf, anyOf, oneOf, not }: JsonSchema, value: unknown, path: string, inner: Inner): string | undefined {
  if (allOf === undefined && anyOf === undefined && oneOf === undefined && not === undefined) return undefined;
  for (const part of list(allOf)) {
    const fault = inner(part, value);
    if (fault !== undefined) return fault;
  }
  for (const parts of [anyOf, oneOf]) {
    if (!Array.isArray(parts)) continue;
    const faults = parts.map((part) => inner(part, value));
    const fitting = faults.filter((fault) => fault === undefined).length;
    if (fitting === 0) return `${at(path)} fits none of ${parts.length} forms; of the first: ${faults[0]}`;
    if (parts === oneOf && fitting > 1) return `${at(path)} fits ${fitting} forms where one is wanted`;
  }
  return not !== undefined && inner(not, value) === undefined ? `${at(path)} has the form that it must not have` : undefined;
}

function faultOfText({ minLength, maxLength, pattern }: JsonSchema, value: string, path: string): string | undefined {
  if (minLength === undefined && maxLength === undefined && pattern === undefined) return undefined;
  const length = [...value].length;
  if (typeof minLength === 'number' && length < minLength) return `${at(path)} must have at least ${minLength} characters`;
  if (typeof maxLength === 'number' && length > maxLength) return `${at(path)} must have at most ${maxLength} characters`;
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) return `${at(path)} must match ${pattern}`;
  return undefined;
}

function faultOfNumber(schema: JsonSchema, value: number, path: string): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === 'number' && value < minimum) return `${at(path)} must be at least ${minimum}`;
  if (typeof maximum === 'number' && value > maximum) return `${at(path)} must be at most ${maximum}`;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return `${at(path)} must be more than ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return `${at(path)} must be less than ${exclusiveMaximum}`;
  if (typeof multipleOf === 'number' && multipleOf > 0) {
    const times = value / multipleOf;
    if (Math.abs(times - Math.round(times)) > MULTIPLE_ERROR) return `${at(path)} must be a multiple of ${multipleOf}`;
  }
  return undefined;
}

function faultOfList(schema: JsonSchema, value: readonly unknown[], path: string, inner: Inner): string | undefined {
  const { items, prefixItems, minItems, maxItems, uniqueItems } = schema;
  if (typeof minItems === 'number' && value.length < minItems) return `${at(path)} must have at least ${minItems} items`;
  if (typeof maxItems === 'number' && value.length > maxItems) return `${at(path)} must have at most ${maxItems} items`;
  if (uniqueItems === true && new Set(value.map((each) => JSON.stringify(each))).size < value.length)
    return `${at(path)} has an item twice`;
  const first = list(prefixItems);
  for (const [index, each] of value.entries()) {
    const fault = inner(index < first.length ? first[index] : items, each, `${path}/${index}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfObject(schema: JsonSchema, value: Readonly<Record<string, unknown>>, path: string, inner: Inner): string | undefined {
  const { properties, patternProperties, required, additionalProperties, minProperties, maxProperties } = schema;
  for (const name of list(required)) {
    if (typeof name === 'string' && !Object.hasOwn(value, name)) return `${at(path)} has no "${name}"`;
  }
  const keys = Object.keys(value);
  if (typeof minProperties === 'number' && keys.length < minProperties) return `${at(path)} must have at least ${minProperties} fields`;
  if (typeof maxProperties === 'number' && keys.length > maxProperties) return `${at(path)} must have at most ${maxProperties} fields`;
  const named = isObject(properties) ? properties : {};
  const patterns = isObject(patternProperties) ? Object.entries(patternProperties) : NONE;
  for (const key of keys) {
    const to = `${path}/${key}`;
    if (patterns.length === 0 && Object.hasOwn(named, key)) {
      const fault = inner(named[key], value[key], to);
      if (fault !== undefined) return fault;
      continue;
    }
    const parts = [
      ...(Object.hasOwn(named, key) ? [named[key]] : []),
      ...patterns.filter(([pattern]) => new RegExp(pattern, 'u').test(key)).map(([, part]) => part),
    ];
    if (parts.length === 0 && additionalProperties === false) return `${at(to)} is not a field that is known`;
    for (const part of parts.length === 0 ? [additionalProperties] : parts) {
      const fault = inner(part, value[key], to);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

const NONE: readonly [string, unknown][] = [];
const MOST_DEPTH = 64;
const MULTIPLE_ERROR = 1e-9;

function at(path: string): string {
  return path === '' ? 'it' : path;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return nameOf(value) === type;
}

/** Equal as JSON; the order of fields does not count. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, index) => isSame(each, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

function resolveRef(root: unknown, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  return ref
    .slice('#/'.length)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), root);
}
