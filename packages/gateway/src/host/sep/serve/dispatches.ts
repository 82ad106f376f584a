// What an extension is asked right now, by the token that it was given for it. A token is random, belongs to one extension and one
// dispatch, and is worth nothing once that has been answered: what is left over of an extension cannot change a session with it.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SepTier } from '@tenon/protocol/sep/wire';
import { randomId } from '../../../kernel/ids.ts';

/** Where and for what an extension is asked; what is not known is not about a session. */
export interface DispatchPlace {
  readonly sessionKey?: string | undefined;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  /** The call of its tool that it is to make. */
  readonly callId?: string | undefined;
  /** The call of whichever tool that a hook is about. */
  readonly toolCallId?: string | undefined;
  /** A person has asked the extension for it, by a command or a button. */
  readonly asked?: boolean | undefined;
  /** How the handler reads what the extension keeps in the session: what it has read is bound to what it answers. */
  readonly state?: ((namespace: string) => unknown) | undefined;
}

export interface Dispatch extends DispatchPlace {
  readonly tier: SepTier;
  /** The process that is asked. */
  readonly generation: number | undefined;
  /** Aborts when the dispatch is over, however it ends: what is done for it ends with it. */
  readonly signal: AbortSignal;
  /** Its time stands still until what it gives is called: somebody else is waited for. */
  hold(): () => void;
  /** Does it as the handler would that has dispatched it: what it writes is the handler's own. */
  within<Result>(work: () => Result): Result;
}

export interface DispatchContext {
  readonly token: string;
  readonly tier: SepTier;
}

export interface Dispatches {
  /** While `work` is under way, its context is good. */
  during<Result>(
    tier: SepTier,
    place: DispatchPlace,
    signal: AbortSignal,
    work: (context: DispatchContext) => Promise<Result>,
  ): Promise<Result>;
  /** Of something that nobody waits for: good for as long as few have followed it. */
  told(place: DispatchPlace): DispatchContext;
  find(token: string): Dispatch | undefined;
  /** The session that it is asked about now. */
  asked(): string | 'several' | undefined;
  /** The session that it is asked about now, and where there is none the last one that it was asked or told about. */
  where(): string | 'several' | undefined;
  /** What it is asked about this session now. */
  underWayIn(sessionKey: string): readonly Dispatch[];
}

const MAX_TOLD = 256;

/** `generation`: of the process that is asked now. `hold`: of what was begun with this signal. */
export function createDispatches(
  generation: () => number | undefined = () => undefined,
  hold: (signal: AbortSignal) => () => void = () => () => {},
): Dispatches {
  const underWay = new Map<string, Dispatch>();
  const told = new Map<string, Dispatch>();
  const never = new AbortController().signal;
  let last: string | undefined;

  function asked(): string | 'several' | undefined {
    const keys = new Set([...underWay.values()].flatMap(({ sessionKey }) => sessionKey ?? []));
    return keys.size > 1 ? 'several' : keys.values().next().value;
  }

  return {
    async during(tier, place, signal, work) {
      const token = randomId();
      last = place.sessionKey ?? last;
      const over = new AbortController();
      underWay.set(token, {
        ...placed(place),
        tier,
        generation: generation(),
        signal: AbortSignal.any([signal, over.signal]),
        hold: () => hold(signal),
        within: AsyncLocalStorage.snapshot(),
      });
      try {
        return await work({ token, tier });
      } finally {
        underWay.delete(token);
        over.abort();
      }
    },
    told(place) {
      const token = randomId();
      last = place.sessionKey ?? last;
      told.set(token, {
        ...placed(place),
        tier: 'event',
        generation: generation(),
        signal: never,
        hold: () => () => {},
        within: (work) => work(),
      });
      if (told.size > MAX_TOLD) told.delete(told.keys().next().value as string);
      return { token, tier: 'event' };
    },
    find: (token) => underWay.get(token) ?? told.get(token),
    asked,
    where: () => asked() ?? last,
    underWayIn: (sessionKey) => [...underWay.values()].filter((each) => each.sessionKey === sessionKey),
  };
}

/** These fields and no others: a context of a plugin has many. */
function placed({ sessionKey, agentId, runId, callId, toolCallId, asked, state }: DispatchPlace): DispatchPlace {
  return { sessionKey, agentId, runId, callId, toolCallId, asked, state };
}
