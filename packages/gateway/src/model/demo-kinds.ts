// What the demo model can be asked about Tenon and its own state: ten kinds of question, each a row with an example and
// the function that answers it from the facts. Help, the page and the guide show the same rows.
import type { Message, ModelInfo, PermissionMode } from '@tenon/protocol';
import { permissionModes } from '@tenon/protocol';
import { readAttachedNote } from './attached-note.ts';
import type { ToolDeclaration } from './types.ts';

/** What the gateway tells the demo model about itself, at the time of the question. */
export interface DemoFacts {
  readonly version: string;
  /** Wall time. */
  readonly startedAt: number;
  /** Such as `http://127.0.0.1:18789`. */
  readonly address: string;
  /** Where models are configured. */
  readonly configFile: string;
  /** `sqlite` or `postgres`. */
  readonly store: string;
  /** The latest first, one page at most. */
  readonly sessions: readonly { readonly key: string; readonly title?: string | undefined }[];
  readonly moreSessions: boolean;
  readonly pendingApprovals: number;
  readonly permissions: PermissionMode;
  /** How programs run, in one sentence. */
  readonly sandbox: string;
}

export interface DemoQuestion {
  readonly facts: DemoFacts;
  readonly models: readonly ModelInfo[];
  readonly tools: readonly ToolDeclaration[];
  readonly messages: readonly Message[];
  readonly now: number;
}

export interface DemoKind {
  readonly name: string;
  readonly example: string;
  readonly matches: RegExp;
  answer(question: DemoQuestion): string;
}

