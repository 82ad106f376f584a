import { defineCommand } from '../command.ts';
import { exitCodes } from '../failure.ts';
import { jsonLine } from '../output.ts';
import { integer } from '../values.ts';

export const audit = defineCommand({
  path: 'audit',
  summary: 'Who did what, newest first, and whether the record is whole. Exits with 1 if it is not',
  examples: ['audit', 'audit -n 200 --json', 'audit --before 1200'],
  options: {
    limit: integer('<n>', 'How many', { min: 1, max: 200, short: 'n' }),
    before: integer('<seq>', 'Only older ones than this', { min: 0, max: Number.MAX_SAFE_INTEGER }),
  },
  async run({ options, out, call }) {
    const result = await call('audit.list', options);
    const { visible } = await import('@tenon/protocol');
    const { chain, records } = result;
    out.show(result, () =>
      out.table(
        [
          { title: 'SEQ', cell: (row) => String(row.seq) },
          { title: 'AT', cell: (row) => new Date(row.at).toISOString() },
          { title: 'WHO', cell: (row) => visible(row.actor) },
          { title: 'DID', cell: (row) => visible(row.action) },
          { title: 'TO', cell: (row) => visible(row.target) },
          { title: 'DETAILS', cell: (row) => jsonLine(row.details), flexible: true },
        ],
        records,
      ),
    );
    if (!out.json) {
      if (records.length === 0) out.talk('No records');
      out.talk(
        chain.ok
          ? `The chain is whole (${chain.checked} records checked)`
          : `The chain is BROKEN: ${visible(chain.reason ?? 'no reason given')}`,
      );
    }
    return chain.ok ? exitCodes.ok : exitCodes.failed;
  },
});
