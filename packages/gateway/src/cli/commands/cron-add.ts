import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { required, text } from '../values.ts';
import { rulesOf } from './cron-rules.ts';
import { inFlags, jobLines, ruleOptions, whenOptions, wishOf } from './cron-shown.ts';
import { sessionKey } from './session-key.ts';

export const cronAdd = defineCommand({
  path: 'cron add',
  summary: 'Let the agent work later: once, every so often, or as a cron expression says',
  examples: [
    'cron add "Look at the oven" --in 20m --session kitchen',
    'cron add "Sum up the mail" --cron "0 8 * * 1-5" --tz Europe/Berlin',
    'cron add "Check the build" --every 30m --on-miss skip --overlap skip',
  ],
  args: { message: required('What the agent is told then') },
  options: {
    ...whenOptions,
    session: text('<key>', 'Always in this session; without it, in a new one each time'),
    agent: text('<id>', 'The agent of the new sessions; main where nothing is said'),
    ...ruleOptions,
  },
  async run({ args, options, out, io, call }) {
    const { DEFAULT_AGENT_ID, visible } = await import('@tenon/protocol');
    const schedule = wishOf(options) ?? missing();
    const { name, overlap, delivery, tag, agent = DEFAULT_AGENT_ID } = options;
    if (options.session !== undefined && options.agent !== undefined) throw usageError('--session and --agent cannot be given together');
    const session = options.session === undefined ? { agentId: agent, fresh: true as const } : { key: await sessionKey(options.session) };
    const wish = { message: args.message, session, schedule, name, overlap, delivery, tag, ...rulesOf(options) };
    const where = options.session === undefined ? '--agent' : '--session';
    const result = await inFlags(call('cron.add', wish, { message: '<message>', name: '--name', tag: '--tag', session: where }));
    out.show(result, () => jobLines(result.job, out, visible, io.now()));
  },
});

function missing(): never {
  throw usageError('Say when: --at, --in, --every or --cron');
}
