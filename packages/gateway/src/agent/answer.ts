// One answer of the model, from the question to the transcript. When the window is full, what was said before is summed
// up first; what had arrived before a stop or a failure is kept, so the transcript has what people saw.
import type { AssistantMessage, Entry, Message, RunEnd, ToolCallBlock } from '@tenon/protocol';
import { faultpoint } from '../kernel/fault.ts';
import { randomId } from '../kernel/ids.ts';
import type { Model, ModelRequest } from '../model/types.ts';
import { askModel, type Said } from './ask-model.ts';
import { compact } from './compact.ts';
import { isFull } from './compaction.ts';
import { callsOf, estimateTokens, messagesOf, textOf, withoutImages } from './prompt.ts';
import { activeTools, type Prompt } from './prompt-hooks.ts';
import { append, consult, hookContextOf, Parked, type Turn } from './turn-context.ts';

/** How often one answer may make room for itself. */
const MAX_COMPACTIONS = 2;

/** Undefined when the turn goes on: there is an answer in the transcript, perhaps with calls. */
export async function answer(turn: Turn, prompt: Prompt): Promise<RunEnd | undefined> {
  const { deps, control } = turn;
  for (let compactions = 0; ; compactions++) {
    const window = prompt.model?.info.contextWindow ?? Number.POSITIVE_INFINITY;
    if (compactions < MAX_COMPACTIONS && isFull(estimateTokens(messagesOf(turn.path), prompt.system), window)) {
      await compact(turn, { reason: 'threshold', model: prompt.model });
    }
    faultpoint('turn.before-model');
    const calls = watchCalls(turn, prompt);
    const outcome = await askModel(
      prompt.candidates,
      { clock: deps.clock, random: deps.random, attempts: deps.bounds.attempts, request: calls.request, said: calls.said },
      control.waits,
    );
    faultpoint('turn.model-answered');
    switch (outcome.kind) {
      case 'answered':
        return write(turn, outcome.model, outcome.message, calls.callId());
      case 'overflow':
        if (compactions < MAX_COMPACTIONS && (await compact(turn, { reason: 'overflow', model: outcome.model }))) continue;
        return fail('context_overflow', 'The conversation is larger than the window of the model, and could not be summed up further');
      case 'stopped':
        if (control.isParked()) throw new Parked();
        await keepPartial(turn, outcome.partial, 'aborted', control.reason);
        return { kind: 'aborted', reason: control.reason };
      case 'failed':
        await keepPartial(turn, outcome.partial, 'error', outcome.failure.message);
        return fail(outcome.failure.kind, outcome.failure.message);
    }
  }
}

/** The answer, with the calls in it, in one commit. */
async function write(turn: Turn, model: Model, said: AssistantMessage, callId: string): Promise<RunEnd | undefined> {
  const { hooks } = turn.deps;
  const context = hookContextOf(turn, model);
  turn.steps++;
  turn.costUsd += said.usage.costUsd;
  if (hooks.has('llm_output')) {
    hooks.run('llm_output', {
      ...context,
      step: turn.steps,
      callId,
      provider: model.info.provider,
      model: model.info.id,
      message: said,
      assistantTexts: said.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
      usage: said.usage,
    });
  }
  const checked = await hooks.run('before_message_write', { ...context, message: said }, { signal: turn.control.waits });
  const usage = { model: model.info.id, usage: said.usage };
  if (checked.kind === 'refused') {
    await append(turn, {
      drafts: [{ type: 'custom', customType: 'withheld', data: { plugin: checked.plugin, reason: checked.reason } }],
      usage,
    });
    return { kind: 'refused', code: checked.plugin, reason: checked.reason };
  }
  const message = (checked.kind === 'done' ? checked.event.message : said) as AssistantMessage;
  await append(turn, { drafts: [{ type: 'message', message }], calls: callsOf(message).map(toNewCall), usage });
  faultpoint('turn.answer-written');
  // An empty answer would be asked for again and again.
  if (callsOf(message).length === 0 && textOf(message.content) === '' && message.stopReason === 'length')
    return {
      kind: 'failed',
      code: 'bad_output',
      reason: `The model "${model.info.id}" ran out of room before it said anything`,
    };
  return undefined;
}

function toNewCall(call: ToolCallBlock) {
  return { callId: call.id, name: call.name, args: call.arguments };
}

