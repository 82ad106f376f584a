// The seams of plugins say `sessionKey`, the wire of extensions says `session_key`: their schemas, types and values are turned
// into each other here, so that neither is written twice. Only names that a schema knows are turned; data stays as it is.
import { Type, type Static, type TSchema, type TUnsafe } from 'typebox';
import type { JsonValue } from '../json.ts';
import { matches } from '../validate.ts';

export type SnakeName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${SnakeName<Rest>}`
    : `_${Lowercase<First>}${SnakeName<Rest>}`
  : Name;

export type Snake<Value> = unknown extends Value
  ? Value
  : JsonValue extends Value
    ? Value
    : Value extends readonly (infer Item)[]
      ? Snake<Item>[]
      : Value extends object
        ? { [Name in keyof Value as Name extends string ? (string extends Name ? Name : SnakeName<Name>) : Name]: Snake<Value[Name]> }
        : Value;

export function snakeName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** As much of a schema as is looked at here. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

const made = new WeakMap<object, object>();

/** The same schema with the names of the wire. */
export function snake<Schema extends TSchema>(schema: Schema): TUnsafe<Snake<Static<Schema>>> {
  return Type.Unsafe<Snake<Static<Schema>>>(snakeShape(schema) as TSchema);
}

function snakeShape(schema: object): object {
  const known = made.get(schema);
  if (known) return known;
  const form = Object.create(Object.getPrototypeOf(schema), Object.getOwnPropertyDescriptors(schema)) as Record<string, unknown>;
  made.set(schema, form);
  const { properties, items, anyOf } = schema as Shape;
  if (properties) {
    form.properties = Object.fromEntries(Object.entries(properties).map(([name, each]) => [snakeName(name), snakeShape(each)]));
    if (Array.isArray(form.required)) form.required = form.required.map((name) => snakeName(String(name)));
  }
  if (items) form.items = snakeShape(items);
  if (anyOf) form.anyOf = anyOf.map(snakeShape);
  return form;
}

/** A value that fits `snake(schema)`, with the names of the schema itself. */
export function fromSnake<Schema extends TSchema>(schema: Schema, value: Snake<Static<Schema>>): Static<Schema> {
  return turn(schema, value, (name) => [snakeName(name), name], snakeShape) as Static<Schema>;
}

/** A value that fits the schema, with the names of the wire. */
export function toSnake<Schema extends TSchema>(schema: Schema, value: Static<Schema>): Snake<Static<Schema>> {
  return turn(
    schema,
    value,
    (name) => [name, snakeName(name)],
    (branch) => branch,
  ) as Snake<Static<Schema>>;
}

type Names = (name: string) => readonly [from: string, to: string];

function turn(schema: Shape, value: unknown, names: Names, asGiven: (branch: object) => object): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (schema.anyOf) {
    const branch = schema.anyOf.find((each) => matches(asGiven(each) as TSchema, value));
    return branch === undefined ? value : turn(branch, value, names, asGiven);
  }
  if (schema.items && Array.isArray(value)) return value.map((item) => turn(schema.items!, item, names, asGiven));
  if (!schema.properties) return value;
  const given = value as Readonly<Record<string, unknown>>;
  const turned: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(schema.properties)) {
    const [from, to] = names(name);
    if (Object.hasOwn(given, from)) turned[to] = turn(each, given[from], names, asGiven);
  }
  return turned;
}
