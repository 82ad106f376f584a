import { defineCommand } from '../command.ts';
import { describeFailure } from '../failure.ts';
import { readRunning } from '../running.ts';
import { on, required } from '../values.ts';
import { isOfPlugin } from './ext-consent.ts';

export const extRm = defineCommand({
  path: 'ext rm',
  summary: 'Switch off an extension that was installed, and remove its files and all that it keeps',
  examples: ['ext rm notes', 'ext rm notes --keep-values --yes'],
  args: { name: required('Its name') },
  options: { keepValues: on('Keep its values, its grants and its configuration for when it comes back'), yes: on('Do not ask', 'y') },
  async run({ args, options, out, home, call, ask, consent }) {
    const { removeExtension } = await import('../../install/install.ts');
    const { prepareHome } = await import('../../home.ts');
    const folder = await home();
    prepareHome(folder);
    const { name } = args;
    const forget = !options.keepValues;
    const isRunning = readRunning(folder) !== undefined;
    let isForgotten = false;
    const agree = async ({ version }: { readonly version: string }) => {
      await consent(`Remove extension "${name}" ${version}${forget ? ' and all that it keeps' : ''}`, name, options.yes);
      if (!isRunning || (await isOfPlugin(name, ask))) return;
      // One that the gateway does not know is off; whatever else it says no for, its files stay.
      await call('plugins.disable', { id: name, ...(forget ? { forget } : {}) }).catch((error: unknown) => {
        if (describeFailure(error).code !== 'NOT_FOUND') throw error;
      });
      isForgotten = forget;
    };
    const { version } = await removeExtension(name, agree, folder);
    // It looks again, and finds that it is gone.
    if (isRunning) await ask('plugins.get', { id: name, files: true });
    const { visible } = await import('@tenon/protocol');
    out.show({ name, version, removed: true, forgotten: isForgotten }, () => visible(`${name} ${version} is removed`));
    if (!out.json && !isRunning)
      out.talk(`No gateway runs, so what it keeps is still there; when one does: tenon plugin disable ${name}${forget ? ' --forget' : ''}`);
  },
});