/** Text only: a call that was cut off is not one. */
async function keepPartial(turn: Turn, partial: AssistantMessage | undefined, stopReason: 'aborted' | 'error', why: string): Promise<void> {
  const content = partial?.content.filter((block) => block.type === 'text' && block.text !== '') ?? [];
  if (!partial || content.length === 0) return;
  const cut: AssistantMessage = { ...partial, content, stopReason, errorMessage: why };
  const checked = await turn.deps.hooks.run('before_message_write', { ...hookContextOf(turn), message: cut });
  if (checked.kind === 'refused') return;
  const message = checked.event.message as AssistantMessage;
  await append(turn, { drafts: [{ type: 'message', message }], usage: { model: partial.model, usage: partial.usage } });
  faultpoint('turn.partial-kept');
}

function fail(code: string, reason: string): RunEnd {
  return { kind: 'failed', code, reason };
}

/** The request for each attempt, and what hooks and watchers are told of it. */
function watchCalls(turn: Turn, prompt: Prompt): { request: (model: Model) => Promise<ModelRequest>; said: Said; callId: () => string } {
  const { deps, voice } = turn;
  const { hooks } = deps;
  let attempt = 0;
  let callId = '';

  async function request(model: Model): Promise<ModelRequest> {
    const context = hookContextOf(turn, model);
    attempt++;
    callId = randomId();
    let messages: Message[] = messagesOf(withTold(turn.path, prompt.told));
    if (!model.info.images) messages = withoutImages(messages);
    const seen = await consult(turn, 'context', { ...context, messages });
    if (seen.kind === 'done') messages = seen.event.messages;
    const call = { callId, provider: model.info.provider, model: model.info.id };
    const active = activeTools(turn, prompt);
    const tools = active.map((tool) => tool.name);
    const asked = await consult(turn, 'before_provider_request', {
      ...context,
      ...call,
      system: prompt.system,
      thinking: prompt.thinking,
      messageCount: messages.length,
      tools,
    });
    const { system, thinking, maxOutputTokens } = asked.kind === 'done' ? asked.event : { ...prompt, maxOutputTokens: undefined };
    if (hooks.has('llm_input')) hooks.run('llm_input', { ...context, ...call, systemPrompt: system, messages, tools });
    hooks.run('model_call_started', {
      ...context,
      ...call,
      step: turn.steps + 1,
      attempt,
      messageCount: messages.length,
      toolCount: tools.length,
    });
    return {
      system,
      messages,
      tools: active.map(({ name, description, parameters }) => ({ name, description, parameters })),
      thinking,
      cacheKey: turn.session.sessionId,
      about: { sessionKey: turn.session.key, agentId: turn.agent.id, runId: turn.run.runId },
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    };
  }

  let firstTokenMs: number | undefined;
  let askedAt = 0;
  const heard = () => {
    firstTokenMs ??= deps.clock.monotonic() - askedAt;
  };
  const said: Said = {
    asking(model) {
      firstTokenMs = undefined;
      askedAt = deps.clock.monotonic();
      voice.phase('model', model.info.id);
    },
    text(delta) {
      heard();
      voice.text(delta);
    },
    thinking(delta) {
      heard();
      voice.thinking(delta);
    },
    toolBegun(id, name) {
      heard();
      voice.tool(id, name, 'writing');
    },
    retrying(why, discarded) {
      if (discarded) voice.phase('discarded');
      voice.phase('retry', why);
      deps.log.warn({ runId: turn.run.runId, why }, 'a model is asked again');
    },
    fallingBack(model, why, discarded) {
      if (discarded) voice.phase('discarded');
      voice.phase('fallback', `${model.info.id}: ${why}`);
      deps.log.warn({ runId: turn.run.runId, model: model.info.id, why }, 'another model is asked instead');
    },
    ended(model, outcome, durationMs, usage) {
      hooks.run('model_call_ended', {
        ...hookContextOf(turn, model),
        callId,
        provider: model.info.provider,
        model: model.info.id,
        attempt,
        outcome: outcome === 'ok' ? 'completed' : outcome === 'aborted' ? 'aborted' : 'failed',
        ...(outcome === 'ok' ? {} : { failureKind: outcome }),
        durationMs,
        ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
        ...(usage ? { usage } : {}),
      });
    },
  };
  return { request, said, callId: () => callId };
}

/** The context of this turn stands around its message, and is not kept. */
function withTold(path: readonly Entry[], told: Prompt['told']): readonly Entry[] {
  if (!told) return path;
  return path.map((entry) =>
    entry.id === told.entryId && entry.type === 'message' && entry.message.role === 'user'
      ? { ...entry, message: { ...entry.message, content: told.content } }
      : entry,
  );
}
