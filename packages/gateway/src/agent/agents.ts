// The configured agents: what tenon.toml says of each, completed by the settings for all.
import { mkdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { type AgentConfig, type AgentInfo, DEFAULT_AGENT_ID, type Settings } from '@tenon/protocol';
import type { Agents } from './service.ts';

export interface Agent extends AgentInfo {
  /** Names of the tools that it has; without it, all. */
  readonly tools?: readonly string[];
  readonly prompt?: string;
}

export interface AgentBook extends Agents {
  list(): Agent[];
  get(agentId: string): Agent | undefined;
  /** The real path of the agent's workspace, made when it is not there. Throws what the file system says. */
  openWorkspace(agent: Agent): string;
}

export const WORKSPACES_FOLDER = 'workspaces';

/** Relative workspaces are relative to the home folder, where tenon.toml is. */
export function createAgentBook(settings: Settings, home: string, defaultModel: string): AgentBook {
  const configured: readonly AgentConfig[] = settings.agents;
  const main = configured.find((each) => each.id === DEFAULT_AGENT_ID) ?? { id: DEFAULT_AGENT_ID };
  const agents = new Map<string, Agent>();
  for (const config of [main, ...configured]) if (!agents.has(config.id)) agents.set(config.id, complete(config));

  function complete({ workspace, tools, prompt, ...config }: AgentConfig): Agent {
    return {
      id: config.id,
      name: config.name ?? config.id,
      workspace:
        workspace === undefined ? join(home, WORKSPACES_FOLDER, config.id) : isAbsolute(workspace) ? workspace : resolve(home, workspace),
      model: config.model ?? defaultModel,
      fallbacks: config.fallbacks ?? settings['model.fallbacks'],
      thinking: config.thinking ?? settings['model.thinking'],
      permissions: config.permissions ?? settings['agent.permissions'],
      queue: config.queue ?? settings['agent.queue'],
      isDefault: config.id === DEFAULT_AGENT_ID,
      ...(tools === undefined ? {} : { tools }),
      ...(prompt === undefined ? {} : { prompt }),
    };
  }

  return {
    list: () => [...agents.values()],
    get: (agentId) => agents.get(agentId),
    openWorkspace(agent) {
      mkdirSync(agent.workspace, { recursive: true, mode: 0o700 });
      return realpathSync(agent.workspace);
    },
  };
}

/** `agent:<agentId>:<rest>` */
export function agentIdOf(sessionKey: string): string {
  return sessionKey.split(':', 2)[1] ?? '';
}
