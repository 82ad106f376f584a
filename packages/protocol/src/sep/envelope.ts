// The frames of the extension protocol: JSON-RPC 2.0, one object per line. The schemas say what is written; `readFrame` takes
// what is read, which may be more careless: other implementations leave the version out, or add fields.
import { Type, type Static } from 'typebox';
import { closed, AnyObject, Anything, Id, Text } from './shapes.ts';
import { JSONRPC_VERSION } from './wire.ts';

const jsonrpc = Type.Literal(JSONRPC_VERSION);
const method = Type.String({ description: 'such as tool/execute' });
const params = Type.Optional(AnyObject);

export const Request = Type.Object({ jsonrpc, id: Id, method, params }, closed);
export const Notification = Type.Object({ jsonrpc, method, params }, closed);
export const Success = Type.Object({ jsonrpc, id: Id, result: Anything }, closed);
export const FrameError = Type.Object({ code: Type.Integer(), message: Text, data: Type.Optional(Anything) }, closed);
/** The id is null only where that of the offending frame could not be read. */
export const Failure = Type.Object({ jsonrpc, id: Type.Union([Id, Type.Null()]), error: FrameError }, closed);
export const Frame = Type.Union([Request, Notification, Success, Failure]);
export type Frame = Static<typeof Frame>;

export type ReadFrame =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly kind: 'success'; readonly id: Id; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: Id | null; readonly error: { code: number; message: string; data?: unknown } }
  /** With the id of a request that should be told so. */
  | { readonly kind: 'invalid'; readonly reason: string; readonly id?: Id };

/**
 * What a line is, after it was parsed. A frame with a method is one of the sender's own, whatever its id is; ids of both sides
 * overlap. Contract: does not throw, whatever the value.
 */
export function readFrame(value: unknown): ReadFrame {
  if (!isObject(value)) return { kind: 'invalid', reason: `a frame must be an object, not ${nameOf(value)}` };
  const { id, jsonrpc: version, method: name, params: given, result, error } = value;
  const asking = isId(id) && typeof name === 'string' ? { id } : {};
  if (version !== undefined && version !== JSONRPC_VERSION) return { kind: 'invalid', reason: 'jsonrpc must be "2.0"', ...asking };
  if (id !== undefined && id !== null && !isId(id)) return { kind: 'invalid', reason: 'id must be a whole number or text' };
  if (name !== undefined) {
    if (typeof name !== 'string') return { kind: 'invalid', reason: 'method must be text', ...(isId(id) ? { id } : {}) };
    if (given !== undefined && given !== null && !isObject(given))
      return { kind: 'invalid', reason: 'params must be an object', ...asking };
    const fields = { method: name, params: isObject(given) ? given : {} };
    // A null id asks for no answer: there is none that could be told apart.
    return isId(id) ? { kind: 'request', id, ...fields } : { kind: 'notification', ...fields };
  }
  if (error !== undefined && error !== null) {
    if (Object.hasOwn(value, 'result') && result !== null) return { kind: 'invalid', reason: 'a frame has a result or an error, not both' };
    if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== 'string')
      return { kind: 'invalid', reason: 'error must have a whole code and a message' };
    const { code, message, data } = error as { code: number; message: string; data?: unknown };
    return { kind: 'failure', id: isId(id) ? id : null, error: { code, message, ...(data === undefined ? {} : { data }) } };
  }
  if (!isId(id)) return { kind: 'invalid', reason: 'a frame needs a method, or an id and a result or an error' };
  if (!Object.hasOwn(value, 'result')) return { kind: 'invalid', reason: 'an answer needs a result or an error' };
  // Nothing to say is said as nothing.
  return { kind: 'success', id, result: result ?? {} };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isInteger(value);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
