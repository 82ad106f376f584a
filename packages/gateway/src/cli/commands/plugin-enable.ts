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
    const { plugin } = await call('plugins.get', { id: args.id, files: true }, labels);
    const grants = options.grant ?? plugin.asked;
    const left = plugin.asked.filter((grant) => !grants.includes(grant));
    if (grants.length > 0) out.talk(`${visible(plugin.name)} asks for:`);
    for (const grant of grants) {
      const row = grantRow(grant);
      const isWide = row !== undefined && 'wide' in row && row.wide;
      out.talk(
        `  ${visible(grant)}: ${row?.summary ?? 'not known here'}${isWide ? ' Wide: it reaches far beyond the plugin itself.' : ''}`,
      );
    }
    if (left.length > 0) out.talk(`Not granted: ${left.map(visible).join(', ')}`);
    await consent(`Load plugin "${plugin.id}" from ${plugin.folder}`, plugin.id, options.yes);
    // Those files, and no others that took their place while somebody was reading this.
    const { treeHash } = plugin;
    const result = await call(
      'plugins.enable',
      { id: plugin.id, grants: options.grant, ...(treeHash === undefined ? {} : { treeHash }) },
      labels,
    );
    out.show(
      result,
      () => `${result.plugin.state} ${visible(result.plugin.id)}${result.plugin.reason ? `: ${visible(result.plugin.reason)}` : ''}`,
    );
    const refused = result.plugin.registrations.filter(({ accepted }) => !accepted);
    if (refused.length > 0 && !out.json)
      out.talk(
        `${refused.length} of its registrations ${refused.length === 1 ? 'was' : 'were'} not taken: tenon plugin inspect ${plugin.id}`,
      );
    return result.plugin.state === 'loaded' ? 0 : 1;
  },
});
