// The model that is always there: no key, no network, the same answer each time. It answers ten kinds of question about
// Tenon from its state, and really calls tools when asked to, so that a first run shows everything.
import {
  DEMO_MODEL_ID,
  type AssistantMessage,
  type JsonObject,
  type Message,
  type ModelInfo,
  type ToolResultMessage,
} from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { type AttachedFile, readAttachedNote } from './attached-note.ts';
import { demoKinds, plural, quote, textOf, textsOf, type DemoFacts } from './demo-kinds.ts';
import { demoTasks, findTask, tellResult } from './demo-tasks.ts';
import { noUsage } from './message.ts';
import type { Model, ModelEvent, ModelRequest } from './types.ts';

export interface DemoOptions {
  readonly clock: Clock;
  facts(): DemoFacts | Promise<DemoFacts>;
  models(): readonly ModelInfo[];
  readonly isDefault: boolean;
  /** Between two words, so that people see an answer being written. 0: none. */
  readonly paceMs?: number;
}

const DEFAULT_PACE_MS = 12;
const CONTEXT_WINDOW = 32_768;

export function createDemoModel({ clock, facts, models, isDefault, paceMs = DEFAULT_PACE_MS }: DemoOptions): Model {
  const info: ModelInfo = {
    id: DEMO_MODEL_ID,
    provider: 'demo',
    name: 'Demo',
    contextWindow: CONTEXT_WINDOW,
    images: false,
    thinking: false,
    usable: true,
    isDefault,
  };
  let calls = 0;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    let said = '';
    try {
      const plan = await planAnswer(request, { facts, models, now: clock.now() });
      for (const word of plan.text.match(/\s*\S+\s*/g) ?? []) {
        if (signal.aborted) return yield stopped(said);
        said += word;
        yield { type: 'text', delta: word };
        if (paceMs > 0) await pause(clock, paceMs, signal);
      }
      if (signal.aborted) return yield stopped(said);
      const content: AssistantMessage['content'] = said === '' ? [] : [{ type: 'text', text: said }];
      if (plan.call) {
        const id = `demo_${clock.now().toString(36)}_${++calls}`;
        content.push({ type: 'toolCall', id, name: plan.call.tool, arguments: plan.call.args });
        yield { type: 'tool', callId: id, name: plan.call.tool };
      }
      yield { type: 'end', message: message(content, plan.call ? 'toolUse' : 'stop', request) };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      yield { type: 'failed', failure: { kind: 'bad_output', message: `Model "${info.id}": ${quote(why)}` } };
    }
  }

  function message(
    content: AssistantMessage['content'],
    stopReason: AssistantMessage['stopReason'],
    request: ModelRequest,
  ): AssistantMessage {
    const usage = { ...noUsage, input: tokens(request), output: Math.ceil(JSON.stringify(content).length / 4) };
    return { role: 'assistant', content, provider: info.provider, model: info.id, usage, stopReason, timestamp: clock.now() };
  }

  function stopped(said: string): ModelEvent {
    const partial: AssistantMessage = {
      role: 'assistant',
      content: [{ type: 'text', text: said }],
      provider: info.provider,
      model: info.id,
      usage: noUsage,
      stopReason: 'aborted',
      timestamp: clock.now(),
    };
    return { type: 'failed', failure: { kind: 'aborted', message: 'Stopped' }, ...(said === '' ? {} : { partial }) };
  }

  return { info, stream };
}

interface Plan {
  readonly text: string;
  readonly call?: { readonly tool: string; readonly args: JsonObject };
}

interface Sources {
  facts(): DemoFacts | Promise<DemoFacts>;
  models(): readonly ModelInfo[];
  readonly now: number;
}

async function planAnswer({ messages, tools }: ModelRequest, { facts, models, now }: Sources): Promise<Plan> {
  const results = lastResults(messages);
  if (results.length > 0)
    return { text: results.map((result) => tellResult(result, argumentsOf(messages, result.toolCallId))).join('\n\n') };
  const asked = messages.findLast((each) => each.role === 'user');
  const text = asked ? textOf(asked) : '';
  const files = asked ? filesOf(asked) : [];
  if (files.length === 0 && /^(sum up|summari[sz]e)\b/i.test(text)) return { text: summary(messages, text) };
  // What plugins add stands around the message, each in a text of its own: the person's is looked for first from the end.
  const texts = asked ? textsOf(asked).toReversed() : [];
  const found = firstOf(texts, findTask);
  if (found) {
    const { tool, args, wrong } = found;
    if (wrong !== undefined) return { text: wrong };
    if (!tools.some(({ name }) => name === tool)) return { text: `I would use the tool \`${tool}\` for that, but I do not have it here.` };
    return { text: intent(tool, args), call: { tool, args } };
  }
  if (asked?.role === 'user' && asked.from !== undefined) return { text: goOn(asked.from, textsOf(asked)) };
  if (files.length > 0) return lookInto(files, tools);
  const kind = firstOf(texts, (each) => demoKinds.find(({ matches }) => matches.test(each)));
  return { text: kind ? kind.answer({ facts: await facts(), models: models(), tools, messages, now }) : help(text) };
}

