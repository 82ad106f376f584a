// Slash commands of extensions, as they are typed: `/cmd rest` or `/ext:cmd rest`. What is not one of these goes to the agent.

export interface SlashCommand {
  /** Where it was said; otherwise the first in load order that has the command. */
  readonly extension?: string;
  readonly command: string;
  /** As `command/execute` carries them. */
  readonly arguments: { readonly args: string };
}

/** Undefined for text that is not shaped like one: `//x`, `/usr/bin/ls`, `/:x`. Whether there is such a command is another matter. */
export function parseSlash(text: string): SlashCommand | undefined {
  const found = /^\/([A-Za-z0-9_:-]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (!found) return undefined;
  const [, head = '', rest = ''] = found;
  const colon = head.indexOf(':');
  const args = { args: rest.trim() };
  if (colon < 0) return { command: head, arguments: args };
  const extension = head.slice(0, colon);
  const command = head.slice(colon + 1);
  if (extension === '' || command === '' || command.includes(':')) return undefined;
  return { extension, command, arguments: args };
}
