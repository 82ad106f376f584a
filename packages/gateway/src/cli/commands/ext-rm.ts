import { defineCommand } from '../command.ts';
import { readRunning } from '../running.ts';
import { on, required } from '../values.ts';

export const extRm = defineCommand({
  path: 'ext rm',
  summary: 'Switch off an extension that was installed, and remove its files and all that it keeps',
  examples: ['ext rm notes', 'ext rm notes --yes'],
  args: { name: required('Its name') },
  options: { yes: on('Do not ask', 'y') },
  async run({ args, options, out, home, ask, consent }) {
    const { removeExtension } = await import('../../install/install.ts');
    const { prepareHome } = await import('../../home.ts');
    const folder = await home();
    prepareHome(folder);
    const { name } = args;
    const isRunning = readRunning(folder) !== undefined;
    const agree = async ({ version }: { readonly version: string }) => {
      await consent(`Remove extension "${name}" ${version}`, name, options.yes);
      if (isRunning) await ask('plugins.disable', { id: name, forget: true });
    };
    const { version } = await removeExtension(name, agree, folder);
    // It looks again, and finds that it is gone.
    if (isRunning) await ask('plugins.get', { id: name, files: true });
    const { visible } = await import('@tenon/protocol');
    out.show({ name, version, removed: true }, () => visible(`${name} ${version} is removed`));
    if (!out.json && !isRunning) out.talk(`If it was enabled, the gateway will miss it: then run tenon plugin disable ${name} --forget`);
  },
});
