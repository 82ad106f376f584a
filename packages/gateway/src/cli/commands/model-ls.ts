import type { ModelInfo } from '@tenon/protocol';
import { defineCommand } from '../command.ts';

export const modelLs = defineCommand({
  path: 'model ls',
  alias: 'list',
  summary: 'List the models, and why one cannot be used',
  examples: ['model ls', 'model ls --json'],
  async run({ out, call }) {
    const result = await call('models.list');
    const { visible } = await import('@tenon/protocol');
    const stateOf = ({ usable, reason }: ModelInfo) => (usable ? 'ready' : `not usable: ${visible(reason ?? 'unknown')}`);
    out.show(result, () =>
      out.table(
        [
          { title: 'ID', cell: (row) => `${visible(row.id)}${row.isDefault ? ' (default)' : ''}` },
          { title: 'PROVIDER', cell: (row) => visible(row.provider) },
          { title: 'NAME', cell: (row) => visible(row.name) },
          { title: 'WINDOW', cell: (row) => String(row.contextWindow) },
          { title: 'CAN', cell: (row) => [row.images ? 'images' : '', row.thinking ? 'thinking' : ''].filter(Boolean).join(', ') },
          { title: 'STATE', cell: stateOf, flexible: true },
        ],
        result.models,
      ),
    );
    if (!out.json && result.fallbacks.length > 0) out.talk(`Fallbacks, in order: ${result.fallbacks.map(visible).join(', ')}`);
  },
});
