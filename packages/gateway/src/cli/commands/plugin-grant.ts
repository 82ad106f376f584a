import { defineCommand } from '../command.ts';
import { many, required } from '../values.ts';

export const pluginGrant = defineCommand({
  path: 'plugin grant',
  summary: 'Let a plugin do something that its manifest asks for',
  examples: ['plugin grant todo ui.descriptors', 'plugin grant todo hooks.observe:agent_end turns.start'],
  args: { id: required('Its id'), grants: many('What: see tenon plugin inspect') },
  async run({ args, out, call }) {
    const { visible } = await import('@tenon/protocol');
    const result = await call('plugins.grant', { id: args.id, grants: [...args.grants] }, { id: 'the id', grants: 'the grants' });
    const { id, granted } = result.plugin;
    out.show(result, () => `${visible(id)} has ${granted.length === 0 ? 'no grants' : granted.map(visible).join(', ')}`);
  },
});
