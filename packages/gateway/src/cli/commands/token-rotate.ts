import { defineCommand } from '../command.ts';
import { on, required, text } from '../values.ts';
import { pick } from './pick.ts';
import { writeSecret } from './secret-file.ts';

export const tokenRotate = defineCommand({
  path: 'token rotate',
  summary: 'Give a token a new secret; the old one ends at once',
  examples: ['token rotate phone', 'token rotate ci --yes --out ci.token'],
  args: { token: required('Its id, the beginning of it, or its name') },
  options: { yes: on('Do not ask', 'y'), out: text('<file>', 'Write it to this new file instead of printing it') },
  async run({ args, options, out, call, consent }) {
    const { tokens } = await call('tokens.list');
    const old = pick(
      tokens.filter(({ revokedAt }) => revokedAt === null),
      args.token,
      'token',
    );
    await consent(`Rotate token "${old.name}"`, old.name, options.yes);
    const file = options.out === undefined ? undefined : writeSecret.prepare(options.out, '--out');
    const { token, record } = await call('tokens.rotate', { id: old.id });
    if (file) {
      writeSecret.finish(file, token);
      out.show({ file: options.out, record }, () => `${record.id} in ${options.out}`);
      return;
    }
    out.show({ token, record }, () => token);
    if (!out.json) out.talk('Keep it: it is not shown again');
    return;
  },
});
