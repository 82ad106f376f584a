import { defineCommand } from '../command.ts';
import { on, required } from '../values.ts';
import { pick, shortId } from './pick.ts';

export const deviceRevoke = defineCommand({
  path: 'device revoke',
  summary: 'Revoke a device and close its sockets',
  examples: ['device revoke phone', 'device revoke 9f31c2 --yes', 'device revoke phone --dry-run'],
  args: { device: required('Its id, the beginning of it, or its name') },
  options: { yes: on('Do not ask', 'y'), dryRun: on('Only show which one it would be') },
  async run({ args, options, out, call, consent }) {
    const { visible } = await import('@tenon/protocol');
    const { devices } = await call('device.list');
    const device = pick(
      devices.filter(({ revokedAt }) => revokedAt === null),
      args.device,
      'device',
    );
    if (options.dryRun) {
      out.show({ dryRun: true, device }, () => `would revoke ${shortId(device.id)} (${visible(device.name)})`);
      return;
    }
    await consent(`Revoke device "${device.name}"`, device.name, options.yes);
    const result = await call('device.revoke', { id: device.id });
    out.show(result, () => `revoked ${shortId(device.id)} (${visible(device.name)})`);
    return;
  },
});
