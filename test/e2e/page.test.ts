// The web page as people use it: a real Chromium against a real gateway with the demo model.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createClient } from '@tenon/client';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import {
  accessibilityFaults,
  becomes,
  desktop,
  faultsInView,
  goToView,
  openContext,
  openSignedIn,
  phone,
  scrollsSideways,
  send,
  signInLink,
  until,
} from '../support/page.ts';

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

/** For somebody who wants to look: a folder to put pictures into. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TENON_TEST_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const answers = (page: Page) => page.locator('.transcript .md');
const isIdle = async (page: Page) => (await page.locator('.bar-state .pill').count()) === 0;
const workspaceFile = (...names: string[]) => join(home, 'workspaces', 'main', ...names);

async function newSession(page: Page): Promise<void> {
  await page.keyboard.press('n');
  await page.getByText('Say something to start').waitFor();
}

async function ask(page: Page, text: string): Promise<void> {
  const before = await answers(page).count();
  await send(page, text);
  await until(`an answer to "${text}"`, async () => (await answers(page).count()) > before && (await isIdle(page)));
}

test('a link signs a browser in once, leaves no code behind, and shows what to do first', async () => {
  await using first = await openContext(opened.browser);
  const { page } = first;
  await page.goto(gateway.signInUrl);
  await page.getByText('Say something to start').waitFor();
  await until('no code in the address', async () => !/code/.test(page.url()));
  assert.equal(await page.evaluate('history.length'), 2, 'the address with the code was replaced, not followed by another');
  await becomes(() => page.getByRole('heading', { level: 1 }).count(), 1);
  await page.getByText('The gateway runs').waitFor();
  await page.getByText('for the keyboard map').waitFor();
  await picture(page, 'first-run');
  assert.deepEqual(await first.faults(), []);

  await using second = await openContext(opened.browser);
  await second.page.goto(gateway.signInUrl);
  await second.page.getByRole('alert').getByText('used already or has expired').waitFor();
  await picture(second.page, 'sign-in-used');
  await becomes(() => second.page.getByLabel('Access token').getAttribute('aria-invalid'), 'false', 'the token is not what was wrong');
  await second.page.getByText('npx tenon ui').first().waitFor();
  await second.page.getByLabel('Access token').fill('not-a-token');
  await second.page.getByRole('button', { name: 'Sign in' }).click();
  await until('the refusal', async () => !/used already/.test(await second.page.getByRole('alert').innerText()));
  await second.page.getByLabel('Access token').fill(gateway.token);
  await second.page.getByLabel('Keep me signed in').uncheck();
  await second.page.getByRole('button', { name: 'Sign in' }).click();
  await second.page.locator('.shell').waitFor();
  await becomes(() => second.page.evaluate('[Object.keys(localStorage), Object.keys(sessionStorage)]'), [[], ['tenon.token']]);
});

test('a conversation: the answer streams, a file is listed, a note is written after an approval by keyboard', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.evaluate(`globalThis.lengths = new Set();
    new MutationObserver(() => {
      for (const each of document.querySelectorAll('.transcript .md')) lengths.add(each.textContent.length);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });`);
  await ask(page, 'What are you?');
  await becomes(() => answers(page).last().innerText(), /demo model/);
  await until('the answer came in parts', async () => Number(await page.evaluate('globalThis.lengths.size')) > 3);
  await becomes(async () => page.url(), /#\/chat\/agent:main:/, 'the session has an address');
  await becomes(() => page.evaluate(`document.activeElement?.tagName`), 'TEXTAREA', 'who typed the first message goes on typing');

  await ask(page, 'List the files');
  await page.locator('.tool', { hasText: 'ls' }).getByText('Done').waitFor();

  await send(page, 'Write a note: water the plants');
  const card = page.getByRole('alertdialog');
  await card.waitFor();
  await becomes(() => page.title(), /^\(1\) /, 'what waits is counted in the title');
  await picture(page, 'chat-approval');
  await becomes(() => accessibilityFaults(page), []);
  const note = workspaceFile('notes', 'water-the-plants.md');
  assert.equal(existsSync(note), false);
  await card.getByRole('heading').focus();
  // The keys are dead for the first moment on purpose.
  await until('the decision', async () => {
    if ((await card.count()) > 0) await page.keyboard.press('a');
    return (await card.count()) === 0;
  });
  await until('the note', async () => existsSync(note));
  await until('the end of the turn', () => isIdle(page));
  await page.getByText('Allowed once', { exact: true }).waitFor();
  assert.match(readFileSync(note, 'utf8'), /water the plants/i);
  await until('the badge is gone', async () => !(await page.title()).startsWith('('));
  await picture(page, 'chat');

  const before = await page.locator('.transcript').innerText();
  await page.reload();
  await page.locator('.transcript .md').first().waitFor();
  await until(
    'the same conversation after a reload',
    async () => (await answers(page).count()) > 0 && /water-the-plants/.test(await page.locator('.transcript').innerText()),
  );
  assert.match(before, /water-the-plants/);
  assert.deepEqual(await mine.faults(), []);
});

test('a fresh link that is pasted into the tab signs in and leaves nothing in the address', async () => {
  await using mine = await openContext(opened.browser);
  const { page } = mine;
  await page.goto(gateway.url);
  await page.getByRole('heading', { name: 'Sign in to Tenon' }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(new URL(await signInLink(gateway)).hash)}`);
  await page.locator('.shell').waitFor();
  await until('no code in the address', async () => !/code/.test(page.url()));
  const link = await signInLink(gateway);
  await page.goto(`${gateway.url}/#/settings`);
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`);
  await until('the address is as before', async () => new URL(page.url()).hash === '#/settings');
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await using other = await openContext(opened.browser);
  await other.page.goto(link);
  await other.page.locator('.shell').waitFor();
  assert.deepEqual(await mine.faults(), []);
});

test('an address of a session that is not there is an empty one until its first message', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/chat/agent:main:not-there-yet`);
  await page.getByText('Say something to start').waitFor();
  await ask(page, 'What are you?');
  await becomes(() => page.getByText('could not be read').count(), 0);
  await becomes(() => page.locator('.transcript').innerText(), /What are you\?/);
  assert.deepEqual(await mine.faults(), []);
});

test('a turn is stopped by Escape twice, and the session goes on', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await newSession(page);
  await send(page, 'Run sleep 60');
  const card = page.getByRole('alertdialog');
  await card.waitFor();
  await card.getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.tool', { hasText: 'exec' }).getByText('Running').waitFor();
  await page.locator('.composer textarea').press('Escape');
  await page.locator('.composer textarea').press('Escape');
  await until('the turn has ended', () => isIdle(page));
  await page.locator('.notice-end').waitFor();
  const status = page.locator('.rail .session-row[aria-current] .session-row-status');
  await until('the list says that it was stopped', async () => (await status.innerText()) === 'Stopped');
  await ask(page, 'What are you?');
  await until('the list says that it is done', async () => (await status.innerText()) === 'Done');
  assert.deepEqual(await mine.faults(), []);
});

test('two pages and what they do are in step, and the first decision counts for both', async () => {
  await using one = await openSignedIn(opened.browser, gateway);
  await newSession(one.page);
  await send(one.page, 'Write a note: buy milk');
  await one.page.getByRole('alertdialog').waitFor();
  const address = new URL(one.page.url()).hash;
  await using two = await openSignedIn(opened.browser, gateway);
  await two.page.goto(`${gateway.url}/${address}`);
  await two.page.getByRole('alertdialog').getByRole('button', { name: 'Deny' }).click();
  await until('the question is gone on the other page', async () => (await one.page.getByRole('alertdialog').count()) === 0);
  await until('both have the end', async () => (await isIdle(one.page)) && (await isIdle(two.page)));
  assert.equal(existsSync(workspaceFile('notes', 'buy-milk.md')), false);
  await send(two.page, 'What are you?');
  await until('the message of one page on the other', async () => /What are you\?/.test(await one.page.locator('.transcript').innerText()));
  assert.deepEqual([await one.faults(), await two.faults()], [[], []]);
});

test('sessions are renamed, pinned, forked, exported, archived and deleted', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await newSession(page);
  await ask(page, 'What time is it?');
  const menu = async (item: string) => {
    await page.getByRole('button', { name: 'More for this session' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menu').waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await page.keyboard.press('Escape');
  await until('the menu is closed', async () => (await page.getByRole('menu').count()) === 0);
  await menu('Rename');
  await becomes(() => accessibilityFaults(page), []);
  await page.getByLabel('Title').fill('The time');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'The time' }).waitFor();
  await menu('Pin');
  await page.locator('.rail').getByText('Pinned', { exact: true }).waitFor();

  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export this session' }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), 'The-time.jsonl');
  const file = join(home, 'exported.jsonl');
  await download.saveAs(file);
  assert.match(readFileSync(file, 'utf8'), /What time is it\?/);

  await menu('Fork');
  await until(
    'the fork is open',
    async () => /#\/chat\//.test(page.url()) && (await page.locator('.rail .session-row[aria-current]').count()) === 1,
  );
  await page.getByText('What time is it?').last().waitFor();
  await page.getByRole('heading', { level: 1, name: 'The time (fork)' }).waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await menu('Copy terminal command');
  await page.locator('.toast', { hasText: 'npx tenon chat --session agent:main:' }).waitFor();
  await becomes(
    () => page.evaluate('navigator.clipboard.readText()'),
    `npx tenon chat --session ${decodeURIComponent(new URL(page.url()).hash.slice('#/chat/'.length))}`,
  );
  await menu('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the session' }).click();
  await page.getByText('Deleted').waitFor();

  await page.goto(`${gateway.url}/#/sessions`);
  await page.getByLabel('File to import').setInputFiles(file);
  await page.getByText('What time is it?').last().waitFor();
  await menu('Archive');
  await page.getByText('Say something to start').waitFor();
  assert.deepEqual(await mine.faults(), []);
});

test('a long conversation is read page by page, and messages queue while the agent works', async () => {
  const header = { type: 'session', version: 3, id: 'long', timestamp: new Date(0).toISOString(), cwd: '' };
  const usage = {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const answer = { role: 'assistant', provider: 'demo', model: 'demo', api: 'demo', usage, stopReason: 'stop', timestamp: 1 };
  const lines = Array.from({ length: 400 }, (_, index) => ({
    type: 'message',
    id: `entry${index}`,
    parentId: index === 0 ? null : `entry${index - 1}`,
    timestamp: new Date(1_700_000_000_000 + index * 1_000).toISOString(),
    message:
      index % 2 === 0
        ? { role: 'user', content: [{ type: 'text', text: `Question ${index}.` }], timestamp: 1 }
        : { ...answer, content: [{ type: 'text', text: `Answer ${index}. `.repeat(20) }] },
  }));
  const client = createClient({ url: gateway.socketUrl, token: gateway.token });
  await client.connect();
  await client.call('sessions.import', {
    key: 'agent:main:long',
    jsonl: [header, ...lines].map((line) => JSON.stringify(line)).join('\n'),
    title: 'Long',
  });
  await client.close();
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/chat/agent:main:long`);
  const transcript = page.locator('.transcript');
  await page.getByText('Question 398.').waitFor();
  await transcript.hover();
  await until('the beginning', async () => {
    await page.mouse.wheel(0, -5_000);
    return /Question 0\./.test(await transcript.innerText());
  });
  await until('only what is near the eye is drawn', async () => (await page.locator('.transcript .row').count()) < 100);

  await send(page, 'Run sleep 60');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.tool', { hasText: 'exec' }).getByText('Running').waitFor();
  await send(page, 'What are you?');
  await page.getByText('Queued').waitFor();
  await page.getByRole('button', { name: 'Take it back' }).click();
  await until('it is taken back', async () => (await page.getByText('Queued').count()) === 0);
  await page.getByRole('button', { name: 'Stop' }).click();
  await until('the end of the turn', () => isIdle(page));
  assert.deepEqual(await mine.faults(), []);
});

test('a question that comes up elsewhere is told there, answered in the inbox, and a standing rule can be taken back', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  // Elsewhere before it comes up: a question that was seen in its session is not told again.
  await page.goto(`${gateway.url}/#/overview`);
  await page.getByText('Health by part').waitFor();
  const client = createClient({ url: gateway.socketUrl, token: gateway.token });
  await client.connect();
  await client.call('chat.send', { sessionKey: 'agent:main:standing', message: 'Run echo standing', idempotencyKey: 'standing' });
  await client.close();
  await page.locator('.toast').getByRole('button', { name: 'Open' }).click();
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  const card = page.getByRole('alertdialog');
  await card.getByText('standing', { exact: true }).waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await picture(page, 'approvals-waiting');
  await card.getByRole('button', { name: 'Always for exactly this' }).click();
  await until('it is decided', async () => (await card.count()) === 0);
  await page.locator('.approval-row').getByText('Always for exactly this').first().waitFor();
  await page.getByRole('button', { name: 'Standing rules' }).click();
  const rules = page.getByRole('dialog', { name: 'Standing rules' });
  await rules.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove the rule' }).click();
  await rules.getByText('There is no such rule').waitFor();
  await rules.getByRole('button', { name: 'Close' }).click();
  assert.deepEqual(await mine.faults(), []);
});

test('a message about a question goes when it is answered elsewhere or its turn is stopped, and none lies over a question', async () => {
  const client = createClient({ url: gateway.socketUrl, token: gateway.token });
  await client.connect();
  const waiting = async (sessionKey: string) => {
    await client.call('chat.send', { sessionKey, message: 'Run echo hello', idempotencyKey: `${sessionKey}-${Date.now()}` });
    let id: string | undefined;
    await until('the question', async () => {
      const { approvals } = await client.call('approvals.list', { state: 'pending', sessionKey });
      id = approvals[0]?.id;
      return id !== undefined;
    });
    return id!;
  };
  try {
    await using mine = await openSignedIn(opened.browser, gateway, phone);
    const { page } = mine;
    await page.goto(`${gateway.url}/#/overview`);
    await page.getByText('Health by part').waitFor();
    const toasts = page.locator('.toast');
    const answered = await waiting('agent:main:toast-answered');
    await waiting('agent:main:toast-stopped');
    await waiting('agent:main:toast-open');
    await until('three messages', async () => (await toasts.count()) === 3);
    await page.goto(`${gateway.url}/#/chat/agent:main:toast-open`);
    const card = page.getByRole('alertdialog');
    await card.waitFor();
    await until('the session that is open has none', async () => (await toasts.count()) === 2);
    await picture(page, 'phone-question-and-messages');
    await becomes(
      async () => Promise.all((await toasts.all()).map((each) => each.isVisible())),
      [false, false],
      'the question has the phone',
    );
    await page.setViewportSize(desktop);
    await until('there is room for them', async () => (await toasts.last().isVisible()) && (await toasts.first().isVisible()));
    await picture(page, 'question-and-messages');
    await until('the messages end above where questions are shown', async () => {
      const top = (await page.locator('.transcript').boundingBox())!.y;
      const boxes = await Promise.all((await toasts.all()).map((toast) => toast.boundingBox()));
      return boxes.every((box) => box !== null && box.y + box.height <= top + 1);
    });
    await client.call('approvals.resolve', { id: answered, decision: 'deny' });
    await until('the answered one is gone', async () => (await toasts.count()) === 1);
    await client.call('chat.abort', { sessionKey: 'agent:main:toast-stopped' });
    await until('the stopped one is gone', async () => (await toasts.count()) === 0);
    await card.getByRole('button', { name: 'Deny' }).click();
    await until('the end of the turn', () => isIdle(page));
    await page.locator('.tool', { hasText: 'exec' }).getByText('Denied').waitFor();
    assert.deepEqual(await mine.faults(), []);
  } finally {
    await client.close();
  }
});

const focused = (page: Page) =>
  page.evaluate(
    `(() => { const it = document.activeElement; return it.tagName + ' ' + (it.getAttribute('aria-label') ?? it.textContent).trim(); })()`,
  );

test('the focus is given back after a dialog, and is somewhere after a session was opened by its address', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await newSession(page);
  await ask(page, 'What are you?');
  await page.reload();
  await until('the focus on the title', async () => (await focused(page)) === 'H1 What are you?');
  const more = page.getByRole('button', { name: 'More for this session' });
  const choose = async (item: string) => {
    await more.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: item }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
  };
  const isBack = async () => (await page.getByRole('dialog').count()) === 0 && (await focused(page)) === 'BUTTON More for this session';
  await choose('Rename');
  await page.keyboard.press('Escape');
  await until('the focus after Escape', isBack);
  await choose('Rename');
  await page.getByLabel('Title').fill('Focus');
  await page.keyboard.press('Enter');
  await until('the focus after Enter', isBack);
  await choose('Delete');
  await becomes(() => focused(page), 'BUTTON Cancel', 'what cannot be undone is not the first');
  await page.keyboard.press('Escape');
  await until('the focus after Escape', isBack);

  await page.keyboard.press('c');
  await becomes(async () => String(await focused(page)), /^TEXTAREA/);
  await page.keyboard.press('Escape');
  await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges()');
  await page.getByRole('button', { name: 'Skip to the message box' }).focus();
  await page.keyboard.press('Enter');
  await becomes(async () => String(await focused(page)), /^TEXTAREA/);

  await page.setViewportSize({ width: 1440, height: 900 });
  await page.locator('.composer textarea').fill('words that need more than one line on a phone '.repeat(6));
  const height = async () => (await page.locator('.composer textarea').boundingBox())!.height;
  await until('it has the height of its text', () =>
    page.locator('.composer textarea').evaluate((each) => {
      const { scrollHeight, clientHeight } = each as unknown as Record<string, number>;
      return scrollHeight! <= clientHeight! + 1;
    }),
  );
  const wide = await height();
  await page.setViewportSize({ width: 390, height: 844 });
  await until('it is higher', async () => (await height()) > wide);
  await page.setViewportSize({ width: 1440, height: 900 });
  await until('it is as before', async () => (await height()) === wide);
  assert.deepEqual(await mine.faults(), []);
});

test('going back says so and can be undone', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await newSession(page);
  await ask(page, 'What are you?');
  await page.getByRole('button', { name: 'Go back to before this' }).first().click();
  await page.getByText('Say something to start').waitFor();
  const composer = page.locator('.composer textarea');
  await until('the text is in the composer', async () => (await composer.inputValue()) === 'What are you?');
  await picture(page, 'went-back');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await answers(page).first().waitFor();
  await until('the text is out of the composer', async () => (await composer.inputValue()) === '');
  assert.deepEqual(await mine.faults(), []);
});

test('who may only read is told why nothing can be written', async () => {
  const client = createClient({ url: gateway.socketUrl, token: gateway.token });
  await client.connect();
  const { token } = await client.call('tokens.create', { name: 'reader', scopes: ['operator.read'] });
  await client.close();
  await using mine = await openContext(opened.browser);
  const { page } = mine;
  await page.goto(gateway.url);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Reading only').waitFor();
  await page.getByText('Writing needs operator.write').waitFor();
  await page.goto(`${gateway.url}/#/approvals`);
  await page.getByText('You cannot see approvals').waitFor();
  await becomes(() => accessibilityFaults(page), []);
  assert.deepEqual(await mine.faults(), []);
});

test('the palette, the keyboard map and the keys go everywhere', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or run' }).fill('approv');
  await becomes(() => accessibilityFaults(page), []);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  await until('focus on the title', async () => (await page.evaluate('document.activeElement?.textContent')) === 'Approvals');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard map' }).waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByText('Health by part').waitFor();
  await page.goto(`${gateway.url}/#/settings`);
  await page.getByRole('switch', { name: 'Single-key shortcuts' }).click();
  await page.keyboard.press('Tab');
  await page.keyboard.press('?');
  await becomes(() => page.getByRole('dialog').count(), 0, 'single keys are off');
  assert.deepEqual(await mine.faults(), []);
});

test('the theme that was chosen stays, and signing out leaves nothing in the browser', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/settings`);
  await page.getByText('Dark', { exact: true }).click();
  await becomes(() => page.evaluate('document.documentElement.dataset.theme'), 'dark');
  await page.reload();
  await page.locator('.shell').waitFor();
  await becomes(() => page.evaluate('document.documentElement.dataset.theme'), 'dark');
  const token = await page.evaluate(`localStorage.getItem('tenon.token')`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Tenon' }).waitFor();
  await becomes(() => page.evaluate('[localStorage.length, sessionStorage.length]'), [0, 0]);
  const again = await openContext(opened.browser);
  await again.page.goto(gateway.url);
  await again.page.getByLabel('Access token').fill(String(token));
  await again.page.getByRole('button', { name: 'Sign in' }).click();
  await again.page.getByRole('alert').locator('p').waitFor();
  await again[Symbol.asyncDispose]();
});

const views = ['chat', 'approvals', 'overview', 'sessions', 'settings', 'more'] as const;

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every view is accessible in the ${colorScheme} theme, wide and on a phone, and does not scroll sideways`, async () => {
    const found: string[] = [];
    await using signedOut = await openContext(opened.browser, { colorScheme });
    await signedOut.page.goto(gateway.url);
    await signedOut.page.getByRole('heading', { name: 'Sign in to Tenon' }).waitFor();
    await becomes(() => accessibilityFaults(signedOut.page), [], 'sign-in');
    await picture(signedOut.page, `sign-in-${colorScheme}`);
    for (const [device, options] of [
      ['wide', {}],
      ['phone', phone],
    ] as const) {
      await using mine = await openSignedIn(opened.browser, gateway, { ...options, colorScheme });
      const { page } = mine;
      await page
        .locator(device === 'phone' ? '.transcript' : '.rail')
        .first()
        .waitFor();
      for (const view of views) {
        await goToView(page, gateway, view);
        found.push(...(await faultsInView(page, `${device} ${view}`, device === 'phone' ? 44 : 24)));
        await picture(page, `${view}-${colorScheme}-${device}`);
      }
      await page.setViewportSize({ width: 320, height: 640 });
      for (const view of views) {
        await goToView(page, gateway, view);
        await becomes(() => scrollsSideways(page), false, `320 px ${view} scrolls sideways`);
      }
      found.push(...(await mine.faults()));
    }
    assert.deepEqual(found, []);
  });
}

test('the gateway goes and comes back: the page says so, keeps what was typed, and goes on', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.locator('.composer textarea').fill('still here');
  await page.locator('.composer textarea').press('Home');
  await page.locator('.composer textarea').press('ArrowRight');
  const { port } = gateway;
  await gateway.kill();
  await page.getByText(/Connection lost at/).waitFor();
  await page.getByText('Not connected').last().waitFor();
  await picture(page, 'offline');
  gateway = await startGatewayProcess({ home, port });
  await until('connected again', async () => (await page.getByText(/Connection lost at/).count()) === 0, 30_000);
  await becomes(() => page.locator('.composer textarea').inputValue(), 'still here');
  await becomes(
    () => page.evaluate('[document.activeElement.tagName, document.activeElement.selectionStart]'),
    ['TEXTAREA', 1],
    'who typed goes on typing where they were',
  );
  await page.locator('.composer textarea').press('Control+Enter');
  await until('an answer', async () => (await answers(page).count()) > 0);
});

test('a link that was made by the command works, too', async () => {
  await using mine = await openContext(opened.browser);
  await mine.page.goto(await signInLink(gateway));
  await mine.page.locator('.shell').waitFor();
});
