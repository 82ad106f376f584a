// One answer from a model: asked again while it is overloaded or away, then the next model, in order. What it says is
// passed on as it comes. The outcome is a value.
import type { AssistantMessage, Usage } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { type Model, type ModelFailure, type ModelRequest, passingFailures } from '../model/types.ts';

export type Answer =
  | { readonly kind: 'answered'; readonly model: Model; readonly message: AssistantMessage }
  | { readonly kind: 'overflow'; readonly model: Model }
  | { readonly kind: 'stopped'; readonly partial?: AssistantMessage }
  | { readonly kind: 'failed'; readonly failure: ModelFailure; readonly model?: Model; readonly partial?: AssistantMessage };

export interface AskDeps {
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads those who wait. */
  readonly random: () => number;
  readonly attempts: number;
  /** Told before each attempt; what it gives is asked. */
  readonly request: (model: Model) => Promise<ModelRequest> | ModelRequest;
  readonly said: Said;
}

/** What is told while the answer comes. */
export interface Said {
  asking(model: Model): void;
  text(delta: string): void;
  thinking(delta: string): void;
  toolBegun(callId: string, name: string): void;
  /** The attempt is over and another follows; `discarded`: text was passed on that no longer counts. */
  retrying(why: string, discarded: boolean): void;
  fallingBack(model: Model, why: string, discarded: boolean): void;
  ended(model: Model, outcome: 'ok' | ModelFailure['kind'], durationMs: number, usage?: Usage): void;
}

/** Models that are not there are failures like any other. */
export type Candidate = { readonly model: Model } | { readonly missing: ModelFailure };

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

export async function askModel(candidates: readonly Candidate[], deps: AskDeps, signal: AbortSignal): Promise<Answer> {
  let last: Extract<Answer, { kind: 'failed' }> | undefined;
  let spoken = false;
  for (const candidate of candidates) {
    if ('missing' in candidate) {
      last ??= { kind: 'failed', failure: candidate.missing };
      continue;
    }
    const { model } = candidate;
    if (last) deps.said.fallingBack(model, last.failure.message, spoken);
    spoken = false;
    for (let attempt = 1; ; attempt++) {
      const outcome = await askOnce(model, deps, signal, () => {
        spoken = true;
      });
      if (outcome.kind !== 'failed') return outcome;
      // The first failure is what the operator can act on; a fallback that fails too does not hide it.
      last = last ? { ...outcome, failure: last.failure } : outcome;
      const { kind, retryAfterMs } = outcome.failure;
      if (!passingFailures.has(kind)) break;
      if (attempt >= deps.attempts) break;
      deps.said.retrying(outcome.failure.message, spoken);
      spoken = false;
      if (!(await pause(waitFor(attempt, retryAfterMs, deps.random), deps.clock, signal))) return { kind: 'stopped' };
    }
    // What the request itself did wrong, every model would refuse.
    if (last.failure.kind === 'invalid_request') break;
  }
  return last ?? { kind: 'failed', failure: { kind: 'unknown_model', message: 'No model is configured' } };
}

async function askOnce(model: Model, deps: AskDeps, signal: AbortSignal, onSpoken: () => void): Promise<Answer> {
  if (signal.aborted) return { kind: 'stopped' };
  const request = await deps.request(model);
  const startedAt = deps.clock.monotonic();
  deps.said.asking(model);
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case 'text':
        onSpoken();
        deps.said.text(event.delta);
        break;
      case 'thinking':
        deps.said.thinking(event.delta);
        break;
      case 'tool':
        deps.said.toolBegun(event.callId, event.name);
        break;
      case 'end':
        deps.said.ended(model, 'ok', deps.clock.monotonic() - startedAt, event.message.usage);
        return { kind: 'answered', model, message: event.message };
      case 'failed': {
        const { failure, partial } = event;
        deps.said.ended(model, failure.kind, deps.clock.monotonic() - startedAt);
        if (failure.kind === 'aborted') return { kind: 'stopped', ...(partial ? { partial } : {}) };
        if (failure.kind === 'context_overflow') return { kind: 'overflow', model };
        return { kind: 'failed', failure, model, ...(partial ? { partial } : {}) };
      }
    }
  }
  return { kind: 'failed', model, failure: { kind: 'bad_output', message: `The model "${model.info.id}" ended without an answer` } };
}

/** Doubles from half a second, spread by up to a half, never longer than half a minute; what the server asks for counts. */
function waitFor(attempt: number, retryAfterMs: number | undefined, random: () => number): number {
  const backoff = FIRST_WAIT_MS * 2 ** (attempt - 1) * (1 + random() / 2);
  return Math.min(MAX_WAIT_MS, Math.max(backoff, retryAfterMs ?? 0));
}

/** False when the signal ended it. */
export function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = () => {
      timer.cancel();
      resolve(false);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve(true);
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}
