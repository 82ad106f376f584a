import type { Session } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { integer, on, text } from '../values.ts';

export const sessionLs = defineCommand({
  path: 'session ls',
  alias: 'list',
  summary: 'List sessions, latest change first',
  examples: ['session ls', 'session ls --search invoice', 'session ls --all --json'],
  options: {
    search: text('<words>', 'Only those whose title or key contains the words'),
    agent: text('<id>', 'Only those of this agent'),
    label: text('<label>', 'Only those with this label'),
    archived: on('Archived ones instead'),
    limit: integer('<n>', 'How many at most', { min: 1, max: 200, short: 'n' }),
    cursor: text('<cursor>', 'Go on where an earlier list ended'),
    all: on('Every page'),
  },
  async run({ options, out, io, call }) {
    const sessions: Session[] = [];
    let cursor = options.cursor;
    do {
      const { agent: agentId, search, label, limit } = options;
      const archived = options.archived ? true : undefined;
      const page = await call('sessions.list', { search, agentId, label, archived, limit, cursor }, { agentId: '--agent' });
      sessions.push(...page.sessions);
      cursor = page.nextCursor;
    } while (options.all && cursor !== undefined);

    const { visible } = await import('@tenon/protocol');
    out.show(cursor === undefined ? { sessions } : { sessions, nextCursor: cursor }, () =>
      out.table(
        [
          { title: 'KEY', cell: (row) => visible(row.key) },
          { title: 'TITLE', cell: (row) => visible(row.title), flexible: true },
          { title: 'LABEL', cell: (row) => visible(row.label ?? '') },
          { title: 'STATE', cell: stateOf },
          { title: 'CHANGED', cell: (row) => relative(row.updatedAt, io.now()) },
        ],
        sessions,
      ),
    );
    if (out.json) return;
    if (sessions.length === 0) out.talk('No sessions. Make one with: tenon session new notes --title "Notes"');
    if (cursor !== undefined) out.talk(`There are more: tenon session ls --cursor ${visible(cursor)}   (or --all)`);
    return;
  },
});

function stateOf({ status, pinned, archived }: Session): string {
  return [status === 'idle' ? '' : status, pinned ? 'pinned' : '', archived ? 'archived' : ''].filter(Boolean).join(', ');
}
