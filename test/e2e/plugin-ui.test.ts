// What plugins show in the web page, in a real browser against a real gateway: every surface and every kind of block, forms,
// switches, the composer that a plugin closes, and what no text of a plugin can become.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonValue } from '@tenon/protocol';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { everyBlock, writeDrawnPlugin } from '../support/drawn-plugin.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { accessibilityFaults, openSignedIn, phone, scrollsSideways, smallTargets } from '../support/page.ts';
import { connectRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
let gateway: GatewayProcess;
let opened: TestBrowser;
let count = 0;

before(async () => {
  writeDrawnPlugin(home);
  [gateway, opened] = await Promise.all([startGatewayProcess({ home, args: ['--plugins-paths', 'plugins'] }), openBrowser()]);
  await ask('plugins.enable', { id: 'drawn' });
});
after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await gateway?.remove();
  rmSync(home, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: each method answers in its own way
async function ask(method: string, params: object, of: GatewayProcess = gateway): Promise<any> {
  await using client = await connectRaw(of.socketUrl, of.token);
  const { ok, payload, error } = await client.request(method, params);
  assert.equal(ok, true, `${method}: ${JSON.stringify(error)}`);
  return payload;
}

async function newSession(value?: JsonValue): Promise<string> {
  const key = `agent:main:drawn-${++count}`;
  await ask('sessions.create', { key, title: `Session ${count}` });
  if (value !== undefined) await setState(key, value);
  return key;
}

const setState = (key: string, value: JsonValue) => ask('sessions.pluginPatch', { key, pluginId: 'drawn', namespace: 'box', value });

async function openSession(browser: Browser, key: string, options: BrowserContextOptions = {}, of: GatewayProcess = gateway) {
  const mine = await openSignedIn(browser, of, options);
  await mine.page.evaluate(`location.hash = '#/chat/${key}'`);
  await mine.page.getByRole('heading', { level: 1 }).waitFor();
  return mine;
}

/** For somebody who wants to look: a folder to put pictures into. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TENON_TEST_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const card = (page: Page, name: string) => page.locator(`[data-descriptor="${name}"]`);

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every surface and every kind of block is drawn in the ${colorScheme} theme, wide, narrow and on a phone, and is accessible`, async () => {
    verifies('compat:C7', 'compat:C8', 'compat:C11');
    const key = await newSession({ ...everyBlock, bar: { value: 9, max: 90, text: '9 of 90 days' } });
    for (const [size, options] of [
      ['wide', {}],
      ['middle', { viewport: { width: 1000, height: 800 } }],
      ['narrow', { viewport: { width: 320, height: 640 } }],
      ['phone', phone],
    ] as const) {
      await using mine = await openSession(opened.browser, key, { ...options, colorScheme });
      const { page } = mine;
      await card(page, 'drawn/card').getByRole('heading', { name: 'A card in the chat' }).waitFor();
      const names = await page.evaluate(
        `[...document.querySelectorAll('.row-plugin [data-descriptor]')].map((each) => each.dataset.descriptor)`,
      );
      assert.deepEqual(names, ['drawn/card', 'drawn/second'], 'by priority');
      await card(page, 'drawn/bar').getByText('9 of 90 days').waitFor();
      await card(page, 'drawn/line').getByText('next check 14:00').waitFor();
      assert.equal((await page.locator('.plugin-notch', { hasText: 'drawn' }).count()) > 2, true, 'each frame names its plugin');
      assert.equal(await scrollsSideways(page), false, size);
      await picture(page, `plugin-chat-${colorScheme}-${size}`);
      assert.deepEqual(await accessibilityFaults(page), [], size);
      if (size !== 'wide') await page.getByRole('button', { name: 'Open the panels of plugins' }).click();
      const panel = card(page, 'drawn/panel');
      await panel.getByText('Waits for a window').waitFor();
      await panel.locator('strong', { hasText: 'one' }).waitFor();
      await panel.getByText('cert_list 1, shell 4').first().waitFor();
      assert.equal(await panel.getByRole('progressbar', { name: 'Progress' }).getAttribute('aria-valuetext'), '2 of 4');
      assert.deepEqual(await panel.getByRole('columnheader').allInnerTexts(), ['host', 'ends']);
      assert.equal(await panel.locator('[data-sign=added]').count(), 1);
      assert.equal(await panel.getByRole('checkbox').count(), 2);
      await panel.getByText('{"Turn":14').waitFor();
      assert.equal(await scrollsSideways(page), false, `${size}, with the panel`);
      await picture(page, `plugin-panel-${colorScheme}-${size}`);
      assert.deepEqual(await accessibilityFaults(page), [], `${size}, with the panel`);
      if (size === 'phone') assert.deepEqual(await smallTargets(page, 24), []);
      assert.deepEqual(await mine.faults(), []);
    }
  });
}
