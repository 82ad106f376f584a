import { defineCommand } from '../command.ts';

export const agentLs = defineCommand({
  path: 'agent ls',
  alias: 'list',
  summary: 'List the agents',
  examples: ['agent ls', 'agent ls --json'],
  async run({ out, call }) {
    const result = await call('agents.list');
    const { visible } = await import('@tenon/protocol');
    out.show(result, () =>
      out.table(
        [
          { title: 'ID', cell: (row) => `${visible(row.id)}${row.isDefault ? ' (default)' : ''}` },
          { title: 'NAME', cell: (row) => visible(row.name) },
          { title: 'MODEL', cell: (row) => [row.model, ...row.fallbacks].map(visible).join(', ') },
          { title: 'PERMISSIONS', cell: (row) => row.permissions },
          { title: 'WORKSPACE', cell: (row) => visible(row.workspace), flexible: true },
        ],
        result.agents,
      ),
    );
  },
});
