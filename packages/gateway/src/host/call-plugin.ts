// The one function through which code of a plugin is called: hooks, and later tools, commands and actions. It keeps the
// deadline, catches what is thrown, checks what is answered, counts, and names the plugin. What goes wrong comes back as
// a value. A deadline ends our waiting, not the plugin's work; a loop that never yields stops the whole process.
import { type JsonValue, type PluginPlaceName, pluginPlaces, type TraceOutcome } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { CallTimeouts } from './call-timeouts.ts';
import { createDeadlines } from './deadlines.ts';
import { HeldDeadline } from './held-deadline.ts';
import { shortText, stackOf } from './error-text.ts';
import { placeIn } from './load-module.ts';
import type { PluginActivity } from './plugin-activity.ts';
import { type PluginScope, runAsPlugin } from './plugin-scope.ts';

/** Who is called where. */
export interface PluginPlace {
  readonly plugin: string;
  /** The name of a hook or a row of `pluginPlaces`: from a closed set, because it is a label of the metrics. */
  readonly place: string;
  readonly timeoutMs: number;
  /** The load whose code it is, where that is not the one that the plugin has now. */
  readonly scope?: PluginScope;
  /** What stands for the handler, where this object is made for each call. */
  readonly handled?: object;
}

/** A place that is no hook, as the table has it; `handled` is what was registered, under which calls are counted. */
export function placed(plugin: string, place: PluginPlaceName, handled?: object): PluginPlace {
  const { timeoutMs } = pluginPlaces[place];
  if (handled === undefined) return { plugin, place, timeoutMs };
  // One for all its calls, and so are the labels that are kept with it.
  let known = places.get(handled);
  if (known?.place !== place) {
    known = { plugin, place, timeoutMs, handled };
    places.set(handled, known);
  }
  return known;
}

const places = new WeakMap<object, PluginPlace>();

/** What code of a plugin is told about its call. */
export interface PluginCall extends PluginPlace {
  /** Aborts when nobody waits for the answer any more. Made when it is first asked for. */
  readonly signal: AbortSignal;
  /** What the plugin itself keeps in the session that the call is about; nothing where it is about none. */
  readonly getSessionExtension: (namespace: string) => JsonValue | undefined;
}

export type PluginCode<Argument> = (argument: Argument, call: PluginCall) => unknown;

export type FailureKind = 'threw' | 'timed-out' | 'wrong-shape' | 'dropped';

export interface PluginFailure {
  readonly plugin: string;
  readonly place: string;
  readonly kind: FailureKind;
  readonly message: string;
  /** Where in its code, if that can be seen. */
  readonly at?: string;
}

export type Answer<Result> =
  | { readonly ok: true; readonly value: Result }
  /** `aborted`: the caller's own signal ended the wait, which is nobody's failure and is not reported. */
  | { readonly ok: false; readonly kind: FailureKind | 'aborted'; readonly message: string; readonly at?: string };

/** Takes what the plugin returned, or says what is wrong with it. */
export type Accept<Result> = (raw: unknown) => { readonly value: Result } | { readonly wrong: string };

export interface PluginCaller {
  /**
   * Contract: neither throws nor rejects. The answer is a promise only if the plugin returned one. What arrives after the
   * deadline, or after the signal, is discarded. `about` is an object of the gateway that names the session and the run, and
   * is the same for all calls of one occasion; without it, the argument is taken for it. Only the trace looks at it.
   */
  call<Argument, Result>(
    where: PluginPlace,
    code: PluginCode<Argument>,
    argument: Argument,
    accept: Accept<Result>,
    signal?: AbortSignal,
    about?: object,
  ): Answer<Result> | Promise<Answer<Result>>;
  /** Counts and reports a failure that was found after the answer. */
  fail(where: Pick<PluginPlace, 'plugin' | 'place'>, kind: FailureKind, message: string): Answer<never> & { ok: false };
  /** How long it may take: what the operator says, or what stands there. */
  timeoutOf(where: PluginPlace): number;
  /** Where to say what came of an answer. */
  readonly trace: CallTrace;
}

