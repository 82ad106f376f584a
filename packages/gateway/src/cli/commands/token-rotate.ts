import { defineCommand } from '../command.ts';
import { on, required, text } from '../values.ts';
import { pick } from './pick.ts';
import { intoNewFile } from './secret-file.ts';

export const tokenRotate = defineCommand({
  path: 'token rotate',
  summary: 'Give a token a new secret; the old one ends at once',
  examples: ['token rotate phone', 'token rotate ci --yes --out ci.token'],
  args: { token: required('Its id, the beginning of it, or its name') },
  options: { yes: on('Do not ask', 'y'), out: text('<file>', 'Write it to this new file instead of printing it') },
  async run({ args, options, out, call, consent }) {
    const rotate = async () => {
      const { tokens } = await call('tokens.list');
      const live = tokens.filter(({ revokedAt }) => revokedAt === null);
      const { id, name } = pick(live, args.token, 'token');
      await consent(`Rotate token "${name}"`, name, options.yes);
      return call('tokens.rotate', { id });
    };
    if (options.out !== undefined) {
      await intoNewFile(options.out, '--out', async (write) => {
        const { token, record } = await rotate();
        write(token);
        out.show({ file: options.out, record }, () => `${record.id} in ${options.out}`);
      });
      return;
    }
    const result = await rotate();
    out.show(result, () => result.token);
    if (!out.json) out.talk('Keep it: it is not shown again');
    return;
  },
});
