// A refusal of the store or of the layer above, as the wire says it: understood, allowed, and not done, with a reason that a program
// can read. What is no refusal is a fault of the gateway, and stays one.
import { GatewayError } from '@tenon/protocol';
import { errors, type refusalReasons } from '@tenon/protocol/sep/wire';
import { RpcError } from '../connection/rpc-error.ts';

type Reason = (typeof refusalReasons)[number];

export function refused(reason: Reason, message: string, more: object = {}): RpcError {
  return new RpcError(errors.Refused.code, message, { reason, ...more });
}

export async function refusedBy<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof GatewayError ? asRefusal(error) : error;
  }
}

function asRefusal({ code, message, details }: GatewayError): RpcError {
  if (code === 'INVALID_REQUEST') return new RpcError(errors.InvalidParams.code, message);
  const { limit, allowed, code: why } = (details ?? {}) as { readonly limit?: string; readonly allowed?: number; readonly code?: string };
  if (code === 'TOO_LARGE') return refused('limit', message, limit === undefined ? {} : { limit, allowed });
  if (why !== undefined && Object.hasOwn(counted, why)) return refused('limit', message, { limit: counted[why] });
  if (code === 'NOT_FOUND') return refused('no-session', message);
  return refused(code === 'CONFLICT' ? 'conflict' : 'unavailable', message);
}

/** What the store calls a conflict and is a limit, by its name. */
const counted: Readonly<Record<string, string>> = { PLUGIN_TURNS: 'pluginTurns', QUEUE_FULL: 'queuedRuns' };
