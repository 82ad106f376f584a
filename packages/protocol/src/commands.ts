// Every slash command. The page, the terminal and the chat take them from here; a message that begins with one of these
// words is a command and is not told to the agent.
import { Type, type Static } from 'typebox';
import { OwnerId } from './names.ts';
import type { Scope } from './scopes.ts';

interface CommandSpec {
  readonly summary: string;
  /** What may follow, for people. */
  readonly usage: string;
  /** Beside the scope of the method that carries it. */
  readonly scope: Scope;
}

export const commands = {
  help: { summary: 'Say what can be done here.', usage: '/help', scope: 'operator.read' },
  commands: { summary: 'List the commands.', usage: '/commands', scope: 'operator.read' },
  status: { summary: 'Say how this session and the gateway are.', usage: '/status', scope: 'operator.read' },
  new: { summary: 'Begin a new session.', usage: '/new [title]', scope: 'operator.write' },
  reset: { summary: 'Start this session afresh.', usage: '/reset', scope: 'operator.write' },
  model: { summary: 'Show or choose the model of this session.', usage: '/model [id | default]', scope: 'operator.write' },
  think: {
    summary: 'Show or set how long the model thinks.',
    usage: '/think [off | minimal | low | medium | high | xhigh | default]',
    scope: 'operator.write',
  },
  compact: { summary: 'Sum up the older messages to make room.', usage: '/compact [what to keep in mind]', scope: 'operator.write' },
  stop: { summary: 'Stop the running turn.', usage: '/stop', scope: 'operator.write' },
  approve: { summary: 'Show or answer what waits for you.', usage: '/approve [allow | deny | always] [id]', scope: 'operator.approvals' },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof commands;
export const commandNames = Object.keys(commands) as CommandName[];

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

/**
 * The command that a text is, if it is one: its word and what follows. The word may name whose command it is, as in `/notes:add`. A
 * space in front makes it plain text.
 */
export function parseCommand(text: string): { readonly name: string; readonly rest: string } | undefined {
  const match = /^\/((?:[a-z0-9][a-z0-9_-]{0,63}:)?[a-z][a-z0-9_-]{0,63})(?:\s+([\s\S]*))?$/.exec(text.trimEnd());
  return match ? { name: match[1]!, rest: (match[2] ?? '').trim() } : undefined;
}

const closed = { additionalProperties: false };

export const CommandInfo = Type.Object(
  {
    name: Type.String(),
    summary: Type.String(),
    usage: Type.String(),
    /** All that it needs, with spaces between. */
    scope: Type.String(),
    source: Type.Enum(['core', 'plugin']),
    pluginId: Type.Optional(OwnerId),
    aliases: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);
export type CommandInfo = Static<typeof CommandInfo>;
