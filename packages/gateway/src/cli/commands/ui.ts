import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { list, on } from '../values.ts';

export const ui = defineCommand({
  path: 'ui',
  summary: 'Print an address that signs a browser in, once',
  examples: ['ui', 'ui --open', 'ui --scope operator.read --json'],
  options: {
    open: on('Open it in a browser'),
    scope: list('<scopes>', 'What the browser may do, at most what you may', async () => (await import('@tenon/protocol')).scopeNames),
  },
  async run({ options, out, io, call }) {
    const result = await call('signin.create', { scopes: options.scope }, { scopes: '--scope' });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => visible(result.url));
    if (!out.json) out.talk(`It can be used once, and expires ${relative(result.expiresAt, io.now())}`);
    if (!options.open) return;
    if (io.stdout.isTTY !== true) out.talk('There is no terminal, so no browser was opened');
    else if (!(await openBrowser(result.url))) out.talk('No browser could be opened; open the address yourself');
    return;
  },
});

/** Whether the system has taken it. The address is an argument of its own: no shell reads it. */
async function openBrowser(url: string): Promise<boolean> {
  if (!/^https?:\/\//.test(url)) return false;
  const { spawn } = await import('node:child_process');
  const { withoutInherited } = await import('../../kernel/inherited-descriptors.ts');
  const program = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer.exe' : 'xdg-open';
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [url], { stdio: withoutInherited('ignore'), detached: true });
  child.once('error', () => resolve(false));
  child.once('spawn', () => {
    child.unref();
    resolve(true);
  });
  return promise;
}