/** Is told how calls went. */
export interface CallObserver {
  /** One call has ended. `where`, or its `handled`, is the same object for the same handler. */
  ended(where: PluginPlace, answer: Answer<unknown>, durationMs: number, timeoutMs?: number): void;
  /** A failure that was found after the answer, or in place of a call. */
  failed(where: Pick<PluginPlace, 'plugin' | 'place'>, kind: FailureKind): void;
}

/** What came of an answer. */
export interface Effect {
  /** Without it, what the answer alone tells. `changed` is `unchanged` where nothing differs. */
  readonly outcome?: TraceOutcome;
  readonly reason?: string;
  /** What the handler worked on and what was made of its answer: what differs is recorded. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** One call that is recorded, while it lasts. */
export interface TracedCall {
  ended(answer: Answer<unknown>, durationMs: number): void;
}

/** The side of those who call plugin code. Contract: nothing here throws. */
export interface CallTrace {
  /** Whether anything is recorded anywhere. While it is not, nothing else here need be called. */
  readonly isOn: boolean;
  /**
   * A call begins. `about` names session and run, and stands for what several handlers take part in: those that are about
   * the same object are one dispatch. Undefined when the session is not recorded.
   */
  began(where: TracedPlace, about: unknown): TracedCall | undefined;
  /** What was made of an answer, in place of what the answer alone tells. */
  became(answer: Answer<unknown>, effect: Effect): void;
  /** Somebody who would have been called was not. */
  passedOver(where: TracedPlace, about: unknown, outcome: TraceOutcome, reason: string): void;
}

export type TracedPlace = Pick<PluginPlace, 'plugin' | 'place'> & { readonly priority?: number };

const noTrace: CallTrace = { isOn: false, began: () => undefined, became() {}, passedOver() {} };

export interface PluginCallerDeps {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly reportFailure: (failure: PluginFailure) => void;
  readonly counts?: CallObserver;
  readonly trace?: CallTrace;
  /** Without it, code runs as nobody's. */
  readonly activity?: PluginActivity;
  /** What the operator says. */
  readonly timeouts?: CallTimeouts;
}

export function createPluginCaller({
  clock,
  metrics,
  reportFailure,
  counts,
  trace = noTrace,
  activity,
  timeouts,
}: PluginCallerDeps): PluginCaller {
  const deadlines = createDeadlines(clock);
  metrics.describe('tenon_plugin_calls_total', 'Calls of plugin code, by plugin and place.');
  metrics.describe('tenon_plugin_failures_total', 'Calls of plugin code that failed, by plugin, place and kind.');

  function fail(where: Pick<PluginPlace, 'plugin' | 'place'>, kind: FailureKind, message: string, at?: string) {
    const { plugin, place } = where;
    const seen = at === undefined ? {} : { at };
    metrics.count('tenon_plugin_failures_total', { plugin, place, kind });
    reportFailure({ plugin, place, kind, message, ...seen });
    return { ok: false as const, kind, message, ...seen };
  }

  function threw(where: PluginPlace, error: unknown) {
    return fail(where, 'threw', shortText(error), placeIn(stackOf(error)));
  }

  function finish<Result>(where: PluginPlace, raw: unknown, accept: Accept<Result>): Answer<Result> {
    try {
      const accepted = accept(raw);
      return 'wrong' in accepted ? fail(where, 'wrong-shape', accepted.wrong) : { ok: true, value: accepted.value };
    } catch (error) {
      // A proxy or a getter of the plugin may throw while its answer is read.
      return fail(where, 'wrong-shape', shortText(error));
    }
  }

  function wait<Result>(call: Call, pending: PromiseLike<unknown>, accept: Accept<Result>, signal: AbortSignal | undefined) {
    return new Promise<Answer<Result>>((resolve) => {
      let isOver = false;
      const end = (answer: () => Answer<Result>): void => {
        if (isOver) return;
        isOver = true;
        deadline.end();
        signal?.removeEventListener('abort', stop);
        resolve(answer());
      };
      const stop = () => {
        end(() => ({ ok: false, kind: 'aborted', message: 'the wait was aborted' }));
        call.abort(signal?.reason);
      };
      const expire = () => {
        const message = `no answer within ${call.timeoutMs} ms`;
        end(() => fail(call, 'timed-out', message));
        call.abort(new DOMException(message, 'TimeoutError'));
      };
      const deadline = new HeldDeadline(call.timeoutMs, expire, deadlines, clock);
      call.deadline = deadline;
      signal?.addEventListener('abort', stop, { once: true });
      Promise.resolve(pending).then(
        (raw) => end(() => finish(call, raw, accept)),
        (error: unknown) => end(() => threw(call, error)),
      );
      if (signal?.aborted) stop();
    });
  }

  function timeoutOf(where: PluginPlace): number {
    return timeouts?.(where.plugin, where.place) ?? where.timeoutMs;
  }

  function counted<Result>(where: PluginPlace, began: number, answer: Answer<Result>, traced: TracedCall | undefined): Answer<Result> {
    const durationMs = clock.monotonic() - began;
    counts?.ended(where, answer, durationMs, timeoutOf(where));
    traced?.ended(answer, durationMs);
    return answer;
  }

  return {
    trace,
    timeoutOf,
    call(where, code, argument, accept, signal, about) {
      const traced = trace.isOn ? trace.began(where, about ?? argument) : undefined;
      const began = clock.monotonic();
      const answer = answerOf(where, code, argument, accept, signal);
      if (answer instanceof Promise) return answer.then((late) => counted(where, began, late, traced));
      return counted(where, began, answer, traced);
    },
    fail(where, kind, message) {
      counts?.failed(where, kind);
      return fail(where, kind, message);
    },
  };

  function answerOf<Argument, Result>(
    where: PluginPlace,
    code: PluginCode<Argument>,
    argument: Argument,
    accept: Accept<Result>,
    signal: AbortSignal | undefined,
  ): Answer<Result> | Promise<Answer<Result>> {
    metrics.count('tenon_plugin_calls_total', labelsOf(where));
    const call = new Call(where, activity?.scopeOf(where.plugin), timeoutOf(where));
    let raw: unknown;
    try {
      raw = activity ? activity.run(where, code, argument, call) : code(argument, call);
      if (isThenable(raw)) return wait(call, raw, accept, signal);
    } catch (error) {
      return threw(where, error);
    }
    return finish(where, raw, accept);
  }
}

/** Those of a handler are made once: the same place is called again and again. */
const labels = new WeakMap<PluginPlace, Readonly<Record<string, string>>>();

function labelsOf(where: PluginPlace): Readonly<Record<string, string>> {
  let known = labels.get(where);
  if (!known) {
    known = Object.freeze({ plugin: where.plugin, place: where.place });
    labels.set(where, known);
  }
  return known;
}

/** Calls by the signal that tells their code to stop, for those that have looked at it. */
const bySignal = new WeakMap<AbortSignal, Call>();

/** The time of the call whose code was given this signal stands still until what it gives is called. */
export function holdCall(signal: AbortSignal): () => void {
  return bySignal.get(signal)?.deadline?.hold() ?? (() => {});
}

class Call implements PluginCall {
  /** While it is waited for. */
  deadline: HeldDeadline | undefined;
  readonly plugin: string;
  readonly place: string;
  readonly timeoutMs: number;
  readonly #scope: PluginScope | undefined;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor({ plugin, place, scope }: PluginPlace, current: PluginScope | undefined, timeoutMs: number) {
    this.#scope = scope ?? current;
    this.plugin = plugin;
    this.place = place;
    this.timeoutMs = timeoutMs;
  }

  getSessionExtension(_namespace: string): JsonValue | undefined {
    return undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      bySignal.set(this.#controller.signal, this);
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#aborted = { reason };
    // What its listeners throw is the plugin's.
    if (this.#controller && this.#scope) runAsPlugin(this.#scope, (controller) => controller.abort(reason), this.#controller);
    else this.#controller?.abort(reason);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
