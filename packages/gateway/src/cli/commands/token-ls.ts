import type { Token } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';

export const tokenLs = defineCommand({
  path: 'token ls',
  alias: 'list',
  summary: 'List tokens, without their secrets',
  examples: ['token ls', 'token ls --json'],
  async run({ out, io, call }) {
    const result = await call('tokens.list');
    const { visible } = await import('@tenon/protocol');
    const now = io.now();
    out.show(result, () =>
      out.table(
        [
          { title: 'ID', cell: (row) => visible(row.id) },
          { title: 'NAME', cell: (row) => visible(row.name), flexible: true },
          { title: 'SCOPES', cell: (row) => row.scopes.join(', ') },
          { title: 'SESSION', cell: (row) => visible(row.sessionKey ?? '') },
          { title: 'STATE', cell: (row) => stateOf(row, now) },
          { title: 'USED', cell: (row) => relative(row.lastUsedAt, now) },
        ],
        result.tokens,
      ),
    );
    if (!out.json && result.tokens.length === 0) out.talk('No tokens. Make one with: tenon token new --name phone --scope operator.read');
  },
});

function stateOf({ revokedAt, expiresAt }: Token, now: number): string {
  if (revokedAt !== null) return `revoked ${relative(revokedAt, now)}`;
  if (expiresAt === null) return 'valid';
  return expiresAt <= now ? `expired ${relative(expiresAt, now)}` : `ends ${relative(expiresAt, now)}`;
}
