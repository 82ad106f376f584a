// A model that answers by a function: pieces while it works, a result at the end. Pieces and result become one message, in which
// nothing is lost and nothing stands twice; silence, excess and a stop end the wait as they do for every other model.
import { type AssistantMessage, type JsonObject, type Message, type ModelInfo, visible } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { canonical } from '../kernel/canonical.ts';
import { StreamFault } from './failure.ts';
import { createMessageBuilder, type MessageBuilder, noUsage } from './message.ts';
import { labelOf } from './providers/prompt.ts';
import { openWatch } from './providers/watch.ts';
import type { FailureKind, Model, ModelEvent, ModelFailure, ModelRequest } from './types.ts';

export type Piece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'call'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'arguments'; readonly index: number; readonly text: string };

export interface Result {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: JsonObject | string }[];
  readonly end?: 'stop' | 'length' | 'content-filter' | 'error';
  readonly usage?: { readonly input?: number; readonly output?: number; readonly cacheRead?: number };
}

export type Outcome =
  | { readonly result: Result }
  | { readonly failed: { readonly kind: FailureKind; readonly message: string; readonly retryAfterMs?: number } };

export interface PiecedModelDeps {
  /** As it is now. */
  readonly info: () => ModelInfo;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  /** Contract: neither throws nor rejects; ends soon after the signal aborts. */
  readonly complete: (
    request: ModelRequest,
    io: { readonly piece: (piece: Piece) => void; readonly signal: AbortSignal },
  ) => Promise<Outcome>;
  /** A piece came after the answer, or after it was given up. */
  readonly dropped: () => void;
}

const MAX_MESSAGE = 500;
const MAX_RETRY_AFTER_MS = 86_400_000;

export function createPiecedModel(deps: PiecedModelDeps): Model {
  const { clock, complete } = deps;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const { id, provider } = deps.info();
    const watch = openWatch(clock, deps.idleTimeoutMs, signal);
    const builder = createMessageBuilder(provider, id);
    const answer = createAnswer(builder);
    const ready: ModelEvent[] = [];
    let outcome: Outcome | undefined;
    let isOver = false;
    let wake: (() => void) | undefined;
    const tell = () => wake?.();

    function take(piece: Piece): void {
      if (isOver || watch.fault) return deps.dropped();
      watch.bytes('text' in piece ? Buffer.byteLength(piece.text) : 0, false);
      watch.progress();
      ready.push(...answer.add(piece));
      tell();
    }

    try {
      if (watch.fault) throw watch.fault;
      watch.onGiveUp(tell);
      void complete({ ...request, messages: labelled(request.messages) }, { piece: take, signal: watch.signal }).then((given) => {
        outcome = given;
        tell();
      });
      for (;;) {
        while (ready.length > 0 && !watch.fault) {
          watch.waiting(false);
          yield ready.shift()!;
        }
        if (watch.fault) throw watch.fault;
        if (builder.excess !== undefined) throw new StreamFault('bad_output', `the answer is too large: ${builder.excess}`);
        if (outcome) break;
        watch.waiting(true);
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
        wake = undefined;
      }
      isOver = true;
      if ('failed' in outcome) return yield failedAs(id, outcome.failed, builder, clock);
      const { result } = outcome;
      yield* answer.finish(result);
      if (builder.excess !== undefined) throw new StreamFault('bad_output', `the answer is too large: ${builder.excess}`);
      yield {
        type: 'end',
        message: builder.build({ stopReason: stopReasonOf(result, builder), usage: usageOf(result), timestamp: clock.now() }),
      };
    } catch (error) {
      const { kind, message } = error instanceof StreamFault ? error : new StreamFault('bad_output', String(error));
      yield failedAs(id, { kind, message }, builder, clock);
    } finally {
      isOver = true;
      watch.hangUp();
    }
  }

  return {
    get info() {
      return deps.info();
    },
    stream,
  };
}

