import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { pick } from './pick.ts';

export const deviceRename = defineCommand({
  path: 'device rename',
  summary: 'Change the name of a device',
  examples: ['device rename 9f31c2 "kitchen tablet"'],
  args: { device: required('Its id, the beginning of it, or its name'), name: required('The new name') },
  async run({ args, out, check, call }) {
    const { visible } = await import('@tenon/protocol');
    await check('device.rename', { name: args.name }, { name: '<name>' });
    const { devices } = await call('device.list');
    const device = pick(devices, args.device, 'device');
    const result = await call('device.rename', { id: device.id, name: args.name });
    out.show(result, () => visible(result.device.name));
  },
});
