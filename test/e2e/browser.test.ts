// The page and the client where people use them: in a real browser, against a real gateway.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { becomes } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
let gateway: GatewayProcess;
let opened: TestBrowser;

before(async () => {
  [gateway, opened] = await Promise.all([startGatewayProcess({ home }), openBrowser()]);
});
after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await gateway?.remove();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

async function openPage(): Promise<{ page: Page; violations: string[] }> {
  const page = await opened.browser.newPage();
  const violations: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') violations.push(message.text());
  });
  await page.goto(gateway.url);
  return { page, violations };
}

test('the address of the gateway is its page, which asks strangers to sign in', async () => {
  const { page, violations } = await openPage();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await becomes(() => page.title(), 'Sign in · Tenon');
  await becomes(() => page.evaluate('document.documentElement.lang'), 'en');
  await becomes(() => page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), true);
  assert.deepEqual(violations, []);
  await page.close();
});

test('the client works in a browser: typed calls, events, resume after the gateway was killed', async () => {
  verifies('foundation:client-typed', 'foundation:client-reconnect');
  const bundle = await build({
    stdin: { contents: `export { createClient } from '@tenon/client';`, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    format: 'iife',
    globalName: 'tenon',
    platform: 'browser',
    write: false,
  });
  const { page } = await openPage();
  await page.evaluate(bundle.outputFiles[0]?.text ?? '');
  await page.evaluate(
    ({ url, token }) => {
      const { createClient } = (globalThis as unknown as { tenon: typeof import('@tenon/client') }).tenon;
      const client = createClient({ url, token, reconnect: { minMs: 20, maxMs: 200 } });
      const titles: string[] = [];
      client.on('sessions.changed', ({ session }) => titles.push(session?.title ?? ''));
      Object.assign(globalThis, { client, titles });
    },
    { url: gateway.socketUrl, token: gateway.token },
  );
  const first = await page.evaluate(async () => {
    const { client } = globalThis as unknown as { client: import('@tenon/client').Client };
    const hello = await client.connect();
    const { session } = await client.call('sessions.create', { title: 'from a browser' });
    return { protocol: hello.protocol, key: session.key };
  });
  assert.equal(first.protocol, 3);

  const { port } = gateway;
  await gateway.kill();
  gateway = await startGatewayProcess({ home, port });
  const titles = await page.evaluate(async (key) => {
    const { client, titles } = globalThis as unknown as { client: import('@tenon/client').Client; titles: string[] };
    await client.call('sessions.patch', { key, title: 'after the kill' });
    while (titles.length < 2) await new Promise((resolve) => client.on('sessions.changed', resolve));
    return titles;
  }, first.key);
  assert.deepEqual(titles, ['from a browser', 'after the kill']);
  await page.close();
});
