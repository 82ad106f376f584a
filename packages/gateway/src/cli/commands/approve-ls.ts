import type { Approval } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { integer, on, text } from '../values.ts';
import { shortId } from './pick.ts';
import { sessionKey } from './session-key.ts';

export const approveLs = defineCommand({
  path: 'approve ls',
  alias: 'list',
  summary: 'List what waits for an answer, oldest first',
  examples: ['approve ls', 'approve ls --session notes', 'approve ls --decided --json'],
  options: {
    session: text('<key>', 'Only of this session'),
    decided: on('What was answered instead, newest first'),
    limit: integer('<n>', 'How many at most', { min: 1, max: 200, short: 'n' }),
    cursor: text('<cursor>', 'Go on where an earlier list ended'),
  },
  async run({ options, out, io, call }) {
    const session = options.session === undefined ? undefined : await sessionKey(options.session);
    const state = options.decided ? 'decided' : 'pending';
    const { limit, cursor } = options;
    const page = await call('approvals.list', { state, sessionKey: session, limit, cursor }, { sessionKey: '--session' });
    const [{ visible }, { stateText }] = await Promise.all([import('@tenon/protocol'), import('../chat/question.ts')]);
    const when = (row: Approval) =>
      row.state === 'pending'
        ? `expires ${relative(row.expiresAt, io.now())}`
        : `${stateText(row)}, ${relative(row.decidedAt ?? row.expiresAt, io.now())}`;
    out.show(page, () =>
      out.table(
        [
          { title: 'ID', cell: (row) => shortId(row.id) },
          { title: 'QUESTION', cell: (row) => visible(row.title), flexible: true },
          { title: 'RISK', cell: (row) => row.risk ?? (row.pluginId === undefined ? '' : `asked by ${visible(row.pluginId)}`) },
          { title: 'SESSION', cell: (row) => visible(row.sessionKey) },
          { title: 'STATE', cell: when },
        ],
        page.approvals,
      ),
    );
    if (out.json) return;
    if (page.approvals.length === 0) out.talk(options.decided ? 'Nothing was answered yet' : 'Nothing waits for an answer');
    else if (!options.decided) out.talk('See one whole with: tenon approve show <id>   Answer it with: tenon approve allow <id>');
    if (page.nextCursor !== undefined) out.talk(`There are more: tenon approve ls --cursor ${visible(page.nextCursor)}`);
    return;
  },
});
