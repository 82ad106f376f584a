import type { Prepared } from '../../install/install.ts';
import { defineCommand } from '../command.ts';
import { describeFailure, exitCodes, type Failure } from '../failure.ts';
import { on, optional } from '../values.ts';
import { agreeing } from './ext-consent.ts';
import { installDeps } from './ext-deps.ts';
import { enableInstalled, type Outcome, outcomeLine } from './ext-enable.ts';

export const extUpdate = defineCommand({
  path: 'ext update',
  summary: 'Fetch what the sources of installed extensions have now; nothing changes before you agree',
  examples: ['ext update notes', 'ext update', 'ext update --yes'],
  args: { name: optional('Its name; all that are installed without it') },
  options: { yes: on('Agree to what is new', 'y') },
  async run(context) {
    const { args, options, out } = context;
    const { progress, ...deps } = await installDeps(context);
    const { installedNames, updateExtension } = await import('../../install/install.ts');
    const { visible } = await import('@tenon/protocol');
    const names = args.name === undefined ? installedNames(deps.home) : [args.name];
    const updates: Outcome[] = [];
    const failed: Failure[] = [];
    let exitCode = 0;
    for (const name of names) {
      try {
        const { outcome, exitCode: code } = await update(name);
        updates.push(outcome);
        if (code !== 0) exitCode = code;
        if (!out.json) out.line(visible(outcomeLine(outcome)));
      } catch (error) {
        const failure = describeFailure(error);
        if (names.length === 1 || failure.exitCode === exitCodes.interrupted) throw error;
        // Of several, one that cannot be updated keeps no other from it.
        failed.push(failure);
        ({ exitCode } = failure);
        if (!out.json) out.talk(visible(`${name}: ${failure.message}${failure.hint === undefined ? '' : ` (${failure.hint})`}`));
      }
    }

    async function update(name: string) {
      let prepared: Prepared | undefined;
      const agree = agreeing(context, progress, { yes: options.yes, keep: (shown) => (prepared = shown) });
      const updated = await updateExtension(name, agree, deps).finally(progress.clear);
      return enableInstalled(context, updated, prepared, { yes: options.yes, noEnable: updated.isSame });
    }

    if (out.json) out.show({ updates, failed: failed.map(({ code, message }) => ({ code, message })) }, () => []);
    else if (names.length === 0) out.talk('Nothing is installed');
    return exitCode;
  },
});
