import type { PluginInfo } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { isUnconfined, unconfinedOf, unconfinedText } from '../unconfined.ts';
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
    const unconfined = unconfinedOf(plugins);
    if (!unconfined || out.json) return;
    const { visible } = await import('@tenon/protocol');
    out.talk(out.style('yellow', unconfinedText(unconfined, visible)));
  },
});

/** To the gateway, an extension is a plugin that has a process. */
export function isExtension({ process }: PluginInfo): boolean {
  return process !== undefined;
}

/** One that is loaded may be down at the moment. */
function stateOf(plugin: PluginInfo): string {
  const { state, process } = plugin;
  const shown = state === 'loaded' ? (process?.state ?? state) : state;
  return state === 'loaded' && isUnconfined(plugin) ? `${shown}, unconfined` : shown;
}
