// A model for tests: says what it is told to say, one step per request, and keeps every request it got.
import type { AssistantMessage, JsonObject, ModelInfo, Usage } from '@tenon/protocol';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { noUsage } from './message.ts';
import type { Model, ModelEvent, ModelFailure, ModelRequest } from './types.ts';

/** What it says to one request. Text and thinking may be given in pieces: one delta each. */
export interface ScriptedAnswer {
  readonly thinking?: string | readonly string[];
  readonly text?: string | readonly string[];
  /** `id` is made up where it is not given; `malformed` stands for arguments that were not an object. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments?: JsonObject; readonly malformed?: string }[];
  readonly usage?: Partial<Usage>;
  readonly stopReason?: AssistantMessage['stopReason'];
  /** After what it said so far. */
  readonly failure?: ModelFailure;
  /** After what it said so far, until somebody stops it. */
  readonly hang?: true;
  /** Awaited after each delta: a test decides here when it goes on. */
  readonly gate?: (signal: AbortSignal) => Promise<void>;
}

export type ScriptedStep = ScriptedAnswer | ((request: ModelRequest, signal: AbortSignal) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModel extends Model {
  readonly requests: ModelRequest[];
  /** Further steps. */
  add(...steps: ScriptedStep[]): void;
  /** Steps that nobody asked for yet. */
  readonly left: number;
}

export interface ScriptedOptions {
  readonly info?: Partial<ModelInfo>;
  readonly clock?: Clock;
  /** What it says when the steps are used up; without it that is a failure. */
  readonly otherwise?: ScriptedStep;
}

export function createScriptedModel(
  steps: readonly ScriptedStep[] = [],
  { info, clock = systemClock, otherwise }: ScriptedOptions = {},
): ScriptedModel {
  const waiting = [...steps];
  const requests: ModelRequest[] = [];
  let calls = 0;
  const full: ModelInfo = {
    id: 'scripted',
    provider: 'scripted',
    name: 'Scripted',
    contextWindow: 100_000,
    images: true,
    thinking: true,
    usable: true,
    isDefault: true,
    ...info,
  };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    requests.push(request);
    const step = waiting.shift() ?? otherwise;
    const content: AssistantMessage['content'] = [];
    const fail = (failure: ModelFailure): ModelEvent => {
      const said = content.filter((block) => block.type !== 'toolCall');
      const stopReason = failure.kind === 'aborted' ? 'aborted' : 'error';
      return {
        type: 'failed',
        failure,
        ...(said.length === 0 ? {} : { partial: { ...message(said, stopReason), errorMessage: failure.message } }),
      };
    };
    if (!step)
      return yield fail({ kind: 'bad_output', message: `Model "${full.id}": the script has no step for request ${requests.length}` });
    try {
      const answer = typeof step === 'function' ? await step(request, signal) : step;
      for (const [type, pieces] of [
        ['thinking', answer.thinking],
        ['text', answer.text],
      ] as const) {
        for (const delta of pieces === undefined ? [] : [pieces].flat()) {
          if (signal.aborted) return yield fail(aborted);
          append(content, type, delta);
          yield { type, delta };
          await answer.gate?.(signal);
        }
      }
      for (const { id = `call_${++calls}`, name, arguments: args = {}, malformed } of answer.calls ?? []) {
        if (signal.aborted) return yield fail(aborted);
        content.push({ type: 'toolCall', id, name, arguments: args, ...(malformed === undefined ? {} : { malformed }) });
        yield { type: 'tool', callId: id, name };
      }
      if (answer.hang) await abortOf(signal);
      if (signal.aborted) return yield fail(aborted);
      if (answer.failure) return yield fail(answer.failure);
      const stopReason = answer.stopReason ?? (answer.calls?.length ? 'toolUse' : 'stop');
      yield { type: 'end', message: { ...message(content, stopReason), usage: { ...noUsage, input: 1, output: 1, ...answer.usage } } };
    } catch (error) {
      yield fail(signal.aborted ? aborted : { kind: 'bad_output', message: error instanceof Error ? error.message : String(error) });
    }
  }

  function message(content: AssistantMessage['content'], stopReason: AssistantMessage['stopReason']): AssistantMessage {
    return {
      role: 'assistant',
      content: [...content],
      provider: full.provider,
      model: full.id,
      usage: noUsage,
      stopReason,
      timestamp: clock.now(),
    };
  }

  return {
    info: full,
    stream,
    requests,
    add: (...more) => void waiting.push(...more),
    get left() {
      return waiting.length;
    },
  };
}

const aborted: ModelFailure = { kind: 'aborted', message: 'Stopped' };

function append(content: AssistantMessage['content'], type: 'text' | 'thinking', delta: string): void {
  const last = content.at(-1);
  if (type === 'text' && last?.type === 'text') last.text += delta;
  else if (type === 'thinking' && last?.type === 'thinking') last.thinking += delta;
  else content.push(type === 'text' ? { type, text: delta } : { type, thinking: delta });
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
