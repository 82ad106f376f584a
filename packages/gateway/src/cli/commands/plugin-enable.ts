import { defineCommand } from '../command.ts';
import { list, on, required } from '../values.ts';

export const pluginEnable = defineCommand({
  path: 'plugin enable',
  summary: 'Trust the files of a plugin as they are now, grant what it asks for, and load it',
  examples: ['plugin enable todo', 'plugin enable todo --grant tools.register,ui.descriptors --yes'],
  args: { id: required('Its id') },
  options: { grant: list('<grants>', 'Grant only these'), yes: on('Do not ask', 'y') },
  async run({ args, options, out, call, check, consent }) {
    const labels = { id: 'the id', grants: '--grant' };
    await check('plugins.enable', { id: args.id, grants: options.grant }, labels);
    const { grantRow, visible } = await import('@tenon/protocol');
    const { plugin } = await call('plugins.get', { id: args.id }, labels);
    const grants = options.grant ?? plugin.asked;
    for (const grant of grants) out.talk(`  ${visible(grant)}: ${grantRow(grant)?.summary ?? 'not known here'}`);
    await consent(`Load plugin "${plugin.id}" from ${plugin.folder}`, plugin.id, options.yes);
    const result = await call('plugins.enable', { id: plugin.id, grants: options.grant }, labels);
    out.show(
      result,
      () => `${result.plugin.state} ${visible(result.plugin.id)}${result.plugin.reason ? `: ${visible(result.plugin.reason)}` : ''}`,
    );
    return result.plugin.state === 'loaded' ? 0 : 1;
  },
});
