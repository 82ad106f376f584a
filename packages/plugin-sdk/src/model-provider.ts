// Models that a plugin serves. What a turn needs of them is one answer at a time, in pieces while it comes or whole at the end.
import type { Contribution, JsonObject, Message, ModelFailureKind, ThinkingLevel } from '@tenon/protocol';
import type { CallContext } from './values.ts';

/** One call of a model. */
export interface ModelProviderRequest {
  /** Without the name of the provider. */
  readonly model: string;
  readonly system: string;
  /** Every call of a tool is followed by its result. What comes from elsewhere is marked as that. */
  readonly messages: readonly Message[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: object }[];
  readonly thinking: ThinkingLevel;
  readonly maxOutputTokens?: number;
}

/** A piece of an answer. `index` tells calls apart that are written at the same time. */
export type ModelPiece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'call'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'arguments'; readonly index: number; readonly text: string };

export interface ModelProviderCall extends CallContext {
  /** Of the turn that it is for; not where it is for none. */
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly runId?: string;
  /** Shown as it comes. After the answer, or once nobody waits for it, it is dropped and counted. */
  readonly piece: (piece: ModelPiece) => void;
}

/** What was given in pieces is not said again: what stands here as well is taken once. */
export interface ModelAnswer {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: JsonObject | string }[];
  /** `length`: it ran out of room. `content-filter`: the provider stopped it. `error`: it broke off. Without it, all is well. */
  readonly end?: 'stop' | 'length' | 'content-filter' | 'error';
  /** Tokens; `input` without what came from a cache. */
  readonly usage?: { readonly input?: number; readonly output?: number; readonly cacheRead?: number };
}

/** Decides whether it is asked again, and whether the next model is. */
export interface ModelFailed {
  readonly failed: { readonly kind: ModelFailureKind; readonly message: string; readonly retryAfterMs?: number };
}

/** What a sign-in gave. It is kept for the provider as it is, in a file that only the gateway reads. */
export interface ModelCredentials {
  readonly apiKey?: string;
  readonly accessToken?: string;
  /** What `renew` is given. */
  readonly refreshToken?: string;
  /** Milliseconds since 1970: `renew` is asked for new ones before. */
  readonly expiresAt?: number;
  readonly extra?: JsonObject;
}

export interface ModelProvider extends Contribution<'modelProvider'> {
  /** What it throws is `bad_output`. */
  readonly complete: (
    request: ModelProviderRequest,
    call: ModelProviderCall,
  ) => ModelAnswer | ModelFailed | Promise<ModelAnswer | ModelFailed>;
  /** The operator signs in. */
  readonly signIn?: (call: CallContext & { readonly sessionKey?: string }) => ModelCredentials | Promise<ModelCredentials>;
  /** Once for each load before its first answer, if somebody has signed in, and whenever what was given runs out. */
  readonly renew?: (refreshToken: string | undefined, call: CallContext) => ModelCredentials | Promise<ModelCredentials>;
}