function firstOf<Found>(texts: readonly string[], find: (text: string) => Found | undefined): Found | undefined {
  for (const text of texts) {
    const found = find(text);
    if (found) return found;
  }
  return undefined;
}

function filesOf({ content }: Message): AttachedFile[] {
  return content.flatMap((block) => (block.type === 'text' ? (readAttachedNote(block.text.trim()) ?? []) : []));
}

const READS = 'attachment_read';

/** Of files that came with a message, the first that is text is read; the others can only be named. */
function lookInto(files: readonly AttachedFile[], tools: ModelRequest['tools']): Plan {
  const rows = files.map(({ name, mime, bytes }) => `- \`${quote(name)}\` (${mime}, ${plural(bytes, 'byte')})`);
  const got = `You gave me ${plural(files.length, 'file')}:\n\n${rows.join('\n')}\n\n`;
  const readable = files.find(({ mime }) => mime.startsWith('text/'));
  if (readable && tools.some(({ name }) => name === READS))
    return { text: `${got}Reading \`${quote(readable.name)}\`.`, call: { tool: READS, args: { handle: readable.handle } } };
  return { text: `${got}I can read only text and see no pictures; a real model may. How to add one: "How do I add a real model?"` };
}

function intent(tool: string, args: JsonObject): string {
  const subject = String(args.command ?? args.path ?? tool);
  const verbs: Readonly<Record<string, string>> = { ls: 'Looking into', read: 'Reading', write: 'Writing', exec: 'Running' };
  return `${verbs[tool] ?? 'Calling'} \`${quote(subject)}\`.`;
}

/** After a plugin has asked for the turn: what it told, in its own words. */
function goOn(plugin: string, texts: readonly string[]): string {
  const told = texts.filter((text) => text !== '' && !text.startsWith('(No person wrote this:')).map((text) => `- ${quote(text)}`);
  return `I go on, because ${plugin} asks for it.${told.length === 0 ? '' : ` I was told:\n\n${told.join('\n')}`}`;
}

function help(text: string): string {
  const asked = /^(help|hi|hello|hey|\?)?[.!? ]*$/i.test(text) || /\b(help|what can you do|what can i (ask|do))\b/i.test(text);
  const opening = asked ? 'I am the demo model of Tenon.' : 'I am the demo model of Tenon and did not understand that.';
  const kinds = demoKinds.map(({ name, example }) => `- ${name}: "${example}"`);
  const tasks = demoTasks.map(({ name, example }) => `- ${name}: "${example}"`);
  return `${opening} You can ask me about\n\n${kinds.join('\n')}\n\nand I do these things with real tools:\n\n${tasks.join('\n')}\n\nFor anything else, add a real model: "How do I add a real model?"`;
}

// What a compaction asks for, too: the conversation in a few lines. It is in the messages, or told inside the question.
function summary(messages: readonly Message[], text: string): string {
  const before = messages
    .filter((each) => each.role === 'user')
    .map(textOf)
    .slice(0, -1);
  const told = Array.from(text.matchAll(/^User: (.+)$/gm), ([, said]) => said ?? '');
  const used = messages.flatMap((each) => (each.role === 'toolResult' ? [each.toolName] : []));
  const called = Array.from(text.matchAll(/^Calls (\S+)/gm), ([, name]) => name ?? '');
  const said = [...before, ...told].slice(-20).map((each) => `- ${quote(each)}`);
  return `The person said:\n${said.join('\n') || '- nothing yet'}\n\nTools that were used: ${[...new Set([...used, ...called])].join(', ') || 'none'}.`;
}

function lastResults(messages: readonly Message[]): ToolResultMessage[] {
  const results: ToolResultMessage[] = [];
  for (const message of messages.toReversed()) {
    if (message.role !== 'toolResult') break;
    results.unshift(message);
  }
  return results;
}

function argumentsOf(messages: readonly Message[], callId: string): JsonObject {
  for (const message of messages.toReversed()) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) if (block.type === 'toolCall' && block.id === callId) return block.arguments;
  }
  return {};
}

function tokens({ system, messages, tools }: ModelRequest): number {
  return Math.ceil((system.length + JSON.stringify(messages).length + JSON.stringify(tools).length) / 4);
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
