import type { PluginInfo, Result } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import type { Output } from '../output.ts';

export const pluginLs = defineCommand({
  path: 'plugin ls',
  alias: 'list',
  summary: 'List plugins, and whether they are at work',
  examples: ['plugin ls', 'plugin ls --json'],
  async run({ out, call }) {
    const result = await call('plugins.list');
    await showPlugins(result, out, (row) => row.state, 'No plugins. Name their folders with: tenon config set plugins.paths <folder>');
  },
});

/** For extensions too. `none`: what is said where there are none. */
export async function showPlugins(
  result: Result<'plugins.list'>,
  out: Output,
  stateOf: (plugin: PluginInfo) => string,
  none: string,
): Promise<void> {
  const { visible } = await import('@tenon/protocol');
  out.show(result, () =>
    out.table(
      [
        { title: 'ID', cell: (row) => visible(row.id) },
        { title: 'VERSION', cell: (row) => visible(row.version) },
        { title: 'STATE', cell: stateOf },
        { title: 'GRANTS', cell: (row) => `${row.granted.length} of ${row.asked.length}` },
        { title: 'REFUSED', cell: (row) => String(row.registrations.filter(({ accepted }) => !accepted).length) },
        { title: 'ABOUT', cell: (row) => visible(row.reason ?? row.description ?? row.name), flexible: true },
      ],
      result.plugins,
    ),
  );
  if (out.json) return;
  if (result.safe) out.talk('This gateway was started with --safe: no plugin is loaded');
  else if (result.plugins.length === 0) out.talk(none);
}
