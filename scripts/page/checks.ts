// The page's checks of what the gateway says, made from the tables at build time: a schema that is compiled in the browser
// needs eval, and the page's CSP forbids that. Each distinct part of a schema becomes one function, built from a few
// small ones; what a newer gateway adds passes, as it does in `reading`. A keyword that is not known here stops the build.
import { laterMethods, pageMethods } from '../../packages/control-ui/src/state/page-methods.ts';
import {
  EventFrame,
  eventNames,
  eventRow,
  HelloOk,
  type MethodName,
  methodRow,
  reading,
  ResponseFrame,
} from '../../packages/protocol/src/index.ts';

interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly $ref?: string;
}

/** Where a schema stands in the tables, as an expression → the schema. */
export function checkedSchemas(): Map<string, object> {
  const places = new Map<string, object>([
    ['EventFrame', EventFrame],
    ['ResponseFrame', ResponseFrame],
    ['HelloOk', HelloOk],
  ]);
  for (const name of eventNames) places.set(`events[${JSON.stringify(name)}].payload`, eventRow(name).payload);
  return new Map([...asRead(places), ...resultsOf(pageMethods)]);
}

function resultsOf(names: readonly MethodName[]): Map<string, object> {
  return asRead(names.map((name) => [`methods[${JSON.stringify(name)}].result`, methodRow(name).result]));
}

function asRead(places: Iterable<readonly [string, object]>): Map<string, object> {
  return new Map([...places].map(([place, schema]) => [place, reading(schema as Parameters<typeof reading>[0])]));
}

/** The module that takes the place of the protocol's `validate.ts`. */
export function checksModule(): string {
  const later = resultsOf(laterMethods);
  const { text, rows } = written([...checkedSchemas()].filter(([place]) => !later.has(place)));
  return [
    `import { EventFrame, ResponseFrame } from './frames.ts';`,
    `import { HelloOk } from './connect.ts';`,
    `import { events } from './events.ts';`,
    `import { methods } from './methods.ts';`,
    BUILDERS,
    text,
    // Made when first used, because the tables import one another.
    'let table;',
    `const checks = () => (table ??= new Map([${rows.join(',\n')}]));`,
    // Before the first check: whoever adds some may come before anything was checked.
    'export const addChecks = (more) => { for (const [schema, check] of more) checks().set(schema, check); };',
    'export function matches(schema, value) {',
    '  const check = checks().get(schema);',
    `  if (!check) throw new Error('The page has no check for this; add the method to page-methods.ts');`,
    '  return check(value);',
    '}',
    `export const explain = (schema, value, name) => (matches(schema, value) ? undefined : name + ' does not fit its schema');`,
    'export const reading = (schema) => schema;',
  ].join('\n');
}

/** The module that adds what the client knows of the methods that only later views call. */
export function laterChecksModule(table: string, protocol: string): string {
  const { text, rows } = written([...resultsOf(laterMethods)]);
  return [
    `import { methods } from ${JSON.stringify(`${protocol}/methods.ts`)};`,
    `import { addChecks } from ${JSON.stringify(`${protocol}/validate.ts`)};`,
    `Object.assign(methods, ${table});`,
    BUILDERS,
    text,
    `addChecks([${rows.join(',\n')}]);`,
  ].join('\n');
}

function written(places: readonly (readonly [string, object])[]): { readonly text: string; readonly rows: readonly string[] } {
  const parts = new Parts();
  const rows = places.map(([place, schema]) => `[${place}, ${parts.nameOf(schema as Schema)}]`);
  return { text: parts.text(), rows };
}

/** The checks alone, by place, for tests that hold them against the compiled schemas. */
export function checksAsExpression(): string {
  const parts = new Parts();
  const rows = [...checkedSchemas()].map(([place, schema]) => `[${JSON.stringify(place)}, ${parts.nameOf(schema as Schema)}]`);
  return `(() => {${BUILDERS}\n${parts.text()}\nreturn new Map([${rows.join(',')}]);})()`;
}

// Values come out of a JSON parser: an object has own fields only, and nothing is undefined.
const BUILDERS = `
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const nothing = (value) => value === null;
const bool = (value) => typeof value === 'boolean';
const is = (wanted) => (value) => value === wanted;
const among = (...wanted) => (value) => wanted.includes(value);
const number = (least = -Infinity, most = Infinity) => (value) => Number.isFinite(value) && value >= least && value <= most;
const integer = (least = -Infinity, most = Infinity) => (value) => Number.isInteger(value) && value >= least && value <= most;
const points = (text) => { let count = 0; for (const _ of text) count++; return count; };
const text = (least = 0, most = Infinity, pattern) => (value) =>
  typeof value === 'string' &&
  (least === 0 || points(value) >= least) &&
  (value.length <= most || points(value) <= most) &&
  (pattern === undefined || pattern.test(value));
const list = (item, least = 0, most = Infinity, distinct = false) => (value) =>
  Array.isArray(value) &&
  value.length >= least &&
  value.length <= most &&
  value.every(item) &&
  (!distinct || new Set(value.map((each) => JSON.stringify(each))).size === value.length);
const record = (item, names) => (value) =>
  isObject(value) && Object.entries(value).every(([name, each]) => (names !== undefined && !names.test(name)) || item(each));
const object = (needed, optional = {}) => {
  const must = Object.entries(needed);
  const may = Object.entries(optional);
  return (value) =>
    isObject(value) &&
    must.every(([name, check]) => Object.hasOwn(value, name) && check(value[name])) &&
    may.every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]));
};
const either = (...checks) => (value) => checks.some((check) => check(value));
`;

