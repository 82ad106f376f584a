// Runs a hook: asks the handlers in their order and puts their answers together as the row of the table says. With no
// handler, and as long as handlers answer at once, nothing is awaited and the outcome is returned as it is.
import {
  explain,
  hookRow,
  isToolMatched,
  type hooks,
  matches,
  Verdict,
  type HookEvent,
  type HookName,
  type HookResult,
  type HookSpec,
} from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { Accept, Answer, Effect, PluginCaller } from './call-plugin.ts';
import { type ReportConflict, Rewrites, textOf } from './conflicts.ts';
import { type HookRegistry, matchedHooks, type Registered } from './hook-registry.ts';
import { type HookBudget, SKIPPED } from './hook-budget.ts';
import { createObserverLanes } from './observer-lanes.ts';
import { callWithState, type StateOf } from './own-state.ts';
import { copyPlain, freezeDeep } from './plain-data.ts';

export interface HookDone<Name extends HookName> {
  readonly kind: 'done';
  /** As the handlers left it. */
  readonly event: HookEvent<Name>;
  /** Plugins that changed it, in order. */
  readonly by: readonly string[];
  /** Plugins whose handler failed and was passed over. */
  readonly failed: readonly string[];
}

export interface HookRefused<Name extends HookName> {
  readonly kind: 'refused';
  readonly plugin: string;
  readonly reason: string;
  /** What the plugin said. Without it, its handler failed and the hook is closed on failure. */
  readonly result?: HookResult<Name>;
}

export interface HookClaimed<Name extends HookName> {
  readonly kind: 'claimed';
  readonly plugin: string;
  readonly result: HookResult<Name>;
  readonly failed: readonly string[];
}

type EndOf<Name extends HookName> = (typeof hooks)[Name]['ends'][number];

/** Only what this hook can end in: an observer has no say, a claim cannot refuse. */
export type HookOutcome<Name extends HookName> =
  | HookDone<Name>
  | ('refused' extends EndOf<Name> ? HookRefused<Name> : never)
  | ('claimed' extends EndOf<Name> ? HookClaimed<Name> : never);

type ReadonlyList<Value> = Value extends (infer Item)[] ? readonly Item[] : Value;

/** What a hook is run with: its event, whose lists may be lists that nobody changes. */
export type HookInput<Name extends HookName> = { readonly [Key in keyof HookEvent<Name>]: ReadonlyList<HookEvent<Name>[Key]> };

export interface HookOptions {
  readonly signal?: AbortSignal;
  /** Whoever waits pays from it; without it, nobody counts. */
  readonly budget?: HookBudget;
}

export interface HookRunner {
  /** Whether anybody takes part: an event that is dear to build need not be built for nobody. */
  has(name: HookName): boolean;
  /**
   * Contract: no plugin can make it throw or reject. The event is frozen with everything inside it and belongs to the handlers from
   * then on. When the signal aborts, the wait for a handler ends: a hook that is closed on failure is refused, another
   * one is done with what it has; observers are not stopped.
   */
  run<Name extends HookName>(name: Name, event: HookInput<Name>, options?: HookOptions): HookOutcome<Name> | Promise<HookOutcome<Name>>;
  /** Waits for observers that nobody waited for, but not longer. */
  drain(budgetMs: number): Promise<{ readonly unfinished: number }>;
}

export interface HookRunnerDeps {
  readonly registry: HookRegistry;
  readonly caller: PluginCaller;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** What plugins keep in sessions; without it, handlers read nothing. */
  readonly stateOf?: StateOf;
  readonly reportConflict?: ReportConflict;
  /** A plugin that guards this hook and is not loaded. */
  readonly missingGuard?: (name: HookName) => { readonly plugin: string; readonly reason: string } | undefined;
}

type AnyEvent = HookEvent<HookName>;
type AnyOutcome = HookDone<HookName> | HookRefused<HookName> | HookClaimed<HookName>;

const NOBODY: readonly string[] = Object.freeze([]);

