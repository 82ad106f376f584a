// Attacks on the web page: addresses that want to redirect it, text that wants to run in it, and what it leaves behind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type Client, createClient } from '@tenon/client';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { markupAttacks } from '../support/markup-attacks.ts';
import { becomes, goToView, openContext, openSignedIn, send, signInLink, until } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

let gateway: GatewayProcess;
let opened: TestBrowser;
let client: Client;
let attacker: string;
const attacked: IncomingMessage[] = [];
let connections = 0;
const server = createServer((request, response) => {
  attacked.push(request);
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>elsewhere</title>');
});
server.on('connection', () => connections++);

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  attacker = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  [gateway, opened] = await Promise.all([startGatewayProcess(), openBrowser()]);
  client = createClient({ url: gateway.socketUrl, token: gateway.token });
  await client.connect();
});
after(async () => {
  await client?.close();
  await opened?.[Symbol.asyncDispose]();
  await gateway?.remove();
  server.closeAllConnections();
  server.close();
});

function importLines(messages: readonly object[]): string {
  const header = { type: 'session', version: 3, id: 'attack', timestamp: new Date(0).toISOString(), cwd: '' };
  const entries = messages.map((message, index) => ({
    type: 'message',
    id: `entry${index}`,
    parentId: index === 0 ? null : `entry${index - 1}`,
    timestamp: new Date(1_000 * index).toISOString(),
    message,
  }));
  return [header, ...entries].map((line) => JSON.stringify(line)).join('\n');
}

const usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const said = (text: string) => ({ role: 'user', content: [{ type: 'text', text }], timestamp: 1 });
const answered = (...content: object[]) => ({
  role: 'assistant',
  content,
  provider: 'demo',
  model: 'demo',
  api: 'demo',
  usage,
  stopReason: 'stop',
  timestamp: 1,
});

/** What in the page could run, load, post or be reached by name, and is not ours. */
async function strangers(page: Page): Promise<string[]> {
  return (await page.evaluate(`(() => {
    const found = [];
    for (const element of document.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name)) found.push('handler ' + name + ' on ' + element.tagName);
        if (/^(href|src|action|formaction|srcdoc|data|xlink:href)$/i.test(name) && !/^(https?:|mailto:|#|\\/assets\\/|data:image\\/|blob:)/i.test(value)) found.push(name + '=' + value);
      }
      if (/^(iframe|object|embed|base|video|audio|math|template|frame|marquee)$/i.test(element.tagName)) found.push('element ' + element.tagName);
      if (element.tagName === 'FORM' && !element.matches('.composer')) found.push('form');
      if (element.tagName === 'SCRIPT' && !(element.getAttribute('src') ?? '').startsWith('/assets/')) found.push('script');
      if (element.tagName === 'STYLE' && !element.nonce) found.push('style');
      if (element.tagName === 'META' && element.httpEquiv) found.push('meta ' + element.httpEquiv);
      if (element.tagName === 'svg' && !element.classList.contains('icon') && !element.classList.contains('mark')) found.push('svg');
    }
    for (const element of document.querySelectorAll('.md *')) {
      if (element.id || element.getAttribute('name')) found.push('id ' + element.id);
      if (element.hasAttribute('style')) found.push('style attribute ' + element.getAttribute('style'));
    }
    for (const link of document.querySelectorAll('.md a')) {
      if (!/^(https?|mailto):$/.test(link.protocol)) found.push('link ' + link.href);
      if (!/noopener/.test(link.rel) || !/noreferrer/.test(link.rel)) found.push('rel ' + link.rel + ' of ' + link.href);
    }
    if (globalThis.pwned !== undefined) found.push('a script ran');
    return found;
  })()`)) as string[];
}

test('an address neither redirects the connection nor brings a token', async () => {
  verifies('S04');
  const host = attacker.replace('http://', '');
  await using mine = await openContext(opened.browser);
  const sockets: string[] = [];
  mine.page.on('websocket', (socket) => sockets.push(socket.url()));
  const token = gateway.token;
  for (const address of [
    `/?gatewayUrl=ws://${host}&token=${token}`,
    `/?token=${token}`,
    `/#token=${token}`,
    `/#token=${token}&gatewayUrl=ws://${host}`,
    `/?url=ws://${host}#/chat/agent:main:x?token=${token}`,
  ]) {
    await mine.page.goto('about:blank');
    await mine.page.goto(gateway.url + address);
    await mine.page.getByRole('heading', { name: 'Sign in to Tenon' }).waitFor();
    await until(`nothing is asked for after ${address}`, async () => !mine.page.url().split('#')[0]!.includes('?'));
    if (!address.includes('#/')) await until(`no token is left of ${address}`, async () => !mine.page.url().includes('token'));
    await becomes(() => mine.page.evaluate('localStorage.length + sessionStorage.length'), 0, address);
  }
  assert.equal(sockets.length, 0, 'nobody is signed in, so nothing is connected');

  await using signedIn = await openSignedIn(opened.browser, gateway);
  signedIn.page.on('websocket', (socket) => sockets.push(socket.url()));
  await signedIn.page.goto(`${gateway.url}/?gatewayUrl=ws://${host}&x=1`);
  await signedIn.page.locator('.shell').waitFor();
  await until('the page is connected', async () => sockets.length > 0);
  assert.ok(
    sockets.every((url) => url === `${gateway.socketUrl}/ws`),
    sockets.join(),
  );
  assert.equal(connections, 0, 'the attacker saw no byte');
  assert.deepEqual(await mine.faults(), []);
});

