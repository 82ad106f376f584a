import { defineCommand } from '../command.ts';
import { text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const toolLs = defineCommand({
  path: 'tool ls',
  alias: 'list',
  summary: 'List the tools, their risk, and what happens when the agent of a session calls them',
  examples: ['tool ls', 'tool ls --session notes', 'tool ls --json'],
  options: { session: text('<key>', 'As the agent of this session has them') },
  async run({ options, out, call }) {
    const { visible } = await import('@tenon/protocol');
    const sandboxLine = ({ kind, reason }: { kind: string; reason: string }) =>
      `Sandbox: ${kind === 'none' ? 'none' : kind} (${visible(reason)})`;
    if (options.session !== undefined) {
      const result = await call('tools.effective', { sessionKey: await sessionKey(options.session) }, { sessionKey: '--session' });
      out.show(result, () =>
        out.table(
          [
            { title: 'TOOL', cell: (row) => visible(row.id) },
            { title: 'RISK', cell: (row) => row.risk },
            { title: 'WHEN CALLED', cell: (row) => row.verdict },
            { title: 'WHY', cell: (row) => visible(row.reason), flexible: true },
          ],
          result.tools,
        ),
      );
      if (!out.json) out.talk(`Permissions: ${visible(result.permissions)}\n${sandboxLine(result.sandbox)}`);
      return;
    }
    const result = await call('tools.catalog');
    const rows = result.groups.flatMap(({ label, tools }) => tools.map((tool) => ({ ...tool, group: label })));
    out.show(result, () =>
      out.table(
        [
          { title: 'TOOL', cell: (row) => visible(row.id) },
          { title: 'RISK', cell: (row) => row.risk },
          { title: 'GROUP', cell: (row) => visible(row.group) },
          { title: 'WHAT', cell: (row) => visible(row.label), flexible: true },
        ],
        rows,
      ),
    );
    if (!out.json) out.talk(sandboxLine(result.sandbox));
  },
});
