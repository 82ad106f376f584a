import { defineCommand } from '../command.ts';
import { required } from '../values.ts';

export const modelLogout = defineCommand({
  path: 'model logout',
  summary: 'Forget what a sign-in at a provider of models gave',
  examples: ['model logout echo'],
  args: { provider: required('Its name, as `model ls` shows it') },
  async run({ args, out, call }) {
    const result = await call('models.signOut', { provider: args.provider }, { provider: '<provider>' });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () =>
      result.signedOut ? `Signed out of ${visible(args.provider)}` : `Nobody was signed in at ${visible(args.provider)}`,
    );
  },
});
