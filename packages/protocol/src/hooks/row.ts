// What a row of the hook table says, and the three ways to write one. A hook is a place where plugins take part in what
// the gateway does: they look (observe), change or stop it (modify), or do it themselves (claim).
import { Type, type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { OwnerId, RandomId, SessionKey } from '../names.ts';
import { RunId, runTriggers } from '../transcript.ts';
import type { AnyMerge, Merge } from './merge.ts';

/** How a handler may end a hook: nothing after it is asked. */
export type HookEnd = 'refused' | 'claimed';

export interface HookSpec {
  readonly summary: string;
  /** observe: all are told. modify: one after another, each sees what the last one made. claim: the first that handles it. */
  readonly kind: 'observe' | 'modify' | 'claim';
  readonly event: TObject;
  readonly result: TSchema;
  /** How a result changes the event; only for modify. */
  readonly merge?: AnyMerge;
  readonly ends: readonly HookEnd[];
  /** What a handler that throws, hangs or answers nonsense means. open: as if it were not there. closed: refused. */
  readonly onFailure: 'open' | 'closed';
  /** The operator and the plugin may say otherwise, within HOOK_TIMEOUT_RANGE. */
  readonly timeoutMs: number;
  /** Observers that are awaited, one after another, and never dropped. */
  readonly awaited?: true;
  /** Extensions take part under this name of SEP. */
  readonly sep?: string;
  /** Events of SEP that are made from this one. */
  readonly sepEvents?: readonly string[];
}

/** Bounds of a timeout that an operator or a plugin sets, in milliseconds. */
export const HOOK_TIMEOUT_RANGE = { min: 1, max: 600_000 } as const;

/** Bounds of a handler's priority; a higher one is asked earlier. */
export const HOOK_PRIORITY_RANGE = { min: -1000, max: 1000 } as const;

/** Which answer of the model in this turn it is about, from 1. */
export const step = Type.Optional(Type.Integer({ minimum: 1 }));

export const closed = { additionalProperties: false };

/** Where and for whom it happens, as far as that is known at the place of the hook. */
export const hookContext = {
  runId: Type.Optional(RunId),
  sessionKey: Type.Optional(SessionKey),
  sessionId: Type.Optional(RandomId),
  agentId: Type.Optional(OwnerId),
  /** The real path of the agent's workspace. */
  workspaceDir: Type.Optional(Type.String()),
  modelProviderId: Type.Optional(Type.String()),
  modelId: Type.Optional(Type.String()),
  /** What began the run. */
  trigger: Type.Optional(Type.Enum([...runTriggers])),
};

/** The event of a hook: its own fields and those of the context. */
export function hookEvent<Properties extends TProperties>(properties: Properties) {
  return Type.Object({ ...hookContext, ...properties }, closed);
}

interface Common {
  readonly summary: string;
  readonly timeoutMs: number;
  readonly sep?: string;
}

export function observe<Event extends TObject>(row: Common & { event: Event; awaited?: true; sepEvents?: readonly string[] }) {
  return { ...row, kind: 'observe' as const, result: Type.Undefined(), ends: [] as const, onFailure: 'open' as const };
}

export function modify<Event extends TObject, Result extends TSchema, const Ends extends readonly HookEnd[] = readonly []>(
  row: Common & {
    event: Event;
    result: Result;
    merge: Merge<Static<Event>, Static<Result>>;
    onFailure: 'open' | 'closed';
    ends?: Ends;
    sepEvents?: readonly string[];
  },
) {
  return { ...row, kind: 'modify' as const, ends: (row.ends ?? []) as Ends };
}

/** A failure of one handler asks the next. */
export function claim<Event extends TObject, Result extends TSchema>(row: Common & { event: Event; result: Result }) {
  return { ...row, kind: 'claim' as const, ends: ['claimed'] as const, onFailure: 'open' as const };
}