/** Each distinct expression under one name. */
class Parts {
  readonly #names = new Map<string, string>();
  readonly #definitions = new Map<string, string>();
  readonly #lines: string[] = [];

  nameOf(schema: Schema): string {
    for (const [name, definition] of Object.entries(schema.$defs ?? {})) this.#define(name, definition);
    if (schema.$ref !== undefined) return `ref_${schema.$ref}`;
    const expression = this.#expression(schema);
    const known = this.#names.get(expression);
    if (known) return known;
    const name = `part_${this.#names.size}`;
    this.#names.set(expression, name);
    this.#lines.push(`const ${name} = ${expression};`);
    return name;
  }

  text(): string {
    return this.#lines.join('\n');
  }

  // By a function that looks its check up when called: a definition may mention itself.
  #define(name: string, definition: Schema): void {
    const text = JSON.stringify(definition);
    const known = this.#definitions.get(name);
    if (known !== undefined) {
      if (known !== text) throw new Error(`Two definitions are called ${name}; scripts/page/checks.ts knows them by name only`);
      return;
    }
    this.#definitions.set(name, text);
    this.#lines.push(`const ref_${name} = (value) => def_${name}(value);`);
    const own = this.nameOf(definition);
    this.#lines.push(`const def_${name} = ${own};`);
  }

  #expression(schema: Schema): string {
    known(schema);
    if (schema.const !== undefined) return `is(${JSON.stringify(schema.const)})`;
    if (schema.enum) return `among(${schema.enum.map((value) => JSON.stringify(value)).join(', ')})`;
    if (schema.anyOf) return `either(${schema.anyOf.map((branch) => this.nameOf(branch)).join(', ')})`;
    switch (schema.type) {
      case 'null':
        return 'nothing';
      case 'boolean':
        return 'bool';
      case 'string':
        return call(
          'text',
          schema.minLength,
          schema.maxLength,
          schema.pattern === undefined ? undefined : new RegExp(String(schema.pattern), 'u'),
        );
      case 'number':
      case 'integer':
        return call(schema.type, schema.minimum, schema.maximum);
      case 'array':
        return call('list', { raw: this.nameOf(schema.items!) }, schema.minItems, schema.maxItems, schema.uniqueItems);
      case 'object':
        return this.#object(schema);
      default:
        throw new Error(`scripts/page/checks.ts does not know this schema: ${JSON.stringify(schema).slice(0, 200)}`);
    }
  }

  #object({ properties, patternProperties, required = [] }: Schema): string {
    if (patternProperties) {
      const [only, ...others] = Object.entries(patternProperties);
      if (!only || others.length > 0 || properties) throw new Error('scripts/page/checks.ts knows records of one kind of key only');
      const [names, item] = only;
      // A key of another kind is what a newer gateway adds.
      return call('record', { raw: this.nameOf(item) }, names === '^.*$' ? undefined : new RegExp(names, 'u'));
    }
    const fields = Object.entries(properties ?? {});
    const part = (kept: typeof fields) => `{${kept.map(([name, schema]) => `${JSON.stringify(name)}: ${this.nameOf(schema)}`).join(', ')}}`;
    const optional = fields.filter(([name]) => !required.includes(name));
    const needed = fields.filter(([name]) => required.includes(name));
    return optional.length === 0 ? `object(${part(needed)})` : `object(${part(needed)}, ${part(optional)})`;
  }
}

function call(name: string, ...args: unknown[]): string {
  while (args.length > 0 && args.at(-1) === undefined) args.pop();
  const written = args.map((value) =>
    isRaw(value) ? value.raw : value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? 'undefined'),
  );
  return `${name}(${written.join(', ')})`;
}

function isRaw(value: unknown): value is { readonly raw: string } {
  return typeof value === 'object' && value !== null && 'raw' in value;
}

const KEYWORDS = new Set(
  'type const enum anyOf items properties required patternProperties minLength maxLength pattern minimum maximum minItems maxItems uniqueItems description additionalProperties $id $defs'.split(
    ' ',
  ),
);

function known(schema: Schema): void {
  const strange = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (strange !== undefined) throw new Error(`scripts/page/checks.ts does not know the keyword "${strange}"`);
  if (schema.additionalProperties === false) throw new Error('A schema for reading is open');
}
