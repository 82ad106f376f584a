import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { required } from '../values.ts';
import { secretName } from './secret-name.ts';

export const secretRm = defineCommand({
  path: 'secret rm',
  alias: 'remove',
  summary: 'Remove a secret; plugins that ask for it from now on are told that it is not there',
  examples: ['secret rm mail-key'],
  args: { name: required('Its name') },
  async run({ args, out, home }) {
    const name = secretName(args.name);
    const { removeSecretFile } = await import('../../kernel/secret-files.ts');
    if (!removeSecretFile(await home(), name)) throw usageError(`There is no secret ${name}; see tenon secret ls`);
    out.show({ name }, () => `${name} is removed`);
  },
});
