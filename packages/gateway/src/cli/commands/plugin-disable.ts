import { defineCommand } from '../command.ts';
import { on, required } from '../values.ts';

export const pluginDisable = defineCommand({
  path: 'plugin disable',
  summary: 'Unload a plugin and remove what it keeps in sessions',
  examples: ['plugin disable todo', 'plugin disable todo --yes'],
  args: { id: required('Its id') },
  options: { yes: on('Do not ask', 'y'), forget: on('Also remove what it keeps for itself, and what was decided about it') },
  async run({ args, options, out, call, consent }) {
    const { visible } = await import('@tenon/protocol');
    const { plugin } = await call('plugins.get', { id: args.id }, { id: 'the id' });
    const what = options.forget ? 'all that it keeps, its grants and its configuration' : 'what it keeps in sessions';
    await consent(`Disable plugin "${plugin.id}" and remove ${what}`, plugin.id, options.yes);
    const result = await call('plugins.disable', { id: plugin.id, ...(options.forget ? { forget: true } : {}) });
    out.show(result, () => `${result.plugin.state} ${visible(result.plugin.id)}`);
  },
});
