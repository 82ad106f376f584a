// What a typed line means. The rules are pure, so that they are the same on a terminal and through a pipe.
import { type CommandInfo, limits, parseCommand } from '@tenon/protocol';
import { nearest } from '../../kernel/nearest.ts';

export type Input =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'quit' }
  /** What plugins show is pressed, or shown. */
  | { readonly kind: 'press'; readonly rest: string }
  | { readonly kind: 'panel'; readonly rest: string }
  /** A file goes with the next message, or none does. */
  | { readonly kind: 'attach'; readonly rest: string }
  | { readonly kind: 'detach'; readonly rest: string }
  | { readonly kind: 'command'; readonly text: string }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'wrong'; readonly reason: string };

/** Only this side of the wire knows them. */
export const localCommands = ['quit', 'exit', 'press', 'panel', 'attach', 'detach'] as const;
const withRest: readonly string[] = ['press', 'panel', 'attach', 'detach'];

/** `known`: the commands of the gateway; without them every word that looks like one is left to the gateway. */
export function readInput(text: string, known: readonly Pick<CommandInfo, 'name' | 'pluginId'>[] | undefined): Input {
  if (text.trim() === '') return { kind: 'nothing' };
  if (text.length > limits.messageChars.value) return { kind: 'wrong', reason: tooLong(text.length) };
  // A space in front makes a message of what looks like a command.
  const command = text.startsWith(' ') ? undefined : parseCommand(text);
  if (command === undefined) return { kind: 'message', text };
  const names = (known ?? []).flatMap(({ name, pluginId }) => (pluginId === undefined ? name : [name, `${pluginId}:${name}`]));
  if (command.name === 'quit' || command.name === 'exit') return { kind: 'quit' };
  // A plugin that calls a command so has it.
  if (withRest.includes(command.name) && !names.includes(command.name))
    return { kind: command.name as 'press' | 'panel' | 'attach' | 'detach', rest: command.rest };
  if (known === undefined) return { kind: 'message', text };
  if (names.includes(command.name)) return { kind: 'command', text: text.trim() };
  const similar = nearest(command.name, [...names, ...localCommands]);
  const advice = similar === undefined ? '/commands lists them.' : `did you mean /${similar}?`;
  return { kind: 'wrong', reason: `There is no command /${command.name}: ${advice} To say it to the agent, begin with a space.` };
}

export function tooLong(length: number): string {
  return `The message has ${length} characters; ${limits.messageChars.value} are allowed. Put it into a file of the workspace and name the file.`;
}

export interface LineJoiner {
  /**
   * The whole text, or nothing while a line says with a backslash at its end that more follows. `pasted`: more follows,
   * whatever the line says.
   */
  add(line: string, pasted?: boolean): string | undefined;
  /** What was begun, and forgets it. */
  take(): string;
  readonly isOpen: boolean;
  readonly lines: readonly string[];
}

export function createLineJoiner(): LineJoiner {
  let begun: string[] = [];
  return {
    get isOpen() {
      return begun.length > 0;
    },
    get lines() {
      return begun;
    },
    add(line, pasted = false) {
      // Two backslashes are one that was meant.
      const isMarked = /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
      const continues = pasted || isMarked;
      begun.push(pasted ? line : isMarked ? line.slice(0, -1) : line.replace(/\\\\$/, '\\'));
      if (continues && sizeOf(begun) <= limits.messageChars.value) return undefined;
      return this.take();
    },
    take() {
      const text = begun.join('\n');
      begun = [];
      return text;
    },
  };
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

/** What Tab offers: the commands that begin like the line, and what may follow one that is whole. */
export function completeLine(line: string, known: readonly Pick<CommandInfo, 'name' | 'usage'>[]): [found: string[], part: string] {
  const [, name] = /^\/([a-z0-9_:-]*)$/.exec(line) ?? [];
  if (name !== undefined) {
    const names = [...known.map((each) => each.name), ...localCommands].toSorted();
    return [names.filter((each) => each.startsWith(name)).map((each) => `/${each} `), line];
  }
  const [, command, part] = /^\/([a-z][a-z0-9_-]*) +(\S*)$/.exec(line) ?? [];
  const usage = known.find((each) => each.name === command)?.usage;
  if (usage === undefined || part === undefined) return [[], line];
  // Only words that stand for themselves: `/think [off | low]`, but not the `id` of `/model [id | default]`.
  const words =
    /\[([^\]]*\|[^\]]*)\]/
      .exec(usage)?.[1]
      ?.split('|')
      .map((word) => word.trim()) ?? [];
  return [words.filter((word) => /^[a-z-]+$/.test(word) && word !== 'id' && word.startsWith(part)), part];
}
