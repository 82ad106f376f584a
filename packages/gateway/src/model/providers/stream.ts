// One request to a provider: its stream parts become our events, and whatever goes wrong becomes the last of them.
// Nothing is tried again here; the agent decides that.
import type { ModelConfig, Usage } from '@tenon/protocol';
import type { Clock } from '../../kernel/clock.ts';
import { failureOf, StreamFault, type FailurePlace } from '../failure.ts';
import { createMessageBuilder, noUsage, priced, type MessageBuilder } from '../message.ts';
import type { ModelEvent, ModelFailure } from '../types.ts';
import type { StreamPart } from './language-model.ts';
import type { Watch } from './watch.ts';

export interface StreamPlan {
  readonly config: ModelConfig;
  readonly clock: Clock;
  openWatch(): Watch;
  /** Finds the key, loads the provider and sends the request. */
  open(watch: Watch): Promise<Opened>;
  place(): FailurePlace;
  failed(failure: ModelFailure): void;
}

export interface Opened {
  readonly stream: ReadableStream<StreamPart>;
  /** Where the provider keeps what it wants back. */
  readonly metadataKey: string;
}

/** Contract: must not throw; ends with exactly one `end` or `failed`. */
export async function* streamAnswer(plan: StreamPlan): AsyncGenerator<ModelEvent, void, undefined> {
  const { config, clock } = plan;
  const watch = plan.openWatch();
  const builder = createMessageBuilder(config.provider, config.id, () => plan.place().secrets);
  let reader: ReadableStreamDefaultReader<StreamPart> | undefined;
  let finished = false;
  try {
    const { stream, metadataKey } = await openUnder(watch, plan);
    const reading = stream.getReader();
    reader = reading;
    watch.onGiveUp(() => void reading.cancel().catch(() => undefined));
    for (;;) {
      watch.waiting(true);
      const { done, value: part } = await reading.read();
      watch.waiting(false);
      if (watch.fault) throw watch.fault;
      if (done) throw new StreamFault('bad_output', 'the stream ended before the answer did');
      if (part.type !== 'stream-start' && part.type !== 'response-metadata') watch.progress();
      if (part.type === 'finish') {
        const usage = usageOf(part.usage, config.prices);
        const message = builder.build({ stopReason: stopReasonOf(part, builder), usage, timestamp: clock.now() });
        finished = true;
        yield { type: 'end', message };
        return;
      }
      const event = eventOf(part, builder, metadataKey);
      if (builder.excess !== undefined) throw new StreamFault('bad_output', `the answer is too large: ${builder.excess}`);
      if (event) yield event;
    }
  } catch (error) {
    const failure = failureOf(watch.fault ?? error, reader !== undefined, plan.place());
    plan.failed(failure);
    const partial = builder.partial({
      stopReason: failure.kind === 'aborted' ? 'aborted' : 'error',
      errorMessage: failure.message,
      timestamp: clock.now(),
    });
    yield { type: 'failed', failure, ...(partial ? { partial } : {}) };
  } finally {
    // Also when the reader of the events has gone away in the middle.
    if (finished && reader) void readToEnd(reader, watch, clock);
    else {
      watch.hangUp();
      // Not waited for: code of a provider that never lets go must not hold the turn.
      void reader?.cancel().catch(() => undefined);
    }
  }
}

const REST_MS = 1_000;

// The last bytes of an answer carry nothing for us, but a connection that was read to its end can be used again.
async function readToEnd(reader: ReadableStreamDefaultReader<StreamPart>, watch: Watch, clock: Clock): Promise<void> {
  watch.end();
  const timer = clock.after(REST_MS, () => watch.hangUp());
  try {
    while (!(await reader.read()).done);
  } catch {
    // Whoever was answered does not mind.
  } finally {
    timer.cancel();
    watch.hangUp();
  }
}

// A provider's code that ignores the signal must not hold us.
async function openUnder(watch: Watch, { open }: StreamPlan): Promise<Opened> {
  if (watch.fault) throw watch.fault;
  const opening = open(watch);
  const opened = await Promise.race([opening, watch.givenUp]);
  if (opened) return opened;
  opening.then(({ stream }) => stream.cancel()).catch(() => undefined);
  throw watch.fault ?? new StreamFault('aborted', 'stopped');
}

function eventOf(part: StreamPart, builder: MessageBuilder, metadataKey: string): ModelEvent | undefined {
  switch (part.type) {
    case 'text-delta': {
      const delta = builder.text(part.id, part.delta);
      return delta === '' ? undefined : { type: 'text', delta };
    }
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end': {
      const delta = part.type === 'reasoning-delta' ? builder.thinking(part.id, part.delta) : '';
      const signature = signatureOf(part.providerMetadata, metadataKey);
      if (signature) builder.signThinking(part.id, signature);
      if (part.type === 'reasoning-end') builder.endPart(part.id);
      return delta === '' ? undefined : { type: 'thinking', delta };
    }
    case 'text-end':
      builder.endPart(part.id);
      return undefined;
    case 'tool-input-start':
      return { type: 'tool', ...builder.beginCall(part.id, part.toolName) };
    case 'tool-input-delta':
      builder.callDelta(part.id, part.delta);
      return undefined;
    case 'tool-call': {
      const { begun } = builder.endCall(part.toolCallId, part.toolName, part.input, signatureOf(part.providerMetadata, metadataKey));
      return begun ? { type: 'tool', ...begun } : undefined;
    }
    case 'error':
      throw part.error;
    default:
      return undefined;
  }
}

// Kept as it came: what a provider wants back is its own business.
function signatureOf(metadata: Record<string, unknown> | undefined, metadataKey: string): Record<string, unknown> | undefined {
  const own = metadata?.[metadataKey];
  return typeof own === 'object' && own !== null ? (own as Record<string, unknown>) : undefined;
}

type Finish = Extract<StreamPart, { type: 'finish' }>;

function stopReasonOf({ finishReason }: Finish, builder: MessageBuilder): 'stop' | 'length' | 'toolUse' {
  switch (finishReason.unified) {
    case 'error':
    case 'interrupted':
      throw new StreamFault('bad_output', `the stream ended before the answer did${finishReason.raw ? ` (${finishReason.raw})` : ''}`);
    case 'content-filter':
      throw new StreamFault('invalid_request', 'the content filter of the provider stopped the answer');
    case 'length':
      return 'length';
    default:
      return builder.hasCalls ? 'toolUse' : 'stop';
  }
}

function usageOf({ inputTokens, outputTokens }: Finish['usage'], prices: ModelConfig['prices']): Usage {
  const cacheRead = count(inputTokens?.cacheRead);
  const cacheWrite = count(inputTokens?.cacheWrite);
  const input =
    inputTokens?.noCache === undefined ? Math.max(0, count(inputTokens?.total) - cacheRead - cacheWrite) : count(inputTokens.noCache);
  const output = count(outputTokens?.total);
  return input + output + cacheRead + cacheWrite === 0 ? noUsage : priced({ input, output, cacheRead, cacheWrite }, prices);
}

/** A server may send anything as a number. */
function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? Math.min(Math.round(tokens), 1_000_000_000) : 0;
}
