// Denies tool calls by what they touch and name: paths, commands and hosts that the operator does not want touched. Links, `..`,
// `~` and redirects are followed by the gateway before it judges; of programs it judges the words, and what a program does once
// it runs is for the sandbox. In doubt it denies, and says why.
import { definePluginEntry, type PolicyDecision } from '@tenon/plugin-sdk';
import { type CommandRule, commandRule, findCommand } from './commands.ts';
import { findHost, findKnownHost, hostRule } from './hosts.ts';
import { findPath, findPlace, type PathRule, pathRule } from './paths.ts';

interface Rules {
  readonly paths: readonly PathRule[];
  readonly commands: readonly CommandRule[];
  readonly hosts: readonly string[];
  readonly ask: readonly string[];
}

interface Call {
  readonly toolName: string;
  readonly params: unknown;
  readonly risk: string;
  readonly workspaceDir: string;
  readonly derivedPaths?: readonly string[];
  readonly hosts?: readonly string[];
}

// biome-ignore lint/style/noDefaultExport: the host looks for the default export of a plugin
export default definePluginEntry({
  id: 'guardrails',
  name: 'Guardrails',
  register(api) {
    const listed = (name: string) => (api.pluginConfig[name] ?? []) as readonly string[];
    const rules: Rules = {
      paths: listed('denyPaths').map(pathRule),
      commands: listed('denyCommands').map(commandRule),
      hosts: listed('denyHosts').map(hostRule),
      ask: listed('ask'),
    };

    api.registerTrustedToolPolicy({
      id: 'rules',
      description: 'Denies paths, commands and hosts, and asks before tools, as configured',
      evaluate: (event) => judge(event, rules),
    });

    api.registerCommand({
      name: 'guardrails',
      description: 'Shows what is denied and what asks first',
      handler: () => ({
        text: show({ ...rules, paths: rules.paths.map(({ rule }) => rule), commands: rules.commands.map(({ rule }) => rule) }),
      }),
    });
  },
});

function judge(call: Call, { paths, commands, hosts, ask }: Rules): PolicyDecision | undefined {
  const { toolName, params, risk, workspaceDir, derivedPaths = [], hosts: named = [] } = call;
  const isProgram = risk === 'exec';
  const command = isProgram ? findCommand(params, commands) : undefined;
  if (command) return deny(`the command "${command.found}" is denied by the rule "${command.rule}"`);
  const path = findPath(params, paths, isProgram) ?? findPlace(derivedPaths, workspaceDir, paths);
  if (path) return deny(`the path "${path.found}" is denied by the rule "${path.rule}"`);
  const host = findKnownHost(named, hosts) ?? (isProgram || risk === 'network' ? findHost(params, hosts) : undefined);
  if (host) return deny(`the host "${host.found}" is denied by the rule "${host.rule}"`);
  if (ask.includes(toolName)) return askFirst(toolName, 'The guardrails say that this tool asks first.');
  if (toolName === 'grep' && paths.length > 0) {
    return askFirst(toolName, `A search reads files that it does not name, and ${paths.length} paths are denied.`);
  }
  return undefined;
}

const deny = (reason: string): PolicyDecision => ({ allow: false, reason });

function askFirst(toolName: string, description: string): PolicyDecision {
  return { requireApproval: { title: `May the agent use ${toolName.slice(0, 40)}?`, description } };
}

function show(rules: Readonly<Record<'paths' | 'commands' | 'hosts' | 'ask', readonly string[]>>): string {
  const line = (what: string, list: readonly string[]) => `${what}: ${list.length === 0 ? 'none' : list.join(', ')}`;
  return [
    line('Denied paths', rules.paths),
    line('Denied commands', rules.commands),
    line('Denied hosts', rules.hosts),
    line('Tools that ask first', rules.ask),
  ].join('\n');
}
