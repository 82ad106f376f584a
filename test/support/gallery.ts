// The parts of a conversation in a real browser, under the headers of the page, with nothing behind them: the gallery of the
// page's sources shows what a test hands it and keeps what people did there.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { until } from './page.ts';

/** The sources of the page. */
export const ui = join(import.meta.dirname, '../../packages/control-ui/src');
/** Where pictures go that somebody wants to look at; without it none are taken. */
const pictures = process.env.TENON_TEST_PICTURES;

const NONCE = 'bm9uY2Utb2YtdGhlLXRlc3Q';
const HEADERS = {
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${NONCE}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const FRAME = `
  body { margin: 0; background: var(--surface); }
  h1, h2 { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; white-space: nowrap; }
  .gallery { display: flex; flex-direction: column; height: 100dvh; box-sizing: border-box; }
  .gallery-tall { height: auto; }
  .gallery-tall .transcript-frame { flex: none; }
  .gallery-tall .transcript { overflow: visible; height: var(--tall, 200000px); }
  .gallery-dock { display: flex; flex-direction: column; align-items: center; padding: 8px 8px 4px; }
  .gallery-inbox { display: block; padding: 24px; max-width: 760px; }
`;

export type Theme = 'light' | 'dark';

export interface OpenParts extends AsyncDisposable {
  readonly page: Page;
  /** What the page did that its headers forbid, errors of its code, and requests to anywhere but its own server. */
  readonly faults: string[];
}

export interface Gallery extends AsyncDisposable {
  open(theme?: Theme, options?: BrowserContextOptions): Promise<OpenParts>;
}

export const DESKTOP = { viewport: { width: 760, height: 860 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export async function openGallery(): Promise<Gallery> {
  const bundle = await build({
    stdin: {
      contents: `import './tokens.css'; import './chat/chat.css'; import { startGallery } from './chat/gallery.tsx';
        globalThis.gallery = startGallery(document.getElementById('root'));`,
      resolveDir: ui,
      loader: 'tsx',
    },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    outdir: 'out',
    write: false,
  });
  const text = (end: string) => bundle.outputFiles.find((file) => file.path.endsWith(end))?.text ?? '';
  const files: Record<string, { readonly type: string; readonly body: string }> = {
    '/page.js': { type: 'text/javascript', body: text('.js') },
    '/page.css': { type: 'text/css', body: text('.css') + FRAME },
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://page');
    const file = files[url.pathname];
    const body = file?.body ?? document(url.searchParams.get('theme') === 'dark' ? 'dark' : 'light');
    response.writeHead(200, { ...HEADERS, 'content-type': `${file?.type ?? 'text/html'}; charset=utf-8` }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opened = await openBrowser();
  return {
    async open(theme = 'light', options = DESKTOP) {
      const context = await opened.browser.newContext({ timezoneId: 'UTC', ...options });
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text());
      });
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('dialog', (dialog) => {
        faults.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(address) && !request.url().startsWith('data:')) faults.push(`request ${request.url()}`);
      });
      page.on('popup', (popup) => faults.push(`popup ${popup.url()}`));
      await page.addInitScript(`
        globalThis.seen = [];
        globalThis.frame = requestAnimationFrame.bind(globalThis);
        globalThis.pwned = (by) => seen.push('script ran: ' + by);
        addEventListener('securitypolicyviolation', (event) => seen.push(['violation', event.violatedDirective, event.blockedURI, event.sample].join(' ')));
      `);
      await page.goto(`${address}/?theme=${theme}`);
      await page.getByRole('log').waitFor();
      return { page, faults, [Symbol.asyncDispose]: () => context.close() };
    },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function document(theme: string): string {
  return `<!doctype html><html lang="en" data-theme="${theme}"><head><meta charset="utf-8"><title>Parts</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css"></head>
    <body><div id="root"></div><script type="module" src="/page.js"></script></body></html>`;
}

/** Calls of `globalThis.gallery`, by text: the page is a browser's, and this file has none of its types. */
export async function show(page: Page, view: object): Promise<void> {
  await page.evaluate((view) => (globalThis as unknown as { gallery: { show(view: object): void } }).gallery.show(view), view);
  await settled(page);
}

export async function set(page: Page, change: object): Promise<void> {
  await page.evaluate((change) => (globalThis as unknown as { gallery: { set(change: object): void } }).gallery.set(change), change);
  await settled(page);
}

/** Two frames: what was asked for has been drawn and measured. Frames of the browser, also where its clock stands still. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((done) => frame(() => frame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0); })))',
  );
}

/** What people did since the last look, in order. For nothing, two frames are waited for in which it could have come. */
export async function called(page: Page, expected: readonly string[], what?: string): Promise<void> {
  if (expected.length === 0) await settled(page);
  else await until(what ?? expected.join(', '), async () => Number(await page.evaluate('gallery.calls.length')) >= expected.length);
  assert.deepEqual(await page.evaluate('gallery.calls.splice(0)'), expected, what);
}

export async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

export async function fitTall(page: Page): Promise<void> {
  const height = await page.evaluate('document.querySelector(".transcript-rows").offsetHeight');
  await page.evaluate(`document.querySelector('.gallery').style.setProperty('--tall', '${Number(height)}px')`);
  await settled(page);
}

export const SOMETHING = {
  agentId: 'main',
  sessionKey: 'agent:main:a',
  runId: 'run',
  callId: 'call',
  toolName: 'exec',
  title: 'Run this command?',
  reason: 'asks',
  risk: 'exec',
  args: {},
  digest: '00',
  principal: 'token:a',
  allowed: ['allow-once', 'allow-always', 'deny'],
  state: 'pending',
  createdAt: 0,
};

export async function ask(page: Page, change: object = {}, more: readonly object[] = []): Promise<void> {
  const now = (await page.evaluate('gallery.now')) as number;
  const approval = { ...SOMETHING, id: 'approval-00000000aa', argv: ['ls', '-l'], expiresAt: now + 60_000, ...change };
  await show(page, {
    name: 'items',
    items: [
      { kind: 'user', key: 'u', author: 'Mara', at: now, text: 'Do it', state: 'sent' },
      { kind: 'approval', key: 'ap', approval },
      ...more,
    ],
  });
}

/** From here on the page's clock moves only when the test says so. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

export function talk(count: number, from = 0): object[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index;
    return n % 2 === 0
      ? { kind: 'user', key: `k${n}`, author: 'Mara', at: 0, text: `question ${n}`, state: 'sent', entryId: `entry-${n}` }
      : {
          kind: 'assistant',
          key: `k${n}`,
          agent: 'main',
          at: 0,
          text: `answer ${n}\n\n${'words '.repeat((n * 7) % 90)}`,
          streaming: false,
        };
  });
}

/** Where the reader is. */
export const place = (page: Page) =>
  page.getByRole('log').evaluate((log) => {
    const { scrollTop, clientHeight, scrollHeight } = log as unknown as Record<string, number>;
    return { top: scrollTop!, fromEnd: scrollHeight! - clientHeight! - scrollTop! };
  });

/** Where the reader is once nothing moves any more: a wheel and a jump take as many frames as they take. */
export async function placeAtRest(page: Page): Promise<{ top: number; fromEnd: number }> {
  let last = await place(page);
  await until('nothing moves', async () => {
    await settled(page);
    const before = last;
    last = await place(page);
    return last.top === before.top && last.fromEnd === before.fromEnd;
  });
  return last;
}