test('no token in an address, a referrer or the history, and nothing in storage after signing out', async () => {
  verifies('S08');
  await using mine = await openContext(opened.browser);
  const { page, context } = mine;
  const seen: string[] = [];
  page.on('request', (request) => seen.push(request.url()));
  const link = await signInLink(gateway);
  const code = link.split('code=')[1]!;
  await page.goto(link);
  await page.locator('.shell').waitFor();
  const token = String(await page.evaluate(`localStorage.getItem('tenon.token')`));
  assert.ok(token.length > 16);

  const { session } = await client.call('sessions.import', {
    key: 'agent:main:links',
    jsonl: importLines([said('x'), answered({ type: 'text', text: `[elsewhere](${attacker}/clicked)` })]),
  });
  await page.goto(`${gateway.url}/#/chat/${session.key}`);
  const clicked = attacked.length;
  const popup = context.waitForEvent('page');
  await page.locator('.md').getByRole('link', { name: 'elsewhere' }).click();
  const other = await popup;
  await other.waitForLoadState();
  assert.equal(attacked[clicked]?.headers.referer, undefined);
  await becomes(() => other.evaluate('window.opener'), null);
  await other.close();

  await page.goto(`${gateway.url}/#/settings`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Tenon' }).waitFor();
  const left = await page.evaluate(`(async () => ({
    local: { ...localStorage },
    session: { ...sessionStorage },
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    cookie: document.cookie,
    address: location.href,
    text: document.documentElement.outerHTML,
  }))()`);
  const { text, address, ...kept } = left as Record<string, unknown>;
  assert.deepEqual(kept, { local: {}, session: {}, databases: 0, caches: 0, workers: 0, cookie: '' });
  await becomes(() => context.cookies(), []);
  for (const secret of [token, code]) {
    for (const url of [...seen, String(address), String(text)]) assert.ok(!url.includes(secret), url.slice(0, 200));
  }
  // Back through the history: nothing of the way in is there.
  for (let step = 0; step < 5; step++) {
    await page.goBack().catch(() => null);
    assert.doesNotMatch(page.url(), /code=|token=/);
  }
  await assert.rejects(async () => {
    const old = createClient({ url: gateway.socketUrl, token, reconnect: false });
    await old.connect().finally(() => old.close());
  }, 'the token was revoked');
});

test('signing out forgets what was typed, in this tab and in the others, and the next person does not see it', async () => {
  verifies('S08');
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page, context } = mine;
  const other = await context.newPage();
  for (const tab of [page, other]) {
    await tab.goto(`${gateway.url}/#/chat`);
    await tab.locator('.composer textarea').fill('what nobody else should read');
    await until('the draft is kept', async () => String(await tab.evaluate('JSON.stringify(sessionStorage)')).includes('nobody else'));
  }
  await page.goto(`${gateway.url}/#/settings`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  for (const tab of [page, other]) {
    await tab.getByRole('heading', { name: 'Sign in to Tenon' }).waitFor();
    await becomes(() => tab.evaluate('localStorage.length + sessionStorage.length'), 0);
  }
  // The same tab, without a reload: what it had in memory must be gone, too.
  const code = (await signInLink(gateway)).split('#')[1]!;
  await page.evaluate(`location.hash = ${JSON.stringify(code)}`);
  await page.locator('.shell').waitFor();
  await page.evaluate(`location.hash = '#/chat'`);
  await becomes(() => page.locator('.composer textarea').inputValue(), '');
  assert.ok(!String(await page.evaluate('JSON.stringify(sessionStorage)')).includes('nobody else'));
});

test('stored markup runs nothing, loads nothing and names nothing, wherever it is shown', async () => {
  verifies('S63', 'S64', 'S65', 'S66');
  const attacks = markupAttacks(attacker);
  assert.ok(attacks.length > 200);
  const before = attacked.length;
  // Several in one message: each stands on its own in Markdown.
  const groups = Array.from({ length: Math.ceil(attacks.length / 12) }, (_, index) => [
    `group-${index}-`,
    ...attacks.slice(index * 12, index * 12 + 12),
  ]);
  const messages = groups.flatMap((group, index) => {
    const [, first = 'x'] = group;
    const call = {
      type: 'toolCall',
      id: `call${index}`,
      name: 'write',
      arguments: { path: first, content: group.join('\n'), [first]: group },
    };
    return [
      said(group.join('\n\n')),
      answered({ type: 'thinking', thinking: group.join('\n') }, { type: 'text', text: group.join('\n\n') }, call),
      {
        role: 'toolResult',
        toolCallId: `call${index}`,
        toolName: first.slice(0, 60),
        content: [{ type: 'text', text: group.join('\n') }],
        isError: index % 2 === 0,
        timestamp: 1,
      },
      { ...answered({ type: 'text', text: 'x' }), stopReason: 'error', errorMessage: first },
    ];
  });
  const { session } = await client.call('sessions.import', {
    key: 'agent:main:attack',
    jsonl: importLines(messages),
    title: attacks[2]!.slice(0, 200),
  });
  for (const [index, title] of attacks.slice(0, 40).entries()) {
    await client.call('sessions.create', { key: `agent:main:title-${index}`, title: title.slice(0, 400) });
  }
  await client.call('chat.inject', {
    sessionKey: session.key,
    message: attacks.slice(0, 20).join('\n\n'),
    label: attacks[2]!.slice(0, 200),
  });

  await using mine = await openSignedIn(opened.browser, gateway, { viewport: { width: 1200, height: 3_000 } });
  const { page } = mine;
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto(`${gateway.url}/#/chat/${session.key}`);
  await page.locator('.transcript .md').first().waitFor();
  // From the end to the beginning, with everything open that can be opened.
  const drawn = new Set<string>();
  await until(
    'all of it was drawn',
    async () => {
      await page.evaluate(
        `for (const each of document.querySelectorAll('.tool-line[aria-expanded=false], .thinking > button[aria-expanded=false]')) each.click()`,
      );
      for (const [marker] of (await page.locator('.transcript').innerText()).matchAll(/group-\d+-/g)) drawn.add(marker);
      assert.deepEqual(await strangers(page), []);
      await page.evaluate(`document.querySelector('.transcript').scrollTop -= 1500`);
      return drawn.size === groups.length;
    },
    60_000,
  );

  await page.setViewportSize({ width: 1200, height: 900 });
  for (const view of ['sessions', 'approvals', 'overview', 'chat']) {
    await goToView(page, gateway, view);
    assert.deepEqual(await strangers(page), [], view);
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or run' }).fill('img');
  await page.locator('.palette-row').first().waitFor();
  assert.deepEqual(await strangers(page), []);
  await page.keyboard.press('Escape');

  // A question whose every part is markup.
  await page.goto(`${gateway.url}/#/chat`);
  await send(page, `Run echo "<img src=x onerror=globalThis.pwned=1>" '<script>globalThis.pwned=1</script>'`);
  await page.getByRole('alertdialog').waitFor();
  assert.deepEqual(await strangers(page), []);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Deny' }).click();
  await until('the page still works', async () => (await page.getByRole('alertdialog').count()) === 0);

  assert.deepEqual(await mine.faults(), [], 'no policy was even tried');
  assert.equal(attacked.length, before, 'nothing was loaded from elsewhere');
  assert.deepEqual(
    loaded.filter((url) => !url.startsWith(gateway.url) && !/^(data|blob|ws):/.test(url)),
    [],
  );
});

test('every answer with the page in it carries the strict headers, and has no script or style inside', async () => {
  verifies('S67', 'S06');
  const html = await fetch(gateway.url);
  const text = await html.text();
  const nonce = /'nonce-([^']+)'/.exec(html.headers.get('content-security-policy') ?? '')?.[1];
  assert.ok(nonce && text.includes(`nonce="${nonce}"`), 'the page has the nonce of its answer');
  assert.doesNotMatch(text, /__NONCE__|<style|style=|\son[a-z]+=/i);
  assert.doesNotMatch(text, /<script(?![^>]*\ssrc="\/assets\/)/);
  assert.doesNotMatch(text, /https?:\/\//, 'nothing comes from elsewhere');
  const assets = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.ok(assets.length >= 4);
  for (const path of ['/', ...assets, '/assets/nothing.js']) {
    const response = await fetch(gateway.url + path);
    await response.arrayBuffer();
    const policy = response.headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "connect-src 'self'",
    ]) {
      assert.ok(policy.split('; ').includes(part), `${path} ${part}`);
    }
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(response.headers.get('cross-origin-opener-policy'), 'same-origin', path);
    assert.equal(response.headers.get('cross-origin-resource-policy'), 'same-origin', path);
  }
});
