import { defineCommand } from '../command.ts';
import { CliError, exitCodes } from '../failure.ts';
import { optional } from '../values.ts';

export const heartbeatWake = defineCommand({
  path: 'heartbeat wake',
  summary: 'Let an agent look around now, as its HEARTBEAT.md says',
  examples: ['heartbeat wake', 'heartbeat wake main --json'],
  args: { agent: optional('The agent; main where nothing is said') },
  async run({ args, out, call }) {
    const result = await call('heartbeat.wake', { agentId: args.agent }, { agentId: '[agent]' });
    const { visible } = await import('@tenon/protocol');
    if (!result.begun) throw new CliError('CONFLICT', exitCodes.failed, `No heartbeat: ${visible(result.reason ?? '')}`);
    out.show(result, () => [`${visible(args.agent ?? 'main')} looks around in ${visible(result.sessionKey ?? '')}`]);
  },
});