export const demoKinds: readonly DemoKind[] = [
  {
    name: 'What Tenon is',
    example: 'What are you?',
    matches: /\b(what|who) (are you|is tenon|is this)\b|\btell me about (tenon|yourself)\b|\babout tenon\b/i,
    answer: ({ facts }) =>
      `I am the demo model of Tenon ${facts.version}. Tenon is a gateway for AI agents that runs on your own machine: people talk to an agent through it from a page, a terminal or a program, and it keeps every conversation in its store. I need no key and no network, and I give the same answer each time. I am a table of answers, not a language model: add a real one for real work.`,
  },
  {
    name: 'How to add a real model',
    example: 'How do I add a real model?',
    matches:
      /\b(add|use|connect|configure|set ?up|install|switch to|get)\b.{0,40}\b(model|openai|anthropic|claude|gpt|google|gemini|ollama|key|provider)\b|\breal model\b/is,
    answer: ({ facts }) =>
      `Put a model into ${facts.configFile} and restart the gateway. With a key in the environment:\n\n\`\`\`toml\n[[models]]\nid = "claude-sonnet-4-5"\nprovider = "anthropic"     # openai, google and openai-compatible work the same way\nkeyEnv = "ANTHROPIC_API_KEY"\n\`\`\`\n\nOr one on your own machine, without a key:\n\n\`\`\`toml\n[[models]]\nid = "qwen3"\nprovider = "openai-compatible"\nbaseUrl = "http://127.0.0.1:11434/v1"\n\`\`\`\n\nThe first model of the file is then used where nothing else is chosen; \`/model\` changes it for one session.`,
  },
  {
    name: 'Which models there are',
    example: 'Which model is this?',
    matches: /\b(what|which|list|show)\b.{0,30}\bmodels?\b|\bmodels?\b.{0,20}\b(available|configured|are there)\b/is,
    answer: ({ models }) => {
      const rows = models.map((each) => {
        const state = each.usable ? (each.isDefault ? 'used where nothing else is chosen' : 'ready') : (each.reason ?? 'not usable');
        return `- \`${each.id}\` (${each.provider}): ${state}`;
      });
      return `You are talking to \`demo\`, which is built in. ${plural(models.length, 'model')} can be chosen with \`/model\`:\n\n${rows.join('\n')}`;
    },
  },
  {
    name: 'Sessions',
    example: 'Which sessions are there?',
    matches: /\b(sessions?|chats|conversations)\b/i,
    answer: ({ facts }) => {
      if (facts.sessions.length === 0) return 'There is no session yet.';
      const shown = facts.sessions.slice(0, 10).map(({ key, title }) => `- \`${key}\`${title ? ` ${title}` : ''}`);
      const count = `${plural(facts.sessions.length, 'session')}${facts.moreSessions ? ' and more' : ''}`;
      const rest = facts.sessions.length > 10 || facts.moreSessions ? '\n\nThese are the latest ten.' : '';
      return `There ${facts.sessions.length === 1 && !facts.moreSessions ? 'is' : 'are'} ${count}:\n\n${shown.join('\n')}${rest}`;
    },
  },
  {
    name: 'How the gateway is',
    example: 'What is your status?',
    matches: /\b(status|uptime|health|how long|version|running|how are you)\b/i,
    answer: ({ facts, now }) =>
      `Tenon ${facts.version} has been running for ${duration(now - facts.startedAt)} at ${facts.address}, with its data in ${facts.store === 'postgres' ? 'PostgreSQL' : 'an SQLite file'}. ${plural(facts.sessions.length, 'session')}${facts.moreSessions ? ' and more' : ''}, ${plural(facts.pendingApprovals, 'question')} waiting for your approval.`,
  },
  {
    name: 'Approvals and permissions',
    example: 'What needs my approval?',
    matches: /\b(approvals?|approve|permissions?|allowed|sandbox|safe|trust)\b/i,
    answer: ({ facts }) => {
      const waiting =
        facts.pendingApprovals === 0 ? 'Nothing waits for you now.' : `${plural(facts.pendingApprovals, 'question')} waiting for you now.`;
      return `The permissions are \`${facts.permissions}\`: ${lowerFirst(permissionModes[facts.permissions])} A question shows exactly what would be done, and your answer holds for exactly that: once, always, or no. ${facts.sandbox} ${waiting}`;
    },
  },
  {
    name: 'Tools',
    example: 'Which tools do you have?',
    matches: /\btools?\b/i,
    answer: ({ tools }) => {
      if (tools.length === 0) return 'I have no tools in this session.';
      const rows = tools.map(({ name, description }) => `- \`${name}\`: ${firstSentence(description)}`);
      return `I have ${plural(tools.length, 'tool')} here:\n\n${rows.join('\n')}`;
    },
  },
  {
    name: 'Plugins and extensions',
    example: 'How do plugins work?',
    matches: /\b(plugins?|extensions?|extend|hooks?)\b/i,
    answer: () =>
      'A plugin adds tools, commands, panels and rules, and answers named hooks: before a tool runs, when the prompt is put together, and so on. None runs before you enable it and grant what it asks for: `tenon plugin ls` lists those that were found, `tenon plugin enable <id>` asks you. What a plugin offers as a tool I can call when you say so: `Call <tool> {"field": "value"}`.',
  },
  {
    name: 'Our conversation so far',
    example: 'What did I say so far?',
    matches: /\b(what (did|have) (i|we)|so far|our conversation|remember|history|said before|earlier)\b/i,
    answer: ({ messages }) => {
      const said = saidBefore(messages);
      if (said.length === 0) return 'That is the first thing you said to me here.';
      const rows = said.slice(-8).map((text) => `- ${quote(text)}`);
      return `Before this you said ${plural(said.length, 'thing')}${said.length > 8 ? ', the last eight being' : ''}:\n\n${rows.join('\n')}`;
    },
  },
  {
    name: 'The time',
    example: 'What time is it?',
    matches: /\b(what|tell).{0,20}\b(time|date|day)\b/i,
    answer: ({ now }) => `On the clock of the gateway it is ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
  },
];

export function textOf(message: Message): string {
  return textsOf(message).join('\n').trim();
}

/** Without the names of files that came with it: nobody said these. */
export function textsOf(message: Message): string[] {
  const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text.trim()] : []));
  return message.role === 'user' ? texts.filter((text) => readAttachedNote(text) === undefined) : texts;
}

function saidBefore(messages: readonly Message[]): string[] {
  const said = messages.filter((message) => message.role === 'user').map(textOf);
  return said.slice(0, -1).filter((text) => text !== '');
}

export function quote(text: string, most = 160): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function firstSentence(text: string): string {
  return quote(text.match(/^.*?[.!?](?=\s|$)/s)?.[0] ?? text);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return plural(seconds, 'second');
  if (seconds < 3600) return plural(Math.floor(seconds / 60), 'minute');
  if (seconds < 86_400) return `${plural(Math.floor(seconds / 3600), 'hour')} and ${plural(Math.floor((seconds % 3600) / 60), 'minute')}`;
  return `${plural(Math.floor(seconds / 86_400), 'day')} and ${plural(Math.floor((seconds % 86_400) / 3600), 'hour')}`;
}
