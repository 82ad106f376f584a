// What a turn needs to know before the model is asked for the first time: which model, which system prompt, which context
// around the message, which tools. Plugins have their say at each, in this order; the last one may stop the turn.
import type { Entry, ImageBlock, RunEnd, TextBlock, ThinkingLevel, UserMessage } from '@tenon/protocol';
import { unknownModel } from '../model/models.ts';
import type { Model, Models } from '../model/types.ts';
import type { Candidate } from './ask-model.ts';
import { commandGuidance } from './plugin-commands.ts';
import { isOffered } from './plugin-tools.ts';
import { messagesOf, systemPrompt, textOf } from './prompt.ts';
import { makeTools } from './tool-factories.ts';
import type { Tool } from './tools/tool.ts';
import { consult, hookContextOf, type Turn } from './turn-context.ts';

export interface Prompt {
  readonly system: string;
  /** The chosen model and those that are asked when it stays away. */
  readonly candidates: readonly Candidate[];
  /** The first of them that is there. */
  readonly model: Model | undefined;
  readonly thinking: ThinkingLevel;
  readonly tools: readonly Tool[];
  /** The message of the user that the context belongs to, and the same with its context. */
  readonly told?: { readonly entryId: string; readonly content: (TextBlock | ImageBlock)[] };
}

/** Those of the turn that are active now: extensions narrow them also while it runs. */
export function activeTools({ deps: { plugins }, session }: Turn, { tools }: Pick<Prompt, 'tools'>): readonly Tool[] {
  return plugins ? tools.filter(({ name }) => plugins.isActive(name, session.key)) : tools;
}

export async function preparePrompt(turn: Turn): Promise<Prompt | RunEnd> {
  const { hooks, models } = turn.deps;
  const message = lastUserMessage(turn);
  const prompt = message ? textOf(message.message.content) : '';
  // The path is in memory; a list of messages is only made for those who want one.
  const wantsMessages = hooks.has('agent_turn_prepare') || hooks.has('before_prompt_build') || hooks.has('before_agent_run');
  const messages = wantsMessages ? messagesOf(turn.path) : [];

  const images = message?.message.content.filter((block) => block.type === 'image') ?? [];
  const choice = await consult(turn, 'before_model_resolve', {
    ...hookContextOf(turn),
    prompt,
    ...(images.length > 0 ? { attachments: images.map(({ mimeType }) => ({ mimeType })) } : {}),
  });
  const override = overrideOf(choice.event, models);
  const chosen = override ?? turn.options.model ?? turn.session.model ?? turn.agent.model;
  const candidates = [...new Set([chosen, ...turn.agent.fallbacks])].map((id): Candidate => {
    const model = models.get(id);
    return model ? { model } : { missing: unknownModel(id, models) };
  });
  const model = candidates.flatMap((each) => ('model' in each ? [each.model] : []))[0];
  const context = hookContextOf(turn, model);

  // On either side of the message: what was queued for the turn comes first, then what each hook adds.
  const around: Around = { before: [], after: [] };
  for (const { placement, text } of turn.injections) (placement === 'prepend_context' ? around.before : around.after).push(text);
  const prepared = await consult(turn, 'agent_turn_prepare', { ...context, prompt, messages, queuedInjections: [...turn.injections] });
  if (prepared.kind === 'done') collect(around, prepared.event);
  if (turn.run.trigger === 'heartbeat') {
    const beat = await consult(turn, 'heartbeat_prompt_contribution', context);
    if (beat.kind === 'done') collect(around, beat.event);
  }
  const place = { sessionKey: turn.session.key, agentId: turn.agent.id, workspace: turn.workspace, runId: turn.run.runId };
  const made = await makeTools(turn.deps.plugins, place, turn.agent, turn.control.waits);
  const offered = [...turn.deps.tools.filter((tool) => isOffered(tool, turn.agent)), ...made];
  const basis = systemPrompt({
    agentName: turn.agent.name,
    workspace: turn.workspace,
    sandbox: (await turn.deps.sandbox()).kind === 'none' ? 'Programs run without a sandbox.' : 'Programs run in a sandbox.',
    today: new Date(turn.deps.clock.now()).toISOString().slice(0, 10),
    agentPrompt: turn.agent.prompt,
    guidance: commandGuidance(turn.deps.plugins),
    extra: turn.options.extraSystemPrompt,
  });
  const built = await consult(turn, 'before_prompt_build', {
    ...context,
    prompt,
    ...(message ? { currentUserMessage: message.message, currentUserMessageId: message.entryId } : {}),
    messages,
    systemPrompt: basis,
  });
  let system = basis;
  let tools = offered;
  if (built.kind === 'done') {
    const { systemPrompt: text, prependSystemContext, appendSystemContext, toolsAllow } = built.event;
    system = [prependSystemContext, text, appendSystemContext].filter((part) => part !== undefined && part !== '').join('\n\n');
    if (toolsAllow) tools = offered.filter((tool) => toolsAllow.includes(tool.name));
    collect(around, built.event);
  }

  const gate = await consult(turn, 'before_agent_run', { ...context, prompt, messages, systemPrompt: system });
  if (gate.kind === 'refused') return { kind: 'refused', code: gate.plugin, reason: gate.reason };
  return {
    system,
    candidates,
    model,
    thinking: turn.options.thinking ?? turn.session.thinking ?? turn.agent.thinking,
    tools,
    ...(message && around.before.length + around.after.length > 0
      ? { told: { entryId: message.entryId, content: surround(message.message, around) } }
      : {}),
  };
}

/** A model by its id, or the first of a provider. */
function overrideOf(
  { modelOverride, providerOverride }: { modelOverride?: string; providerOverride?: string },
  models: Models,
): string | undefined {
  if (modelOverride !== undefined || providerOverride === undefined) return modelOverride;
  return models.list().find((model) => model.provider === providerOverride)?.id ?? providerOverride;
}

interface Around {
  readonly before: string[];
  readonly after: string[];
}

function collect(around: Around, { prependContext, appendContext }: { prependContext?: string; appendContext?: string }): void {
  if (prependContext) around.before.push(prependContext);
  if (appendContext) around.after.push(appendContext);
}

function surround(message: UserMessage, { before, after }: Around): (TextBlock | ImageBlock)[] {
  const block = (text: string): TextBlock => ({ type: 'text', text });
  return [...before.map(block), ...message.content, ...after.map(block)];
}

/** Of those that the turn began with: what came while it ran has no context of its own, also when the turn goes on in another life. */
function lastUserMessage({ path, run }: Turn): { entryId: string; message: UserMessage } | undefined {
  const isUser = (entry: Entry) => entry.type === 'message' && entry.message.role === 'user';
  const answered = path.findIndex((entry) => entry.runId === run.runId && entry.type === 'message' && entry.message.role === 'assistant');
  const last = (answered === -1 ? undefined : path.slice(0, answered).findLast(isUser)) ?? path.findLast(isUser);
  return last?.type === 'message' && last.message.role === 'user' ? { entryId: last.id, message: last.message } : undefined;
}
