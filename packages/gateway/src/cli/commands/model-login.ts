import { defineCommand } from '../command.ts';
import { required, text } from '../values.ts';

/** Somebody signs in elsewhere meanwhile. */
const PATIENCE_MS = 330_000;

export const modelLogin = defineCommand({
  path: 'model login',
  summary: 'Sign in at a provider of models that a plugin or an extension serves',
  examples: ['model login echo', 'model login echo --session agent:main:main'],
  args: { provider: required('Its name, as `model ls` shows it') },
  options: { session: text('<key>', 'The session in which it may ask you something') },
  async run({ args, options, out, call }) {
    const params = { provider: args.provider, ...(options.session === undefined ? {} : { sessionKey: options.session }) };
    const result = await call('models.signIn', params, { provider: '<provider>', sessionKey: '--session' }, PATIENCE_MS);
    const { visible } = await import('@tenon/protocol');
    const until = result.expiresAt === undefined ? '' : `, until ${new Date(result.expiresAt).toISOString()}`;
    const words = `Signed in at ${visible(result.provider)}${until}${result.renewable ? '; it is renewed by itself' : ''}`;
    out.show(result, () => words);
  },
});
