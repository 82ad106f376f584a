import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { duration, list, text } from '../values.ts';
import { sessionKey } from './session-key.ts';
import { intoNewFile } from './secret-file.ts';

export const tokenNew = defineCommand({
  path: 'token new',
  summary: 'Make a token, with at most the scopes you hold; it is shown once',
  examples: ['token new --name phone --scope operator.read', 'token new --name ci --scope operator.write --expires 90d --out ci.token'],
  options: {
    name: text('<text>', 'What it is for'),
    scope: list('<scopes>', 'What it may do', async () => (await import('@tenon/protocol')).scopeNames),
    session: text('<key>', 'Only for this session'),
    expires: duration('When it ends, from now'),
    out: text('<file>', 'Write it to this new file, readable by you alone, instead of printing it'),
  },
  async run({ options, out, io, params, call }) {
    const { name, scope: scopes, expires } = options;
    if (scopes?.length === 0) throw usageError('--scope is empty; it must be a list of scopes');
    const session = options.session === undefined ? undefined : await sessionKey(options.session);
    const expiresAt = expires === undefined ? undefined : io.now() + expires;
    const labels = { scopes: '--scope', sessionKey: '--session', expiresAt: '--expires' };
    const wanted = await params('tokens.create', { name, scopes, sessionKey: session, expiresAt }, labels);
    if (options.out !== undefined) {
      await intoNewFile(options.out, '--out', async (write) => {
        const { token, record } = await call('tokens.create', wanted, labels);
        write(token);
        out.show({ file: options.out, record }, () => `${record.id} in ${options.out}`);
      });
      return;
    }
    const { token, record } = await call('tokens.create', wanted, labels);
    out.show({ token, record }, () => token);
    if (!out.json) out.talk(`Keep it: it is not shown again. Revoke it with: tenon token revoke ${record.id}`);
    return;
  },
});
