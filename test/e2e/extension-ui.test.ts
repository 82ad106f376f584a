// What extensions ask and show, in a real browser: an answer in one page closes the dialog in the others, a page that comes later
// sees what waits, what is shown goes with its process, and no text of an extension becomes anything but text.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { removeFolder } from '../support/clean-up.ts';
import { type DeskStep, writeDesk } from '../support/extensions.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { markupAttacks } from '../support/markup-attacks.ts';
import { accessibilityFaults, becomes, faultsInView, openSignedIn, phone, until } from '../support/page.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
let gateway: GatewayProcess;
let opened: TestBrowser;
let admin: RawClient;
let count = 0;

before(async () => {
  writeDesk(home, { capabilities: 'ui = true' });
  [gateway, opened] = await Promise.all([startGatewayProcess({ home }), openBrowser()]);
  admin = await connectRaw(gateway.socketUrl, gateway.token);
  const { payload, error } = await admin.request('plugins.enable', { id: 'desk' });
  assert.equal(payload?.plugin.state, 'loaded', JSON.stringify(error ?? payload));
});
after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await gateway?.remove();
  removeFolder(home);
});

async function newSession(): Promise<string> {
  const key = `agent:main:asked-${++count}`;
  assert.equal((await admin.request('sessions.create', { key, title: `Session ${count}` })).ok, true);
  return key;
}

async function openSession(key: string, options: BrowserContextOptions = {}) {
  const mine = await openSignedIn(opened.browser, gateway, options);
  await mine.page.evaluate(`location.hash = '#/chat/${key}'`);
  await mine.page.getByRole('heading', { level: 1, name: /^Session/ }).waitFor();
  return mine;
}

async function told(sessionKey: string, ...steps: DeskStep[]): Promise<unknown[]> {
  const { payload, error } = await admin.request('commands.invoke', { sessionKey, text: `/desk ${JSON.stringify(steps)}` });
  assert.equal(error, undefined, JSON.stringify(error));
  return JSON.parse(payload.reply) as unknown[];
}

/** For somebody who wants to look: a folder to put pictures into. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TENON_TEST_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const hasFocus = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`document.activeElement === document.querySelector(${JSON.stringify(selector)})`);

/** Not in the moment in which it opens: whoever types then has not read it. */
const answerable = (page: Page): Promise<void> => page.locator('dialog.people-ready').waitFor();

const dialogIn = (page: Page) => page.getByRole('dialog');

test('G19: a dialog answered in one of two pages closes in the other; a page that comes later sees the one that waits', async () => {
  verifies('sep:ui', 'sep:G19');
  const key = await newSession();
  await using one = await openSession(key);
  await using two = await openSession(key);
  await one.page.locator('.composer textarea').fill('half a thought');
  await one.page.locator('.composer textarea').focus();
  const results = told(
    key,
    ['ui.select', 'Which colour?', ['red', '<b>green</b>', 'blue\u202egrey']],
    ['ui.confirm', 'Publish it?', 'It can be read by everybody.'],
    ['ui.input', 'What is it called?', { default: 'A' }],
  );
  const dialog = dialogIn(one.page);
  await dialog.waitFor();
  await dialogIn(two.page).waitFor();
  assert.equal(await dialog.getByRole('heading', { level: 2 }).textContent(), 'Which colour?');
  assert.match((await dialog.locator('.plugin-notch').textContent()) ?? '', /desk extension asks/);
  assert.deepEqual(await dialog.getByRole('radio').count(), 3);
  assert.equal(await dialog.locator('b', { hasText: 'green' }).count(), 0, 'no text of an extension is markup');
  assert.equal(await dialog.getByText('blue\\u{202e}grey').count(), 1);
  await becomes(() => accessibilityFaults(one.page), []);
  await picture(one.page, 'question-select');
  // By keyboard alone: the focus is inside, and Enter without a choice does nothing.
  await until('the first choice has the focus', () => hasFocus(one.page, '.people-option input'));
  await one.page.keyboard.press('ArrowDown');
  await answerable(one.page);
  await one.page.keyboard.press('Enter');
  const asks = (page: Page, text: string) =>
    becomes(async () => (await dialogIn(page).getByRole('heading', { level: 2 }).allTextContents()).join(), text);
  await asks(one.page, 'Publish it?');
  await asks(two.page, 'Publish it?');
  await becomes(() => accessibilityFaults(two.page), []);
  await picture(two.page, 'question-confirm');

  await using late = await openSession(key, { ...phone, colorScheme: 'dark' });
  await asks(late.page, 'Publish it?');
  await becomes(() => faultsInView(late.page, 'the dialog on a phone', 24), []);
  await picture(late.page, 'question-confirm-phone-dark');
  await answerable(late.page);
  await dialogIn(late.page).getByRole('button', { name: 'Yes' }).click();
  await asks(two.page, 'What is it called?');
  const field = dialogIn(two.page).getByRole('textbox', { name: 'What is it called?' });
  await until('what stands there already is there', async () => (await field.inputValue()) === 'A');
  await field.fill('Ada');
  await picture(two.page, 'question-input');
  await answerable(two.page);
  await two.page.keyboard.press('Enter');
  assert.deepEqual(await results, ['<b>green</b>', true, 'Ada']);
  for (const { page } of [one, two, late]) await becomes(() => dialogIn(page).count(), 0);
  // Who was typing goes on typing.
  await until('the focus is back', () => hasFocus(one.page, '.composer textarea'));
  assert.equal(await one.page.locator('.composer textarea').inputValue(), 'half a thought');
  for (const each of [one, two, late]) assert.deepEqual(await each.faults(), []);
});

