import type { Prepared } from '../../install/install.ts';
import { defineCommand } from '../command.ts';
import { BadValue, type OptionSpec } from '../spec.ts';
import { on, required } from '../values.ts';
import { agreeing } from './ext-consent.ts';
import { installDeps } from './ext-deps.ts';
import { enableInstalled, outcomeLine } from './ext-enable.ts';

const extensionName: OptionSpec<string> = {
  summary: 'What its manifest must call it',
  value: '<name>',
  parse(given) {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(given)) throw new BadValue('up to 64 lower-case letters, digits, - and _');
    return given;
  },
};

export const extInstall = defineCommand({
  path: 'ext install',
  summary: 'Fetch an extension, check it, and keep it in the home folder; it is off until you agree to what it asks for',
  examples: ['ext install ./notes', 'ext install npm:notes@1.2.0', 'ext install git:git.example/me/notes@v1.2.0 --yes'],
  args: { source: required('A folder, npm:name[@version] or git:host/user/repo[@ref]') },
  options: {
    name: extensionName,
    noEnable: on('Leave it off, and do not ask'),
    yes: on('Agree to everything that it asks for', 'y'),
  },
  async run(context) {
    const { args, options, out } = context;
    const { progress, ...deps } = await installDeps(context as Parameters<typeof installDeps>[0]);
    const { installExtension } = await import('../../install/install.ts');
    let prepared: Prepared | undefined;
    const agree = agreeing(context, progress, { yes: options.yes, showSame: true, keep: (shown) => (prepared = shown) });
    const installed = await installExtension({ source: args.source, name: options.name, agree }, deps).finally(progress.clear);
    const { outcome, exitCode } = await enableInstalled(context, installed, prepared, options);
    const { visible } = await import('@tenon/protocol');
    out.show(outcome, () => visible(outcomeLine(outcome)));
    return exitCode;
  },
});
