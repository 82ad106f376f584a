import { defineCommand } from '../command.ts';

export const pluginLs = defineCommand({
  path: 'plugin ls',
  alias: 'list',
  summary: 'List plugins, and whether they are at work',
  examples: ['plugin ls', 'plugin ls --json'],
  async run({ out, call }) {
    const result = await call('plugins.list');
    const { visible } = await import('@tenon/protocol');
    out.show(result, () =>
      out.table(
        [
          { title: 'ID', cell: (row) => visible(row.id) },
          { title: 'VERSION', cell: (row) => visible(row.version) },
          { title: 'STATE', cell: (row) => row.state },
          { title: 'GRANTS', cell: (row) => `${row.granted.length} of ${row.asked.length}` },
          { title: 'REFUSED', cell: (row) => String(row.registrations.filter(({ accepted }) => !accepted).length) },
          { title: 'ABOUT', cell: (row) => visible(row.reason ?? row.description ?? row.name), flexible: true },
        ],
        result.plugins,
      ),
    );
    if (out.json) return;
    if (result.safe) out.talk('This gateway was started with --safe: no plugin is loaded');
    else if (result.plugins.length === 0) out.talk('No plugins. Name their folders with: tenon config set plugins.paths <folder>');
  },
});
