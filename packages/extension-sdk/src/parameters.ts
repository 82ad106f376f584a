// The parameters of a tool: zod 4, TypeBox or JSON Schema as the author likes. On the wire they are JSON Schema; arguments are
// parsed by zod itself where it is there, and held against the schema otherwise. No library of schemas is loaded here.
import { type JsonSchema, findFault } from './check-schema.ts';

/** What a zod 4 schema looks like, without zod. */
export interface ZodSchema<Output = unknown> {
  readonly _zod: { readonly output: Output };
  safeParseAsync(value: unknown): Promise<ZodResult<Output>>;
}

type ZodResult<Output> =
  | { readonly success: true; readonly data: Output }
  | {
      readonly success: false;
      readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] };
    };

/** A schema of zod 4, of TypeBox, or JSON Schema. */
export type ToolParameters = object;

/** The arguments that a tool is called with, from its parameters: zod's output, or what the literal schema says. */
export type ArgumentsOf<Schema> = Schema extends { readonly _zod: { readonly output: infer Output } } ? Output : ValueOf<Schema>;

type ValueOf<Schema> = Schema extends { readonly const: infer Only }
  ? Only
  : Schema extends { readonly enum: readonly (infer One)[] }
    ? One
    : Schema extends { readonly anyOf: readonly (infer One)[] }
      ? ValueOf<One>
      : Schema extends { readonly type: 'string' }
        ? string
        : Schema extends { readonly type: 'number' | 'integer' }
          ? number
          : Schema extends { readonly type: 'boolean' }
            ? boolean
            : Schema extends { readonly type: 'array'; readonly items: infer Item }
              ? ValueOf<Item>[]
              : Schema extends { readonly type: 'object'; readonly properties: infer Fields }
                ? ObjectOf<Fields, Schema extends { readonly required: readonly (infer Name)[] } ? Name : never>
                : Schema extends { readonly type: 'object' }
                  ? Record<string, unknown>
                  : unknown;

type ObjectOf<Fields, Required> = { [Name in keyof Fields as Name extends Required ? Name : never]: ValueOf<Fields[Name]> } & {
  [Name in keyof Fields as Name extends Required ? never : Name]?: ValueOf<Fields[Name]>;
};

/** JSON Schema of whatever the parameters are written in; plain data, so that it can be sent. */
export function toJsonSchema(parameters: ToolParameters): JsonSchema {
  const schema = isZod(parameters) ? zodSchema(parameters) : parameters;
  const plain = JSON.parse(JSON.stringify(schema)) as JsonSchema;
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
    throw new TypeError('The parameters of a tool are an object: zod, TypeBox or JSON Schema');
  const { $schema: _, ...rest } = plain;
  return rest;
}

export type ParsedArguments = { readonly kind: 'ok'; readonly value: unknown } | { readonly kind: 'refused'; readonly reason: string };

/** What a tool is given: with zod what it made of the arguments (defaults, transforms), otherwise the arguments themselves. */
export function parseArguments(parameters: ToolParameters, value: unknown): ParsedArguments | Promise<ParsedArguments> {
  if (isZod(parameters)) return parameters.safeParseAsync(value).then(parsedByZod);
  const fault = findFault(parameters, value);
  return fault === undefined ? { kind: 'ok', value } : { kind: 'refused', reason: fault };
}

function parsedByZod(result: ZodResult<unknown>): ParsedArguments {
  if (result.success) return { kind: 'ok', value: result.data };
  const reasons = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `/${path.map(String).join('/')}: ${message}`,
  );
  return { kind: 'refused', reason: reasons.join('; ') };
}

function isZod(value: unknown): value is ZodSchema {
  return (
    typeof value === 'object' && value !== null && '_zod' in value && typeof (value as Partial<ZodSchema>).safeParseAsync === 'function'
  );
}

// zod gives its schemas the method since 4.2, and the standard interface with it: so the author's own zod does it, whichever
// copy that is.
function zodSchema(schema: ZodSchema): unknown {
  const { toJSONSchema } = schema as { toJSONSchema?(options: { io: 'input' }): unknown };
  if (typeof toJSONSchema === 'function') return toJSONSchema.call(schema, { io: 'input' });
  throw new TypeError('This zod cannot say its JSON Schema: use zod 4.2 or later, or give z.toJSONSchema(schema) as the parameters');
}