export function createHookRunner({ registry, caller, clock, metrics, stateOf, reportConflict, missingGuard }: HookRunnerDeps): HookRunner {
  const lanes = createObserverLanes({ clock, metrics, fail: caller.fail });
  const accepts = new Map<HookName, Accept<object | undefined>>();
  const { trace } = caller;

  function acceptOf(name: HookName, row: HookSpec): Accept<object | undefined> {
    let accept = accepts.get(name);
    if (!accept) {
      accept = acceptor(name, row);
      accepts.set(name, accept);
    }
    return accept;
  }

  /** Calls one handler; with what its plugin keeps in the session, where that is so. */
  function ask<Result>(each: Registered, event: AnyEvent, accept: Accept<Result>, signal?: AbortSignal, about: AnyEvent = event) {
    const { sessionKey } = event as { sessionKey?: string };
    return callWithState(caller, stateOf, {
      where: each,
      code: each.handler,
      argument: event,
      accept,
      signal,
      sessionKey,
      about,
      isLive: () => each.isLive,
    });
  }

  function observe(handlers: readonly Registered[], event: AnyEvent): void {
    for (const each of handlers) {
      const isTaken = lanes.add(each.plugin, each.place, () => (each.isLive ? ask(each, event, ignore) : skip(each, event)));
      if (!isTaken && trace.isOn) trace.passedOver(each, event, 'dropped', 'too many observers of its plugin wait already');
    }
  }

  function skip(each: Registered, event: AnyEvent): undefined {
    if (trace.isOn) trace.passedOver(each, event, 'skipped', 'its plugin was unloaded, or lost the right to take part');
  }

  /** Whether this one is not asked because the turn has no time left for it. What guards something is asked all the same. */
  function isOverBudget(each: Registered, row: HookSpec, event: AnyEvent, budget: HookBudget | undefined): boolean {
    if (!budget?.isSpent || row.onFailure !== 'open') return false;
    budget.skip(each);
    if (trace.isOn) trace.passedOver(each, event, 'skipped', SKIPPED);
    return true;
  }

  function pay<Result>(budget: HookBudget | undefined, plugin: string, ask: () => Result | Promise<Result>): Result | Promise<Result> {
    if (!budget) return ask();
    const began = clock.monotonic();
    const paid = (answer: Result): Result => {
      budget.spend(plugin, clock.monotonic() - began);
      return answer;
    };
    const answer = ask();
    return answer instanceof Promise ? answer.then(paid) : paid(answer);
  }

  async function observeInTurn(
    row: HookSpec,
    handlers: readonly Registered[],
    event: AnyEvent,
    budget: HookBudget | undefined,
  ): Promise<AnyOutcome> {
    const failed: string[] = [];
    for (const each of handlers) {
      if (!each.isLive) {
        skip(each, event);
        continue;
      }
      if (isOverBudget(each, row, event, budget)) continue;
      const answer = await pay(budget, each.plugin, () => ask(each, event, ignore));
      if (!answer.ok) failed.push(each.plugin);
    }
    return { kind: 'done', event, by: NOBODY, failed };
  }

  function askInTurn(
    name: HookName,
    row: HookSpec,
    handlers: readonly Registered[],
    event: AnyEvent,
    { signal, budget }: HookOptions,
  ): AnyOutcome | Promise<AnyOutcome> {
    const accept = acceptOf(name, row);
    const by: string[] = [];
    const failed: string[] = [];
    let current = event;
    /** What the answer that is being taken and an earlier one disagree on. */
    let disagreement: string | undefined;
    const { sessionKey, runId } = event as { sessionKey?: string; runId?: string };
    const rewrites = new Rewrites((conflict) => {
      disagreement = textOf(conflict);
      reportConflict?.({
        place: name,
        ...conflict,
        ...(sessionKey === undefined ? {} : { sessionKey }),
        ...(runId === undefined ? {} : { runId }),
      });
    });

    const done = (): AnyOutcome => ({ kind: 'done', event: current, by, failed });
    const failedBy = (plugin: string, message: string): AnyOutcome | undefined => {
      failed.push(plugin);
      if (row.onFailure === 'open') return undefined;
      return { kind: 'refused', plugin, reason: `the ${name} handler of ${plugin} failed: ${message}` };
    };
    const abortedAt = (plugin: string): AnyOutcome =>
      row.onFailure === 'open' ? done() : { kind: 'refused', plugin, reason: `the wait for ${plugin} was aborted` };

    /** Takes one answer; what it returns ends the hook. */
    function take(each: Registered, answer: Answer<object | undefined>): AnyOutcome | undefined {
      const before = current;
      disagreement = undefined;
      const end = judge(each, answer);
      if (trace.isOn)
        trace.became(answer, { ...(disagreement ? { reason: disagreement } : {}), ...effectOf(answer, before, current, end) });
      return end;
    }

    function judge(each: Registered, answer: Answer<object | undefined>): AnyOutcome | undefined {
      const { plugin } = each;
      if (!answer.ok) return answer.kind === 'aborted' ? abortedAt(plugin) : failedBy(plugin, answer.message);
      const result = answer.value as HookResult<HookName>;
      if (result === undefined) return undefined;
      if (row.kind === 'claim') {
        return (result as { handled?: boolean }).handled ? { kind: 'claimed', plugin, result, failed } : undefined;
      }
      const merged = row.merge?.apply(current as never, result as never, plugin);
      if (merged instanceof Verdict) {
        if (merged.kind === 'refused') return { kind: 'refused', plugin, reason: merged.reason, result };
        if (merged.kind === 'claimed') return { kind: 'claimed', plugin, result, failed };
        const { message } = caller.fail(each, 'wrong-shape', merged.reason);
        return failedBy(plugin, message);
      }
      if (row.merge && handlers.length > 1) noteRewrites(rewrites, row, plugin, result as object, current, merged ?? current);
      if (merged !== undefined && merged !== current) {
        current = freezeDeep(merged) as AnyEvent;
        by.push(plugin);
      }
      return undefined;
    }

    function askNext(each: Registered): Answer<object | undefined> | Promise<Answer<object | undefined>> {
      if (signal?.aborted) {
        if (trace.isOn) trace.passedOver(each, event, 'aborted', 'the wait was aborted before it was asked');
        return { ok: false, kind: 'aborted', message: 'the wait was aborted' };
      }
      if (!each.isLive) skip(each, event);
      else if (!isOverBudget(each, row, event, budget)) return pay(budget, each.plugin, () => ask(each, current, accept, signal, event));
      return NO_OPINION;
    }

    async function askRest(first: number, pending: Promise<Answer<object | undefined>>): Promise<AnyOutcome> {
      let end = take(handlers[first]!, await pending);
      for (let index = first + 1; end === undefined && index < handlers.length; index++) {
        end = take(handlers[index]!, await askNext(handlers[index]!));
      }
      return end ?? done();
    }

    for (const [index, each] of handlers.entries()) {
      const answer = askNext(each);
      if (answer instanceof Promise) return askRest(index, answer);
      const end = take(each, answer);
      if (end) return end;
    }
    return done();
  }

  function run(name: HookName, event: AnyEvent, options: HookOptions = {}): AnyOutcome | Promise<AnyOutcome> {
    const guard = missingGuard?.(name);
    if (guard) return { kind: 'refused', plugin: guard.plugin, reason: guard.reason };
    const handlers = matched(name, registry.handlers(name), event);
    if (handlers.length === 0) return { kind: 'done', event, by: NOBODY, failed: NOBODY };
    const row = hookRow(name);
    freezeDeep(event);
    if (row.kind !== 'observe') return askInTurn(name, row, handlers, event, options);
    if (row.awaited) return observeInTurn(row, handlers, event, options.budget);
    observe(handlers, event);
    return { kind: 'done', event, by: NOBODY, failed: NOBODY };
  }

  return {
    has: (name) => registry.handlers(name).length > 0 || missingGuard?.(name) !== undefined,
    // The row says how this hook can end, and a test holds each merge to it.
    run: <Name extends HookName>(name: Name, event: HookInput<Name>, options?: HookOptions) =>
      run(name, event as unknown as AnyEvent, options) as HookOutcome<Name> | Promise<HookOutcome<Name>>,
    drain: lanes.drain,
  };
}

