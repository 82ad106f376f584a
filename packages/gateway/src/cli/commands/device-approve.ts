import { defineCommand } from '../command.ts';
import { list, required, text } from '../values.ts';
import { pickRequest } from './pairing-request.ts';

export const deviceApprove = defineCommand({
  path: 'device approve',
  summary: 'Let a device in, with the scopes it asked for or fewer',
  examples: ['device approve 7Zk2', 'device approve 7Zk2 --scope operator.read --name "kitchen tablet"'],
  args: { request: required('The id of its request, or the beginning of it') },
  options: {
    scope: list('<scopes>', 'Grant only these', async () => (await import('@tenon/protocol')).scopeNames),
    name: text('<text>', 'Call it this'),
  },
  async run({ args, options, out, check, call }) {
    const { visible } = await import('@tenon/protocol');
    const { scope: scopes, name } = options;
    const labels = { scopes: '--scope' };
    await check('device.pair.approve', { scopes, name }, labels);
    const request = await pickRequest(args.request, call);
    const result = await call('device.pair.approve', { requestId: request.requestId, scopes, name }, labels);
    out.show(result, () => `approved ${visible(result.device.name)} with ${result.device.scopes.join(', ') || 'no scopes'}`);
  },
});
