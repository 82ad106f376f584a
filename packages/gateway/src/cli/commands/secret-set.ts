import { defineCommand } from '../command.ts';
import { readSecret } from '../target.ts';
import { usageError } from '../failure.ts';
import { optional, required } from '../values.ts';
import { secretName } from './secret-name.ts';

export const secretSet = defineCommand({
  path: 'secret set',
  summary: 'Keep a secret for plugins, in a file of the home folder that you alone can read',
  examples: ['secret set mail-key @mail.key', 'cat mail.key | tenon secret set mail-key'],
  args: {
    name: required('Its name: lower-case letters, digits and dashes'),
    from: optional('@file, or - for stdin, which is meant without it'),
  },
  async run({ args, out, io, home }) {
    const name = secretName(args.name);
    const { from = '-' } = args;
    if (from !== '-' && !from.startsWith('@'))
      throw usageError('The secret must be given as @file or - for stdin: the command line of a process can be seen by others');
    if (from === '-' && io.stdin.isTTY === true) throw usageError(`Pipe it in, or name a file: tenon secret set ${name} @file`);
    const value = await readSecret(from, io, 'the secret');
    const { writeSecretFile } = await import('../../kernel/secret-files.ts');
    const { prepareHome } = await import('../../home.ts');
    const folder = await home();
    prepareHome(folder);
    try {
      writeSecretFile(folder, name, value);
    } catch (error) {
      throw usageError(error instanceof Error ? error.message : 'The secret cannot be kept');
    }
    out.show({ name }, () => `${name} is kept`);
    if (!out.json) out.talk(`A plugin that asks for secrets.use:${name} can be granted it: tenon plugin grant <id> secrets.use:${name}`);
  },
});
