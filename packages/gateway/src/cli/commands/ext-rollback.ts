import type { Prepared } from '../../install/install.ts';
import { defineCommand } from '../command.ts';
import { on, required } from '../values.ts';
import { agreeing } from './ext-consent.ts';
import { installDeps } from './ext-deps.ts';
import { enableInstalled, outcomeLine } from './ext-enable.ts';

export const extRollback = defineCommand({
  path: 'ext rollback',
  summary: 'Use the version of an extension again that was there before the last update; nothing is fetched',
  examples: ['ext rollback notes', 'ext rollback notes --yes'],
  args: { name: required('Its name') },
  options: { yes: on('Do not ask', 'y') },
  async run(context) {
    const { args, options, out } = context;
    const { progress, ...deps } = await installDeps(context);
    const { rollBackExtension } = await import('../../install/install.ts');
    let prepared: Prepared | undefined;
    const agree = agreeing(context, progress, { yes: options.yes, keep: (shown) => (prepared = shown) });
    const back = await rollBackExtension(args.name, agree, deps);
    const { outcome, exitCode } = await enableInstalled(context, back, prepared, { yes: options.yes, noEnable: false });
    const { visible } = await import('@tenon/protocol');
    out.show(outcome, () => visible(outcomeLine(outcome)));
    return exitCode;
  },
});
