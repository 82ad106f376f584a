import { defineCommand } from '../command.ts';
import { many, required } from '../values.ts';

export const pluginRevoke = defineCommand({
  path: 'plugin revoke',
  summary: 'Take a right of a plugin back, at once',
  examples: ['plugin revoke todo ui.descriptors', 'plugin revoke todo hooks.observe:agent_end turns.start'],
  args: { id: required('Its id'), grants: many('What: see tenon plugin inspect') },
  async run({ args, out, call }) {
    const { visible } = await import('@tenon/protocol');
    const result = await call('plugins.revoke', { id: args.id, grants: [...args.grants] }, { id: 'the id', grants: 'the grants' });
    const { id, granted } = result.plugin;
    out.show(result, () => `${visible(id)} has ${granted.length === 0 ? 'no grants' : granted.map(visible).join(', ')}`);
  },
});
