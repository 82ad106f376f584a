import { defineCommand } from '../command.ts';
import { on, required } from '../values.ts';
import { pick } from './pick.ts';

export const tokenRevoke = defineCommand({
  path: 'token revoke',
  summary: 'Revoke a token and close every socket that uses it',
  examples: ['token revoke phone', 'token revoke 3fK9 --yes', 'token revoke phone --dry-run'],
  args: { token: required('Its id, the beginning of it, or its name') },
  options: { yes: on('Do not ask', 'y'), dryRun: on('Only show which one it would be') },
  async run({ args, options, out, call, consent }) {
    const { visible } = await import('@tenon/protocol');
    const { tokens } = await call('tokens.list');
    const token = pick(
      tokens.filter(({ revokedAt }) => revokedAt === null),
      args.token,
      'token',
    );
    if (options.dryRun) {
      out.show({ dryRun: true, record: token }, () => `would revoke ${token.id} (${visible(token.name)})`);
      return;
    }
    await consent(`Revoke token "${token.name}"`, token.name, options.yes);
    const result = await call('tokens.revoke', { id: token.id });
    out.show(result, () => `revoked ${token.id} (${visible(token.name)})`);
    return;
  },
});
