import type { PluginInfo } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { showPlugins } from './plugin-ls.ts';

export const extLs = defineCommand({
  path: 'ext ls',
  alias: 'list',
  summary: 'List extensions, and how their processes do',
  examples: ['ext ls', 'ext ls --json'],
  async run({ out, call }) {
    const result = await call('plugins.list');
    const plugins = result.plugins.filter(isExtension);
    await showPlugins({ ...result, plugins }, out, stateOf, 'No extensions. Make one with: tenon ext new <name>');
  },
});

/** To the gateway, an extension is a plugin that has a process. */
export function isExtension({ process }: PluginInfo): boolean {
  return process !== undefined;
}

/** One that is loaded may be down at the moment. */
function stateOf({ state, process }: PluginInfo): string {
  return state === 'loaded' ? (process?.state ?? state) : state;
}
