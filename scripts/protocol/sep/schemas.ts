// The schemas of the extension protocol as two documents of JSON Schema (draft 2020-12): what a writer keeps to, and what a reader
// insists on. Both have the same names under `$defs`.
import {
  ExtensionManifest,
  eventPayloads,
  Frame,
  furtherEventPayloads,
  furtherHookShapes,
  hookShapes,
  readSchema,
  Registrations,
  RenderBlock,
  wire,
  writeSchema,
} from '@tenon/protocol/sep';
import { reading } from '@tenon/protocol';
import type { TSchema } from 'typebox';
import { typeName } from '../tables.ts';

export type Json = { readonly [key: string]: unknown };

export interface SepDocument extends Json {
  readonly $defs: Readonly<Record<string, Json>>;
}

export const defName = (method: string, part: 'params' | 'result') => `${typeName(method)}${part === 'params' ? 'Params' : 'Result'}`;
export const eventDef = (event: string) => `${typeName(event)}Payload`;
export const hookDef = (hook: string, part: 'input' | 'patch') => `${typeName(hook)}Hook${part === 'input' ? 'Input' : 'Patch'}`;

export function createSepDocument(kind: 'write' | 'read'): SepDocument {
  const $defs: Record<string, Json> = {};
  const add = (name: string, schema: TSchema | undefined, description?: string) => {
    if (schema === undefined) return;
    const { $defs: inner = {}, ...body } = asJson(schema) as { $defs?: Record<string, Json> } & Json;
    for (const [innerName, each] of Object.entries(inner)) $defs[innerName] = withoutId(hoist(each, $defs));
    if (name in inner) return;
    $defs[name] = { ...(description === undefined ? {} : { description }), ...hoist(body, $defs) };
  };
  const open = (schema: TSchema) => (kind === 'read' ? reading(schema) : schema);
  add('Frame', open(Frame), 'One line.');
  add('RenderBlock', open(RenderBlock));
  add('Registrations', open(Registrations), 'What an extension registers.');
  add('Manifest', open(ExtensionManifest), 'extension.toml as an object.');
  const schemaOf = kind === 'read' ? readSchema : writeSchema;
  for (const method of wire.methodNames) {
    add(defName(method, 'params'), schemaOf(method, 'params'), `Params of ${method}. ${wire.methodRow(method).summary}`);
    add(defName(method, 'result'), schemaOf(method, 'result'), `Result of ${method}.`);
  }
  for (const event of wire.eventNames) add(eventDef(event), eventPayloads[event], `Payload of the event ${event}.`);
  for (const hook of wire.hookNames) {
    add(hookDef(hook, 'input'), hookShapes[hook].input, `Input of the hook ${hook}.`);
    add(hookDef(hook, 'patch'), hookShapes[hook].patch, `What a patch of the hook ${hook} may change.`);
  }
  for (const event of wire.furtherEventNames) add(eventDef(event), open(furtherEventPayloads[event]), `Payload of the event ${event}.`);
  for (const hook of wire.furtherHookNames) {
    add(hookDef(hook, 'input'), open(furtherHookShapes[hook].input), `Input of the hook ${hook}.`);
    add(hookDef(hook, 'patch'), open(furtherHookShapes[hook].patch), `What a patch of the hook ${hook} may say.`);
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `tenon:sep:${wire.PROTOCOL_VERSION}:${kind}`,
    title: kind === 'write' ? 'SEP, as it is written' : 'SEP, as it is read',
    description:
      kind === 'write'
        ? 'Whoever writes keeps to these. Generated from packages/protocol; do not edit.'
        : 'Whoever reads insists on no more than these, after other spellings were turned. Generated from packages/protocol; do not edit.',
    $ref: '#/$defs/Frame',
    $defs,
  };
}

/** Definitions inside move to the top, and references follow them. */
function hoist(value: Json, defs: Record<string, Json>): Json {
  return walk(value, defs) as Json;
}

function walk(value: unknown, defs: Record<string, Json>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => walk(each, defs));
  const { $defs: inner, $ref, ...rest } = value as { $defs?: Record<string, Json>; $ref?: string } & Json;
  for (const [name, each] of Object.entries(inner ?? {})) defs[name] ??= withoutId(walk(each, defs) as Json);
  return {
    ...($ref === undefined ? {} : { $ref: $ref.startsWith('#') ? $ref : `#/$defs/${$ref}` }),
    ...Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, walk(each, defs)])),
  };
}

function withoutId({ $id: _, ...schema }: Json): Json {
  return schema;
}

function asJson(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
