// The tables as JSON Schema (draft-07). One document describes any frame; its `definitions` hold everything that has a name
// on the wire. Another holds the events and results of hooks. The Swift models and the reference docs are made from these
// documents, so they cannot disagree.
import { contributionName, eventName, paramsName, resultName, type ProtocolTables, type Schema } from './tables.ts';

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly discriminator?: { readonly propertyName: string };
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly $defs?: Readonly<Record<string, JsonSchema & { $id?: string }>>;
}

export type Definitions = Readonly<Record<string, JsonSchema>>;

export interface ProtocolDocument extends JsonSchema {
  readonly $schema: string;
  readonly definitions: Definitions;
}

const PREFIX = '#/definitions/';

/** The definition that a `$ref` names, or undefined where there is none. */
export function refName(schema: JsonSchema): string | undefined {
  return schema.$ref?.startsWith(PREFIX) ? schema.$ref.slice(PREFIX.length) : undefined;
}

export function createDocument(tables: ProtocolTables): ProtocolDocument {
  const definitions = createDefinitions(tables);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'GatewayFrame',
    description: `Any frame of the Tenon gateway protocol, version ${tables.version}. Generated from packages/protocol; do not edit.`,
    ...definitions.GatewayFrame,
    definitions,
  };
}

export function renderJsonSchema(tables: ProtocolTables): string {
  return `${JSON.stringify(createDocument(tables), undefined, 2)}\n`;
}

/** What plugins are told and answer: an event for each hook, and a result for each that is asked. */
export function createHookDocument(tables: ProtocolTables): ProtocolDocument {
  const { definitions, define, convertBody } = defineTypes(tables);
  const own: string[] = [];
  for (const [hook, row] of Object.entries(tables.hooks)) {
    define(eventName(hook), { description: `Event of the hook ${hook}. ${row.summary}`, ...convertBody(row.event) });
    own.push(eventName(hook));
    if (row.kind === 'observe') continue;
    define(resultName(hook), { description: `What a handler of ${hook} may answer.`, ...convertBody(row.result) });
    own.push(resultName(hook));
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Hooks',
    description: 'Events and results of the hooks of the Tenon gateway. Generated from packages/protocol; do not edit.',
    definitions: reachable(definitions, own),
  };
}

/** What plugins register: the data of each kind. */
export function createContributionDocument(tables: ProtocolTables): ProtocolDocument {
  const { definitions, define, convertBody } = defineTypes(tables);
  for (const [kind, { summary, schema }] of Object.entries(tables.contributions)) {
    define(contributionName(kind), { description: summary, ...convertBody(schema) });
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Contributions',
    description: 'What plugins of the Tenon gateway register. Generated from packages/protocol; do not edit.',
    definitions: reachable(definitions, Object.keys(tables.contributions).map(contributionName)),
  };
}

export function renderHookSchema(tables: ProtocolTables): string {
  return `${JSON.stringify(createHookDocument(tables), undefined, 2)}\n`;
}

function createDefinitions(tables: ProtocolTables): Definitions {
  const { definitions, define, convert, convertBody } = defineTypes(tables);
  for (const [method, row] of Object.entries(tables.methods)) {
    define(paramsName(method), { description: `Params of ${method}. ${row.summary}`, ...convertBody(row.params) });
    define(resultName(method), convert(asJson(row.result)));
  }
  for (const [event, row] of Object.entries(tables.events)) define(eventName(event), convert(asJson(row.payload)));
  return definitions;
}

/** The shared types, and what it takes to define more that refer to them. */
function defineTypes(tables: ProtocolTables) {
  const shared = new Map<string, string>();
  for (const [name, schema] of Object.entries(tables.types)) {
    const text = JSON.stringify(schema);
    if (!shared.has(text)) shared.set(text, name);
  }
  const definitions: Record<string, JsonSchema> = {};
  const define = (name: string, schema: JsonSchema) => {
    if (Object.hasOwn(definitions, name)) throw new Error(`Two definitions are called "${name}"`);
    definitions[name] = schema;
  };
  // By spelling, not by object: TypeBox copies a schema when it is made optional.
  const convert = (schema: JsonSchema): JsonSchema => {
    const name = shared.get(JSON.stringify(schema));
    return name === undefined ? convertInside(schema, convert) : { $ref: PREFIX + name };
  };
  const convertBody = (schema: Schema): JsonSchema => convertInside(asJson(schema), convert);
  for (const [name, type] of Object.entries(tables.types)) {
    const schema = asJson(type);
    if (schema.$defs === undefined) define(name, convertInside(schema, convert));
    else for (const [inner, { $id: _, ...body }] of Object.entries(schema.$defs)) define(inner, convertInside(body, convert));
  }
  return { definitions, define, convert, convertBody };
}

/** The named definitions and what they refer to, in the order in which they were made. */
function reachable(definitions: Definitions, from: readonly string[]): Definitions {
  const wanted = new Set(from);
  for (const name of wanted) {
    for (const [, target] of JSON.stringify(definitions[name]).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)) wanted.add(target!);
  }
  return Object.fromEntries(Object.entries(definitions).filter(([name]) => wanted.has(name)));
}

function convertInside(schema: JsonSchema, convert: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { $ref, anyOf, items, properties, patternProperties, enum: values, ...rest } = schema;
  return {
    ...(values?.every((value) => typeof value === 'string') ? { type: 'string' } : {}),
    ...rest,
    ...($ref === undefined ? {} : { $ref: PREFIX + $ref }),
    ...(values === undefined ? {} : { enum: values }),
    ...(anyOf === undefined ? {} : convertUnion(anyOf, convert)),
    ...(items === undefined ? {} : { items: convert(items) }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, convert) }),
    ...(patternProperties === undefined ? {} : { patternProperties: mapValues(patternProperties, convert) }),
  };
}

// A union of objects that a constant field tells apart says so, for generators that can use it.
function convertUnion(branches: readonly JsonSchema[], convert: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const propertyName = discriminatorOf(branches);
  if (propertyName === undefined) return { anyOf: branches.map(convert) };
  return { type: 'object', discriminator: { propertyName }, oneOf: branches.map(convert) };
}

function discriminatorOf(branches: readonly JsonSchema[]): string | undefined {
  const candidates = Object.keys(branches[0]?.properties ?? {});
  return candidates.find((name) => {
    const constants = branches.map((branch) => branch.properties?.[name]?.const);
    return constants.every((constant) => typeof constant === 'string') && new Set(constants).size === branches.length;
  });
}

function asJson(schema: Schema): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
