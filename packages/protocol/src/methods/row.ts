// What a row of the method table says, and the two ways to write one.
import { Type, type TObject, type TOptional, type TProperties, type TSchema } from 'typebox';
import { IdempotencyKey } from '../names.ts';
import type { Scope } from '../scopes.ts';

export interface MethodSpec {
  readonly summary: string;
  /** `any`: every authenticated client. */
  readonly scope: Scope | 'any';
  /** safe: repeat freely. keyed: a repeat with the same idempotency key gets the first answer back. */
  readonly repeat: 'safe' | 'keyed';
  /**
   * What a credential that is bound to one session may do here: `param` names the parameter that must be its session,
   * `filtered` means that the handler shows only its session. Without a word, it is refused (unless the scope is `any`).
   */
  readonly bound?: { readonly param: string } | 'filtered';
  readonly params: TObject;
  readonly result: TSchema;
}

interface Row<Properties extends TProperties, Result extends TSchema> extends Omit<MethodSpec, 'repeat' | 'params' | 'result'> {
  readonly params: Properties;
  readonly result: Result;
}

const closed = { additionalProperties: false };

/** A method that changes nothing that lasts. */
export function read<Properties extends TProperties, Result extends TSchema>(row: Row<Properties, Result>) {
  return { ...row, repeat: 'safe' as const, params: Type.Object(row.params, closed) };
}

/** A method that starts a run: the idempotency key is required, because it is the id of the run. */
export function start<Properties extends TProperties, Result extends TSchema>(row: Row<Properties, Result>) {
  const params: Properties & { idempotencyKey: typeof IdempotencyKey } = { ...row.params, idempotencyKey: IdempotencyKey };
  return { ...row, repeat: 'keyed' as const, params: Type.Object(params, closed) };
}

/** A method with a side effect: its params also take an `idempotencyKey`. */
export function write<Properties extends TProperties, Result extends TSchema>(row: Row<Properties, Result>) {
  const params: Properties & { idempotencyKey: TOptional<typeof IdempotencyKey> } = {
    ...row.params,
    idempotencyKey: Type.Optional(IdempotencyKey),
  };
  return { ...row, repeat: 'keyed' as const, params: Type.Object(params, closed) };
}
