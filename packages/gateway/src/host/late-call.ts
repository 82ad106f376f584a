// The rules for calls that a plugin makes after `register`: whether it may, what a refusal looks like, and what is checked of
// the input. Every such call has its row in the table of the protocol.
import { explain, GatewayError, type GrantedCall, lateCalls, matches } from '@tenon/protocol';
import type { Refused } from '@tenon/plugin-sdk';
import type { Static, TSchema } from 'typebox';
import { missingGrant } from './missing-grant.ts';
import type { PluginLoad } from './plugin-load.ts';
import { copyPlain } from './plain-data.ts';

export function refuse(reason: Refused['reason'], message: string): Refused {
  return Object.freeze({ ok: false, reason, message });
}

/** Why the plugin may not make this call now; undefined when it may. */
export function barrier(load: PluginLoad, call?: GrantedCall): Refused | undefined {
  const { plugin, asked } = load.facts;
  if (!load.isLive) return refuse('not-loaded', `this load of plugin ${plugin} has ended`);
  if (call === undefined) return undefined;
  const { grant } = lateCalls[call];
  return load.holds(grant) ? undefined : refuse('not-granted', missingGrant(plugin, grant, asked));
}

export type Taken<Schema extends TSchema> = { readonly value: Static<Schema> } | { readonly refused: Refused };

/** A copy of what the plugin gave, if it fits. Contract: does not throw, whatever it is. */
export function take<Schema extends TSchema>(schema: Schema, given: unknown, name: string): Taken<Schema> {
  try {
    const copied = copyPlain(given);
    if ('wrong' in copied) return { refused: refuse('invalid', `${name} is not plain data: ${copied.wrong}`) };
    if (matches(schema, copied.value)) return { value: copied.value };
    return { refused: refuse('invalid', explain(schema, copied.value, name) ?? `${name} does not fit`) };
  } catch {
    return { refused: refuse('invalid', `${name} cannot be read`) };
  }
}

/** What the store said no to, in the words of the api. What is not known is our own fault or the disk's. */
export function refusalOf(error: unknown): Refused {
  if (!(error instanceof GatewayError)) return refuse('unavailable', 'the store failed');
  if (error.code === 'NOT_FOUND') return refuse('no-session', error.message);
  if (error.code === 'CONFLICT') return refuse('conflict', error.message);
  if (error.code === 'TOO_LARGE') return refuse('limit', error.message);
  if (error.code === 'INVALID_REQUEST') return refuse('invalid', error.message);
  return refuse('unavailable', error.message);
}
