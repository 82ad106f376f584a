import { defineCommand } from '../command.ts';
import { text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const attachLs = defineCommand({
  path: 'attach ls',
  alias: 'list',
  summary: 'List the files that are kept, and how much room they take',
  examples: ['attach ls', 'attach ls --session notes', 'attach ls --json'],
  options: { session: text('<key>', 'Only those of this session') },
  async run({ options, out, call }) {
    const key = options.session === undefined ? undefined : await sessionKey(options.session);
    const labels = { sessionKey: '--session' };
    const { visible } = await import('@tenon/protocol');
    const page = await call('attachments.list', { limit: 200, ...(key === undefined ? {} : { sessionKey: key }) }, labels);
    out.show(page, () =>
      out.table(
        [
          { title: 'HANDLE', cell: (row) => row.handle },
          { title: 'NAME', cell: (row) => visible(row.name) },
          { title: 'TYPE', cell: (row) => row.mime },
          { title: 'BYTES', cell: (row) => String(row.bytes) },
          { title: 'SESSION', cell: (row) => row.sessionKey ?? '' },
        ],
        page.attachments,
      ),
    );
    if (!out.json) out.talk(`${page.usage.count} files, ${page.usage.bytes} of ${page.usage.maxBytes} bytes`);
  },
});