/** What came in pieces is added to by the result only where that says more. */
function createAnswer(builder: MessageBuilder) {
  const said = { text: '', thinking: '' };
  /** By index, in the order in which they began. */
  const calls = new Map<number, { readonly id: string; readonly name: string; input: string }>();

  function say(type: 'text' | 'thinking', text: string): ModelEvent[] {
    said[type] += text;
    const delta = builder[type]('0', text);
    return delta === '' ? [] : [{ type, delta }];
  }

  return {
    add(piece: Piece): ModelEvent[] {
      switch (piece.type) {
        case 'text':
        case 'thinking':
          return say(piece.type, piece.text);
        case 'call': {
          if (calls.has(piece.index) || builder.excess !== undefined) return [];
          calls.set(piece.index, { id: piece.id, name: piece.name, input: '' });
          return [{ type: 'tool', ...builder.beginCall(piece.id, piece.name) }];
        }
        case 'arguments': {
          const call = calls.get(piece.index);
          if (!call || builder.excess !== undefined) return [];
          call.input += piece.text;
          builder.callDelta(call.id, piece.text);
          return [];
        }
      }
    },

    *finish(result: Result): Generator<ModelEvent> {
      for (const type of ['thinking', 'text'] as const) {
        const whole = result[type] ?? '';
        const more = whole.startsWith(said[type]) ? whole.slice(said[type].length) : '';
        yield* say(type, more);
      }
      builder.endPart('0');
      const begun = [...calls.values()];
      const repeated = new Set<string>();
      for (const call of begun) {
        const same = result.calls?.find(({ id }) => id === call.id);
        const input = call.input === '' && same ? inputOf(same.arguments) : call.input;
        repeated.add(call.id).add(sameness(call.name, input));
        builder.endCall(call.id, call.name, input);
      }
      for (const { id, name, arguments: args } of result.calls ?? []) {
        const input = inputOf(args);
        if (repeated.has(id) || (begun.length > 0 && repeated.has(sameness(name, input)))) continue;
        const { begun: told } = builder.endCall(id, name, input);
        if (told) yield { type: 'tool', ...told };
      }
    },
  };
}

function inputOf(args: JsonObject | string): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

/** Two calls of one name with the same arguments, however these are written. */
function sameness(name: string, input: string): string {
  try {
    return `${name} ${canonical(JSON.parse(input === '' ? '{}' : input) as JsonObject)}`;
  } catch {
    return `${name} ${input}`;
  }
}

function labelled(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role !== 'toolResult' || message.provenance === undefined) return message;
    return { ...message, content: [{ type: 'text', text: labelOf(message) }, ...message.content] };
  });
}

function stopReasonOf({ end }: Result, builder: MessageBuilder): AssistantMessage['stopReason'] {
  if (end === 'error') throw new StreamFault('bad_output', 'it says that the answer broke off');
  if (end === 'content-filter') throw new StreamFault('invalid_request', 'the content filter of the provider stopped the answer');
  if (end === 'length') return 'length';
  return builder.hasCalls ? 'toolUse' : 'stop';
}

function usageOf({ usage = {} }: Result): AssistantMessage['usage'] {
  const { input, output, cacheRead } = usage;
  return { ...noUsage, input: count(input), output: count(output), cacheRead: count(cacheRead) };
}

function count(tokens = 0): number {
  return Number.isFinite(tokens) && tokens > 0 ? Math.min(Math.round(tokens), 1_000_000_000) : 0;
}

function failedAs(id: string, { kind, message, retryAfterMs }: ModelFailure, builder: MessageBuilder, clock: Clock): ModelEvent {
  const text = kind === 'aborted' ? 'Stopped' : visible(`Model "${id}": ${message}`).slice(0, MAX_MESSAGE).toWellFormed();
  const wait = retryAfterMs !== undefined && retryAfterMs > 0 ? { retryAfterMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) } : {};
  const partial = builder.partial({ stopReason: kind === 'aborted' ? 'aborted' : 'error', errorMessage: text, timestamp: clock.now() });
  return { type: 'failed', failure: { kind, message: text, ...wait }, ...(partial ? { partial } : {}) };
}
