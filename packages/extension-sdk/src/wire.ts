// What of the protocol's tables an extension needs while it runs, in the form in which code reads it. Nothing else of
// `@tenon/protocol` is loaded: schemas are for tests.
import {
  PROTOCOL_VERSION as version,
  errors,
  eventNames,
  limits,
  methodNames,
  type SepErrorName,
  type SepEventName,
  type SepMethodName,
} from '@tenon/protocol/sep/wire';

/** The highest version of SEP that is spoken here. */
export const PROTOCOL_VERSION: number = version;

/** `tool/execute` → `toolExecute`, `$/cancel` → `cancel`. */
export type Camel<Name extends string> = Name extends `$/${infer Rest}`
  ? Camel<Rest>
  : Name extends `${infer Head}/${infer Rest}`
    ? `${Camel<Head>}${Capitalize<Camel<Rest>>}`
    : Name extends `${infer Head}_${infer Rest}`
      ? `${Head}${Capitalize<Camel<Rest>>}`
      : Name;

/** Codes of errors, by name. */
export const errorCode = Object.fromEntries(Object.entries(errors).map(([name, { code }]) => [name, code])) as {
  readonly [Name in SepErrorName]: number;
};

/** Methods as they are called on the wire, by their names in code. */
export const method: { readonly [Name in SepMethodName as Camel<Name>]: Name } = byCamel(methodNames);

/** Events as they are called on the wire, by their names in code. */
export const eventName: { readonly [Name in SepEventName as Camel<Name>]: Name } = byCamel(eventNames);

/** Bounds of a connection as an extension sees it: it may read more in one line than it may write. */
export const bounds = {
  readBytes: limits.hostLineBytes.value,
  writeBytes: limits.lineBytes.value,
  inFlight: limits.toHostInFlight.value,
} as const;

function byCamel<Name extends string>(names: readonly Name[]): { readonly [Key in Name as Camel<Key>]: Key } {
  const camel = (name: string) => name.replace('$/', '').replaceAll(/[/_]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(names.map((name) => [camel(name), name])) as { readonly [Key in Name as Camel<Key>]: Key };
}
