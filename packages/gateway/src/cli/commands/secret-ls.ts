import { defineCommand } from '../command.ts';

export const secretLs = defineCommand({
  path: 'secret ls',
  alias: 'list',
  summary: 'List the secrets that are kept for plugins, by name',
  examples: ['secret ls', 'secret ls --json'],
  async run({ out, io, home }) {
    const { listSecrets } = await import('../../kernel/secret-files.ts');
    const secrets = listSecrets(await home(), io.env);
    out.show({ secrets }, () =>
      out.table(
        [
          { title: 'NAME', cell: (row) => row.name },
          { title: 'FROM', cell: (row) => row.from },
        ],
        secrets,
      ),
    );
    if (!out.json && secrets.length === 0) out.talk('No secrets are kept; keep one with: tenon secret set <name> @file');
  },
});