/** The same hooks, whose handlers are asked on this budget. */
export function withinBudget(hooks: HookRunner, budget: HookBudget): HookRunner {
  return {
    has: hooks.has,
    drain: hooks.drain,
    run: (name, event, options) => hooks.run(name, event, { ...options, budget }),
  };
}

/** Those that want to know of this tool. */
function matched(name: HookName, handlers: readonly Registered[], event: AnyEvent): readonly Registered[] {
  if (!matchedHooks.has(name)) return handlers;
  const { toolName } = event as { toolName: string };
  return handlers.filter(({ matcher }) => isToolMatched(matcher, toolName));
}

/** What the trace is told of an answer that was taken. */
function effectOf(answer: Answer<unknown>, before: AnyEvent, after: AnyEvent, end: AnyOutcome | undefined): Effect {
  if (!answer.ok) return end?.kind === 'refused' ? { reason: `${answer.message}; on failure this hook refuses` } : {};
  if (end?.kind === 'claimed') return { outcome: 'claimed', before: {}, after: end.result };
  if (end?.kind === 'refused') return end.result ? { outcome: 'refused', reason: end.reason } : { outcome: 'failed', reason: end.reason };
  return { outcome: 'changed', before, after };
}

/** What one answer wanted and what came of it. */
function noteRewrites(rewrites: Rewrites, row: HookSpec, plugin: string, result: object, before: object, after: object): void {
  const { joins = [], within } = row.merge ?? {};
  const inside = (event: object): Record<string, unknown> =>
    (within === undefined ? event : (event as Record<string, unknown>)[within]) as Record<string, unknown>;
  for (const [field, wanted] of Object.entries(result)) {
    if (joins.includes(field) || (within === undefined && !Object.hasOwn(row.event.properties, field))) continue;
    rewrites.note(plugin, field, wanted, inside(before)[field], inside(after)[field]);
  }
}

const NO_OPINION = { ok: true, value: undefined } as const;

const ignore: Accept<undefined> = () => NO_OPINION;

/** Nothing is no opinion; everything else is copied first and then held against the schema, so that it stays what was checked. */
function acceptor(name: HookName, row: HookSpec): Accept<object | undefined> {
  return (raw) => {
    if (raw === undefined) return NO_OPINION;
    const copied = copyPlain(raw);
    if ('wrong' in copied) return { wrong: `the answer is not plain data: ${copied.wrong}` };
    if (matches(row.result, copied.value)) return { value: copied.value as object };
    return { wrong: explain(row.result, copied.value, 'result') ?? `the answer does not fit the result of ${name}` };
  };
}
