// How a scripted exchange is written: what a host sends, and what must come back. They are data, so that hosts and SDKs in any
// language can replay them.
import type { SepGroup } from '../wire.ts';

/**
 * What a frame must look like. Text, numbers and the like must be the same; an object must have at least these fields; a list must
 * have these items. An object with one of the keys below stands for something else.
 */
export type Pattern =
  | null
  | boolean
  | number
  | string
  | readonly Pattern[]
  /** Anything that is there. */
  | { readonly $any: true }
  /** Text that the regular expression finds something in. */
  | { readonly $match: string }
  /** Anything; the same name in a later frame stands for it, also in exchanges that follow with the same process. */
  | { readonly $bind: string }
  /** What was bound before. */
  | { readonly $ref: string }
  | { readonly [field: string]: Pattern };

export type Step =
  /** A frame to the extension. `{"$ref": name}` in it is what was bound before. */
  | { readonly send: { readonly [field: string]: unknown } }
  /** A line to the extension, as it is. */
  | { readonly line: string }
  /** A frame of the extension that has not been expected before; others that come in between may be expected by later steps. */
  | { readonly expect: { readonly [field: string]: Pattern } }
  /** The input of the extension ends. */
  | { readonly end: true }
  /** The process must be gone with this code, within the time of `shutdown`. */
  | { readonly exit: number };

export interface Exchange {
  readonly name: string;
  readonly summary: string;
  /** `any`: every extension must behave so. `reference`: the reference extensions do. */
  readonly of: 'any' | 'reference';
  /** A process of its own that has not been asked to initialize. Without it: one that has, whatever exchanges it had before. */
  readonly fresh?: true;
  /** Groups beyond SEP that `initialize` must have enabled. */
  readonly groups?: readonly SepGroup[];
  readonly steps: readonly Step[];
}

const v = { jsonrpc: '2.0' } as const;

export const request = (id: number | string, method: string, params: object = {}): Step => ({ send: { ...v, id, method, params } });
export const notice = (method: string, params: object = {}): Step => ({ send: { ...v, method, params } });
/** The answer to a request of the extension whose id was bound. */
export const answer = (name: string, result: object): Step => ({ send: { ...v, id: { $ref: name }, result } });
export const refusal = (name: string, code: number, message: string): Step => ({
  send: { ...v, id: { $ref: name }, error: { code, message } },
});
export const result = (id: number | string, expected: Pattern): Step => ({ expect: { ...v, id, result: expected } });
export const failure = (id: number | string, code: number, message: Pattern = { $any: true }): Step => ({
  expect: { ...v, id, error: { code, message } },
});
/** A request of the extension; its id is bound to the name. */
export const asked = (name: string, method: string, params: Pattern): Step => ({ expect: { ...v, id: { $bind: name }, method, params } });
export const told = (method: string, params: Pattern): Step => ({ expect: { ...v, method, params } });

/** Commands that it registers. Each extension has names of its own for them, so that several can be used side by side. */
export const commandsNamed = (...names: readonly string[]): Pattern =>
  names.map((name) => ({ name: { $bind: `command ${name}` }, description: { $any: true } }));
/** The command that was registered as this one. */
export const named = (name: string) => ({ $ref: `command ${name}` }) as const;

export const command = { token: 'c-1', tier: 'command' } as const;
export const event = { token: 'e-1', tier: 'event' } as const;

/** Nothing but a pong comes back: what was sent before was taken without a word. */
export const silence = (id: number | string): readonly Step[] => [request(id, 'ping'), result(id, {})];
