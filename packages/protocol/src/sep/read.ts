// One definition of each shape, two ways to hold a value against it: as it is written, every field known; and as it is read,
// where unknown fields are let pass, the spellings of others are taken, and what other implementations leave out may be missing.
import { Type, type Static, type TSchema } from 'typebox';
import { explain, reading } from '../validate.ts';
import { shapesOf, type SepParams, type SepRequestName, type SepResult } from './methods.ts';
import { AnyRegistrations } from './registrations.ts';
import { readBlock } from './render.ts';
import { Anything, Text } from './shapes.ts';
import { fieldAliases, methodOf, type SepMethodName } from './wire.ts';

type Part = 'params' | 'result';
type Fields = Readonly<Record<string, unknown>>;

/** What a reader takes where it is more than the written form with further fields. */
const lenient = {
  initialize: {
    // Hosts that exist look at the number and at the name, and at nothing else.
    result: Type.Object({
      protocol_version: Type.Integer({ minimum: 1 }),
      extension: Type.Object({ name: Text, version: Type.Optional(Text) }),
      registrations: Type.Optional(AnyRegistrations),
    }),
  },
  'registry/update': { params: AnyRegistrations },
  // The SDK of others leaves it out, or sends what is not an object.
  'bus/publish': { params: Type.Object({ topic: Text, payload: Type.Optional(Anything) }) },
} satisfies { readonly [Method in SepMethodName]?: Partial<Record<Part, TSchema>> };

type Lenient = typeof lenient;
type LenientPart<Method, Which extends Part> = Method extends keyof Lenient
  ? Lenient[Method] extends { readonly [Name in Which]: infer Shape extends TSchema }
    ? Shape
    : undefined
  : undefined;

/** What is read is what was written, except where less is insisted on. Registrations are still to be gone through one by one. */
export type ReadParams<Method extends SepMethodName> =
  LenientPart<Method, 'params'> extends TSchema ? Static<LenientPart<Method, 'params'>> : SepParams<Method>;
export type ReadResult<Method extends SepRequestName> =
  LenientPart<Method, 'result'> extends TSchema ? Static<LenientPart<Method, 'result'>> : SepResult<Method>;

/** The schema that a writer keeps to; undefined where nothing is answered. */
export function writeSchema(method: SepMethodName, part: Part): TSchema | undefined {
  return shapesOf(method)[part];
}

/** The schema that a reader insists on, after other spellings were turned; undefined where nothing is answered. */
export function readSchema(method: SepMethodName, part: Part): TSchema | undefined {
  const written = writeSchema(method, part);
  const rows: { readonly [Method in SepMethodName]?: Partial<Record<Part, TSchema>> } = lenient;
  return written && (rows[method]?.[part] ?? reading(written));
}

/** What is wrong with something that is about to be written, in one line; undefined when nothing is. */
export function writeFault(method: SepMethodName, part: Part, value: unknown): string | undefined {
  const schema = writeSchema(method, part);
  return schema === undefined ? `${method} has no ${part}` : explain(schema, value, part);
}

export type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string };

/** The params of a frame, by the method or another spelling of it. Fields that are not known stay in it. */
export function readParams<Method extends SepMethodName>(
  method: Method,
  given: unknown,
  spelling: string = method,
): Read<ReadParams<Method>> {
  return read(method, 'params', fromSpelling(spelling, given ?? {})) as Read<ReadParams<Method>>;
}

/** The result of a frame. An empty one is `{}`. */
export function readResult<Method extends SepRequestName>(method: Method, given: unknown): Read<ReadResult<Method>> {
  return read(method, 'result', given ?? {}) as Read<ReadResult<Method>>;
}

function read(method: SepMethodName, part: Part, given: unknown): Read<unknown> {
  const schema = readSchema(method, part);
  if (schema === undefined) return { ok: false, message: `${method} has no ${part}` };
  const value = turned(method, given);
  const message = explain(schema, value, part);
  return message === undefined ? { ok: true, value } : { ok: false, message };
}

/** With the names of today. */
function turned(method: SepMethodName, given: unknown): unknown {
  if (!isFields(given)) return given;
  const aliases: Readonly<Record<string, string>> | undefined = (fieldAliases as Record<string, Record<string, string>>)[method];
  let value = given;
  for (const [other, name] of Object.entries(aliases ?? {})) {
    if (!Object.hasOwn(value, other)) continue;
    const { [other]: said, ...rest } = value;
    value = Object.hasOwn(rest, name) ? rest : { ...rest, [name]: said };
  }
  // Whoever says what went wrong and forgets to say that it did must not be taken for a success.
  if (method === 'action/execute' && typeof value.error === 'string' && value.ok === undefined) value = { ...value, ok: false };
  if (method === 'ui/request' && value.kind === 'set_widget') value = { ...value, widget: readBlock(value.widget) };
  return value;
}

/** `tools/register` says one tool, or some; `registry/update` says all kinds. */
function fromSpelling(spelling: string, given: unknown): unknown {
  if (spelling !== 'tools/register' || methodOf(spelling) === undefined || !isFields(given)) return given;
  if (Array.isArray(given.tools)) return given;
  return isFields(given.tool) ? { tools: [given.tool] } : { tools: [given] };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
