import type { Result } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { duration, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

type Sum = Result<'usage.get'>['total'];

export const usage = defineCommand({
  path: 'usage',
  summary: 'Tokens and what they cost, by model',
  examples: ['usage', 'usage --session notes', 'usage --since 7d --json'],
  options: {
    session: text('<key>', 'Only of this session'),
    run: text('<id>', 'Only of this run'),
    since: duration('Only of this last time, such as 7d'),
  },
  async run({ options, out, io, call }) {
    const session = options.session === undefined ? undefined : await sessionKey(options.session);
    const since = options.since === undefined ? undefined : Math.max(0, io.now() - options.since);
    const labels = { sessionKey: '--session', runId: '--run' };
    const result = await call('usage.get', { sessionKey: session, runId: options.run, since }, labels);
    const { visible } = await import('@tenon/protocol');
    const rows = [...result.byModel, ...(result.byModel.length === 1 ? [] : [{ model: 'all', ...result.total }])];
    const count = (title: string, of: (sum: Sum) => number) => ({ title, cell: (row: Sum) => String(of(row)) });
    out.show(result, () =>
      out.table<Sum & { model: string }>(
        [
          { title: 'MODEL', cell: (row) => visible(row.model) },
          count('CALLS', (sum) => sum.calls),
          count('INPUT', (sum) => sum.input),
          count('OUTPUT', (sum) => sum.output),
          count('CACHE READ', (sum) => sum.cacheRead),
          count('CACHE WRITE', (sum) => sum.cacheWrite),
          { title: 'COST', cell: (row) => `$${row.costUsd.toFixed(4)}` },
        ],
        rows,
      ),
    );
  },
});
