import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { pickRequest } from './pairing-request.ts';

export const deviceReject = defineCommand({
  path: 'device reject',
  summary: 'Turn a pairing request down',
  examples: ['device reject 7Zk2'],
  args: { request: required('The id of the request, or the beginning of it') },
  async run({ args, out, call }) {
    const { visible } = await import('@tenon/protocol');
    const request = await pickRequest(args.request, call);
    const result = await call('device.pair.reject', { requestId: request.requestId });
    out.show(result, () => `rejected ${visible(request.name)}`);
  },
});
