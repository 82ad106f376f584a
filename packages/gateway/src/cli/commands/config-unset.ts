import type { SettingName } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { on } from '../values.ts';
import { reportChange } from './config-change.ts';
import { settingName } from './settings-access.ts';

export const configUnset = defineCommand({
  path: 'config unset',
  summary: 'Return settings to their defaults',
  examples: ['config unset gateway.port', 'config unset log.level --dry-run'],
  args: {
    names: {
      summary: 'Their names',
      count: 'many',
      parse: (given: string) => given,
      choices: async () => (await import('@tenon/protocol')).settingNames,
    },
  },
  options: { dryRun: on('Only show what would change') },
  async run(context) {
    const changes = new Map<SettingName, undefined>();
    for (const typed of context.args.names) changes.set(await settingName(typed), undefined);
    await reportChange(context, changes, context.options.dryRun);
  },
});
