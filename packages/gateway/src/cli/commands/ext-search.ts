import { isAbsolute, join } from 'node:path';
import { defineCommand } from '../command.ts';
import { many } from '../values.ts';
import { installDeps } from './ext-deps.ts';

const INDEX_FILE = 'extensions-index.json';

export const extSearch = defineCommand({
  path: 'ext search',
  summary: 'Look for extensions in the index file and in the registry of packages',
  examples: ['ext search calendar', 'ext search notes markdown --json'],
  args: { words: many('What it should be about') },
  async run(context) {
    const { args, out, config } = context;
    const { progress, ...deps } = await installDeps(context);
    const { searchExtensions } = await import('../../install/search.ts');
    const { visible } = await import('@tenon/protocol');
    const named = (await config()).settings['extensions.index'];
    const file = named === '' ? INDEX_FILE : named;
    const index = { file: isAbsolute(file) ? file : join(deps.home, file), isNamed: named !== '' };
    progress.report({ doing: 'Searching' });
    const result = await searchExtensions(args.words, { ...deps, index }).finally(progress.clear);
    out.show(result, () =>
      out.table(
        [
          { title: 'NAME', cell: ({ name }) => visible(name) },
          { title: 'VERSION', cell: ({ version = '' }) => visible(version) },
          { title: 'INSTALL WITH', cell: ({ source }) => visible(`tenon ext install ${source}`) },
          { title: 'ABOUT', cell: ({ description }) => visible(description), flexible: true },
        ],
        result.hits,
      ),
    );
    if (out.json) return;
    if (result.hits.length === 0) out.talk('Nothing was found');
    for (const each of result.failed) out.talk(visible(`Not everything was asked: ${each}`));
  },
});
