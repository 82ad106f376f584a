// Tools of extensions are called `<extension>.<tool>` on the wire and by people. Models take no dots, so the agent knows them
// with two underscores in place of the first dot; the name of an extension has none of these, so it is found again.

export const SEPARATOR = '__';

/** As the agent and the models know it. */
export function agentTool(extension: string, tool: string): string {
  return `${extension}${SEPARATOR}${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** Whether a tool, as the agent knows it, is one of this extension. */
export function isToolOf(extension: string, agentName: string): boolean {
  return agentName.startsWith(`${extension}${SEPARATOR}`);
}

/** As extensions and people know it; a tool of somebody else stays as it is. */
export function shownTool(agentName: string): string {
  const at = agentName.indexOf(SEPARATOR);
  return at <= 0 ? agentName : `${agentName.slice(0, at)}.${agentName.slice(at + SEPARATOR.length)}`;
}

/** However it is spelled. */
export function bareTool(name: string): string {
  return name.replace('.', SEPARATOR);
}

/** As the agent knows a tool that an extension names, whoever it is of. */
export function agentNameOf(name: string): string {
  const at = name.indexOf('.');
  return at <= 0 ? name : agentTool(name.slice(0, at), name.slice(at + 1));
}
