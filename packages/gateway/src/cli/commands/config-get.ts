import { defineCommand } from '../command.ts';
import { jsonLine } from '../output.ts';
import { readSettings, settingName } from './settings-access.ts';

export const configGet = defineCommand({
  path: 'config get',
  alias: 'ls',
  summary: 'Show the settings and where each comes from; secrets are hidden',
  examples: ['config get', 'config get gateway.port', 'config get --json'],
  args: {
    name: {
      summary: 'Only this setting',
      count: 'optional',
      parse: (given: string) => given,
      choices: async () => (await import('@tenon/protocol')).settingNames,
    },
  },
  async run(context) {
    const { args, out } = context;
    const { visible } = await import('@tenon/protocol');
    const wanted = args.name === undefined ? undefined : await settingName(args.name);
    const result = await readSettings(context);
    if (wanted !== undefined) {
      const entry = result.settings[wanted];
      out.show({ name: wanted, ...entry }, () => show(entry?.value));
      return;
    }
    out.show(result, () =>
      out.table(
        [
          { title: 'SETTING', cell: ([name]) => visible(name) },
          { title: 'VALUE', cell: ([, { value }]) => show(value), flexible: true },
          { title: 'FROM', cell: ([, { source }]) => source },
          {
            title: 'TAKES EFFECT',
            cell: ([name, { takesEffect }]) => (result.restartNeeded.includes(name) ? 'waits for a restart' : takesEffect),
          },
        ],
        Object.entries(result.settings),
      ),
    );
    if (!out.json) out.talk(`File: ${visible(result.file)}`);
    return;

    function show(value: unknown): string {
      return typeof value === 'string' ? visible(value) : jsonLine(value);
    }
  },
});