test('a question of another session is told at the edge of the page, and Escape puts one away', async () => {
  verifies('sep:ui');
  const key = await newSession();
  const other = await newSession();
  await using mine = await openSession(other);
  const results = told(key, ['ui.confirm', 'Are you there?']);
  const toast = mine.page.locator('.toast', { hasText: 'desk asks: Are you there?' });
  await toast.waitFor();
  assert.equal(await dialogIn(mine.page).count(), 0);
  await toast.getByRole('button', { name: 'Open' }).click();
  await dialogIn(mine.page).waitFor();
  await becomes(() => toast.count(), 0);
  await answerable(mine.page);
  await mine.page.keyboard.press('Escape');
  await becomes(() => dialogIn(mine.page).count(), 0);
  assert.deepEqual(await results, [false]);
  assert.deepEqual(await mine.faults(), []);
});

test('status, title, widget and notices stand where their session is, as text and nothing else, and go with the process', async () => {
  verifies('sep:ui', 'sep:blocks');
  const key = await newSession();
  await using mine = await openSession(key);
  const attacks = markupAttacks(gateway.url).slice(0, 8).join('\n');
  const widget = {
    kind: 'stack',
    children: [
      { kind: 'markdown', text: `**Progress** of the day\n\n${attacks.slice(0, 1_500)}` },
      { kind: 'progress', value: 0.4, label: 'Files' },
      { kind: 'keyvalue', title: 'Facts', rows: [{ key: '<i>a</i>', value: '<script>alert(1)</script>' }] },
      { kind: 'table', columns: ['Name', 'State'], rows: [['one', '<img src=x onerror=alert(1)>']] },
      { kind: 'diff', patch: '-old\n+new' },
      { kind: 'hologram', text: 'what stands for it' },
    ],
  };
  await told(key, ['ui.setStatus', 'working on it <b>now</b>'], ['ui.setTitle', 'A title'], ['ui.setWidget', widget]);
  // It stays for a few seconds only.
  const notice = mine.page.locator('.toast', { hasText: 'It is done' }).waitFor();
  await told(key, ['ui.notify', 'It is done', 'info']);
  await notice;
  const card = mine.page.getByRole('region', { name: 'Widget of desk' });
  await card.getByText('what stands for it').waitFor();
  assert.equal(await card.locator('strong', { hasText: 'Progress' }).count(), 1);
  assert.equal(await card.getByRole('progressbar').getAttribute('value'), '0.4');
  assert.equal(await card.locator('script, img, iframe, i').count(), 0);
  await mine.page.locator('.status-part', { hasText: 'working on it <b>now</b>' }).waitFor();
  await becomes(() => mine.page.title(), 'A title (desk) · Tenon');
  await becomes(() => accessibilityFaults(mine.page), []);
  await picture(mine.page, 'widget');
  // Another session has none of it.
  const other = await newSession();
  await mine.page.evaluate(`location.hash = '#/chat/${other}'`);
  await becomes(() => card.count(), 0);
  await mine.page.evaluate(`location.hash = '#/chat/${key}'`);
  await card.waitFor();
  const { payload } = await admin.request('plugins.get', { id: 'desk' });
  process.kill(payload.plugin.process.pid, 'SIGKILL');
  await becomes(() => card.count(), 0);
  await becomes(() => mine.page.locator('.status-part', { hasText: 'desk' }).count(), 0);
  await becomes(() => mine.page.title(), /^Session \d+ · Tenon$/);
  assert.deepEqual(await mine.faults(), []);
});
