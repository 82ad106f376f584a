// What tools are called: by the agent, and by extensions. Those of the agent have other names in SEP and pi, and the table of the
// protocol has both; an extension whose manifest says that it knows Tenon's sees those.
//
// Tools of extensions are called `<extension>.<tool>` on the wire and by people. Models take no dots, so the agent knows them
// with two underscores in place of the first dot; the name of an extension has none of these, so it is found again.

import { callsThere, callThere, toolsHere, toolThere, type CallThere, type ToolWorld } from '@tenon/protocol/sep/wire';

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

/** A tool of the agent as an extension of this world knows it. */
export function toolIn(world: ToolWorld, agentName: string): string {
  return shownTool(world === 'sep' ? toolThere(agentName) : agentName);
}

type Fields = Readonly<Record<string, unknown>>;

/** What an extension of this world is asked about a call. */
export function callsIn(world: ToolWorld, agentName: string, args: Fields): readonly CallThere[] {
  return world === 'sep' ? callsThere(agentName, args).map(shownCall) : [shownCall({ tool: agentName, arguments: args })];
}

/** What it is told of a call that was made. */
export function callIn(world: ToolWorld, agentName: string, args: Fields): CallThere {
  return shownCall(world === 'sep' ? callThere(agentName, args) : { tool: agentName, arguments: args });
}

function shownCall({ tool, arguments: args }: CallThere): CallThere {
  return { tool: shownTool(tool), arguments: args };
}

/** As the agent knows the tools that an extension of this world names, whoever they are of. */
export function agentNamesIn(world: ToolWorld, names: readonly string[]): ReadonlySet<string> {
  const named = new Set(names.map(agentNameOf));
  return world === 'sep' ? toolsHere(named) : named;
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
