// What plugins show in the web page, in a real browser against a real gateway: every surface and every kind of block, forms,
// switches, the composer that a plugin closes, and what no text of a plugin can become.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonValue } from '@tenon/protocol';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { mintToken } from '../security/harness.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { openWithPlugin } from '../support/bundled-plugin.ts';
import { MODEL_KEY, modelConfig } from '../support/conversation.ts';
import { everyBlock, hostileState, writeDrawnPlugin, writeHostilePlugin } from '../support/drawn-plugin.ts';
import { cleanEnv, type GatewayProcess, startGatewayProcess, temporaryHome, tenonBin } from '../support/gateway.ts';
import { markupAttacks } from '../support/markup-attacks.ts';
import { startModelServer } from '../support/model-server.ts';
import {
  accessibilityFaults,
  becomes,
  openContext,
  openSignedIn,
  phone,
  scrollsSideways,
  send,
  smallTargets,
  until,
} from '../support/page.ts';
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
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
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

const stateOf = async (key: string) => (await ask('sessions.get', { key })).session.pluginExtensions?.[0]?.value;

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
      await becomes(
        () => page.evaluate(`[...document.querySelectorAll('.row-plugin [data-descriptor]')].map((each) => each.dataset.descriptor)`),
        ['drawn/card', 'drawn/second'],
        'by priority',
      );
      await card(page, 'drawn/bar').getByText('9 of 90 days').waitFor();
      await card(page, 'drawn/line').getByText('next check 14:00').waitFor();
      await becomes(
        async () => (await page.locator('.plugin-notch', { hasText: 'drawn' }).count()) > 2,
        true,
        'each frame names its plugin',
      );
      await becomes(() => scrollsSideways(page), false, size);
      await picture(page, `plugin-chat-${colorScheme}-${size}`);
      await becomes(() => accessibilityFaults(page), [], size);
      if (size !== 'wide') await page.getByRole('button', { name: 'Open the panels of plugins' }).click();
      const panel = card(page, 'drawn/panel');
      await panel.getByText('Waits for a window').waitFor();
      await panel.locator('strong', { hasText: 'one' }).waitFor();
      await panel.getByText('cert_list 1, shell 4').first().waitFor();
      await becomes(() => panel.getByRole('progressbar', { name: 'Progress' }).getAttribute('aria-valuetext'), '2 of 4');
      await becomes(() => panel.getByRole('columnheader').allInnerTexts(), ['host', 'ends']);
      await becomes(() => panel.locator('[data-sign=added]').count(), 1);
      await becomes(() => panel.getByRole('checkbox').count(), 2);
      await panel.getByText('{"Turn":14').waitFor();
      await becomes(() => scrollsSideways(page), false, `${size}, with the panel`);
      await picture(page, `plugin-panel-${colorScheme}-${size}`);
      if (size === 'wide') {
        await page.setViewportSize({ width: 1280, height: 800 });
        const edge = async (selector: string) => (await page.locator(selector).first().boundingBox())!.x;
        await until('the text keeps a distance from the edge', async () => (await edge('.row')) - (await edge('.transcript')) >= 12);
        await picture(page, `plugin-panel-${colorScheme}-1280`);
      }
      await becomes(() => accessibilityFaults(page), [], `${size}, with the panel`);
      if (size === 'phone') await becomes(() => smallTargets(page, 24), []);
      assert.deepEqual(await mine.faults(), []);
    }
  });
}

test('a form is made from the schema of the action: what is wrong is said at its field, and what is right is sent', async () => {
  verifies('compat:C8');
  const key = await newSession(everyBlock);
  await using mine = await openSession(opened.browser, key);
  const { page } = mine;
  const shown = card(page, 'drawn/card');
  await shown.getByRole('button', { name: 'Fill in' }).click();
  const form = shown.getByRole('form', { name: 'Fill in' });
  await form.getByLabel('Name').waitFor();
  await becomes(() => page.evaluate(`document.activeElement.closest('label, .plugin-field')?.textContent.startsWith('Name')`), true);
  await form.getByRole('button', { name: 'Fill in' }).click();
  await becomes(() => form.getByRole('alert').allInnerTexts(), ['This is needed', 'This is needed', 'Choose one']);
  await form.getByLabel('Name').fill('Ada');
  await form.getByLabel('Story').fill('One line\nand another');
  await form.getByLabel('Count').fill('12');
  await form.getByLabel('Loud').check();
  await form.getByLabel('Size').selectOption('large');
  await form.getByLabel('Extra').fill('["x"');
  await form.getByRole('button', { name: 'Fill in' }).click();
  await becomes(() => form.getByRole('alert').allInnerTexts(), ['At most 9', 'This is not valid JSON; a text stands in quotation marks']);
  await becomes(() => form.getByLabel('Count').getAttribute('aria-invalid'), 'true');
  await picture(page, 'plugin-form');
  await becomes(() => accessibilityFaults(page), []);
  await form.getByLabel('Count').fill('3');
  await form.getByLabel('Extra').fill('["x"]');
  await page.keyboard.press('Control+Enter');
  await shown.getByRole('status').getByText('Filled in.').waitFor();
  assert.deepEqual((await stateOf(key)).filled, {
    name: 'Ada',
    story: 'One line\nand another',
    count: 3,
    loud: true,
    size: 'large',
    extra: ['x'],
  });

  await shown.getByRole('button', { name: 'As JSON' }).click();
  await shown.getByLabel('What it is given, as JSON').fill('"a text"');
  await shown.getByRole('form').getByRole('button', { name: 'As JSON' }).click();
  await until('it is kept', async () => (await stateOf(key)).json === 'a text');

  await shown.getByRole('button', { name: 'Fill in' }).click();
  await form.getByLabel('Name').press('Escape');
  await until('the form is gone', async () => (await form.count()) === 0);
  await becomes(() => page.evaluate('document.activeElement.textContent'), 'Fill in', 'the focus is where the form was opened');
  assert.deepEqual(await mine.faults(), []);
});

test('what came of a press is said by the card: a refusal, a failure, a reply, and that it is under way', async () => {
  verifies('compat:C7');
  const key = await newSession({ ...everyBlock, copy: { mood: 'copied' } });
  await using mine = await openSession(opened.browser, key);
  const { page } = mine;
  const shown = card(page, 'drawn/card');
  await shown.getByRole('button', { name: 'Say no' }).click();
  await shown.getByRole('alert').getByText('Not today (NOT_TODAY)').waitFor();
  await shown.getByRole('button', { name: 'Crash' }).click();
  await shown
    .getByRole('alert')
    .getByText(/The action drawn\.crash failed/)
    .waitFor();
  assert.doesNotMatch(await shown.innerText(), /inner words/);
  await shown.getByRole('button', { name: 'Reply' }).click();
  await page.locator('.message[data-from=custom]').getByText('It was pressed.').waitFor();
  await shown.getByRole('button', { name: 'Copy the facts' }).click();
  await until('the part of the state is what it was given', async () => (await stateOf(key)).mood === 'copied');

  await shown.getByRole('button', { name: 'Slow' }).click();
  const slow = shown.getByRole('button', { name: 'Slow' });
  await until('it is under way', async () => (await slow.getAttribute('aria-disabled')) === 'true');
  await becomes(() => shown.getByRole('button', { name: 'Say no' }).getAttribute('aria-disabled'), 'true');
  await setState(key, { ...everyBlock, go: true });
  await shown.getByText('At last.').waitFor();

  const panel = card(page, 'drawn/panel');
  await becomes(() => panel.getByRole('button', { name: 'Does not exist' }).getAttribute('aria-disabled'), 'true');
  await panel.getByText('drawn has no action "missing"').waitFor({ state: 'attached' });
  await panel.getByRole('checkbox', { name: 'List November end dates' }).click();
  await until('it is ticked', () => panel.getByRole('checkbox', { name: 'List November end dates' }).isChecked());
  assert.deepEqual(await mine.faults(), []);
});

test('a chip switches by an action and by a command, live in two pages, and makes the session that it needs', async () => {
  verifies('compat:C9');
  const key = await newSession();
  await using one = await openSession(opened.browser, key);
  await using two = await openSession(opened.browser, key);
  const chip = (page: Page) => page.getByLabel('Mood, drawn');
  const shows = (page: Page, text: string) => until(text, async () => (await card(page, 'drawn/mood').innerText()).startsWith(text));
  await shows(one.page, 'No mood');
  await chip(one.page).selectOption('Busy');
  await shows(one.page, 'Busy');
  await shows(two.page, 'Busy');
  await chip(two.page).selectOption('Calm (/mood calm)');
  await shows(one.page, 'Calm');
  await one.page.getByText('The mood is calm').waitFor();

  await one.page.evaluate(`location.hash = '#/chat'`);
  await one.page.getByText('Say something to start').waitFor();
  await chip(one.page).selectOption('Busy');
  await until('the session has an address', async () => /#\/chat\/agent:main:/.test(one.page.url()));
  await shows(one.page, 'Busy');
  assert.deepEqual([await one.faults(), await two.faults()], [[], []]);
});

test('where a plugin wants people to think twice, a message is sent only after they were asked', async () => {
  verifies('compat:C10');
  const key = await newSession({ careful: true });
  await using mine = await openSession(opened.browser, key);
  const { page } = mine;
  await page.getByText('Something is being moved right now (drawn)').waitFor();
  await send(page, 'What are you?');
  const question = page.getByRole('dialog', { name: 'Send it all the same?' });
  await question.getByText('Something is being moved right now').waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await question.getByRole('button', { name: 'Cancel' }).click();
  await becomes(() => page.locator('.composer textarea').inputValue(), 'What are you?', 'nothing is lost');
  assert.equal((await ask('chat.history', { sessionKey: key })).entries.length, 0);
  await page.locator('.composer textarea').press('Control+Enter');
  await question.getByRole('button', { name: 'Send it' }).click();
  await page.locator('.transcript .md').getByText('demo model').first().waitFor();
  await send(page, '/mood calm');
  await page.getByText('The mood is calm').first().waitFor();
  assert.deepEqual(await mine.faults(), []);
});

test('a plugin that needs a person is heard in its session and elsewhere, until somebody has answered', async () => {
  verifies('compat:C11');
  const key = await newSession({ shown: true });
  await using mine = await openSession(opened.browser, key);
  await using other = await openSession(opened.browser, await newSession());
  await card(mine.page, 'drawn/card').getByRole('button', { name: 'Needs you' }).click();
  const notice = mine.page.getByRole('region', { name: 'Somebody has to look' });
  await notice.getByRole('alert').waitFor();
  await until('it counts', async () => /^\(1\) /.test(await mine.page.title()));
  await mine.page.locator('.bar-state').getByText('Waits for you').waitFor();
  await picture(mine.page, 'plugin-needs-you');
  await becomes(() => accessibilityFaults(mine.page), []);
  await other.page.locator('.toast').getByText('drawn: Somebody has to look').waitFor();
  await other.page.locator('.toast').getByRole('button', { name: 'Open' }).click();
  await other.page.getByRole('region', { name: 'Somebody has to look' }).waitFor();
  await notice.getByRole('button', { name: 'I looked' }).click();
  await until('it is answered', async () => (await notice.count()) === 0 && !/^\(/.test(await mine.page.title()));
  assert.deepEqual([await mine.faults(), await other.faults()], [[], []]);
});

test('a plugin that is switched off takes everything with it, and comes back without a reload of the page', async () => {
  verifies('compat:C11');
  const key = await newSession({ shown: true });
  await using mine = await openSession(opened.browser, key);
  const { page } = mine;
  await card(page, 'drawn/card').waitFor();
  await ask('plugins.revoke', { id: 'drawn', grants: ['ui.descriptors'] });
  await until('nothing is left', async () => (await page.locator('[data-descriptor]').count()) === 0);
  await ask('plugins.grant', { id: 'drawn', grants: ['ui.descriptors'] });
  await ask('plugins.reload', { id: 'drawn' });
  await card(page, 'drawn/card').waitFor();
  assert.deepEqual(await mine.faults(), []);
});

test('who may only read sees what plugins show, and no button that is not for them', async () => {
  const key = await newSession({ ...everyBlock });
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  const { token } = await mintToken(admin, ['operator.read']);
  await using mine = await openContext(opened.browser);
  const { page } = mine;
  await page.goto(gateway.url);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.shell').waitFor();
  await page.evaluate(`location.hash = '#/chat/${key}'`);
  const panel = card(page, 'drawn/panel');
  await panel.getByText('Waits for a window').waitFor();
  await becomes(() => panel.getByRole('button', { name: 'Only for admins' }).count(), 0);
  await becomes(() => panel.getByRole('checkbox').count(), 0);
  await becomes(() => card(page, 'drawn/card').getByRole('button').count(), 0);
});

test('no text of a plugin becomes anything but text, wherever it stands', async () => {
  const asked: string[] = [];
  const attacker = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`;
  const all = markupAttacks(address).map((text) => text.replaceAll('\0', ''));
  assert.ok(all.length >= 200, `${all.length} texts`);
  const PER_PLUGIN = 60;
  try {
    for (let at = 0; at < all.length; at += PER_PLUGIN) {
      const texts = all.slice(at, at + PER_PLUGIN);
      const place = temporaryHome();
      writeHostilePlugin(place, texts);
      await using own = await startGatewayProcess({ home: place, args: ['--plugins-paths', 'plugins'] });
      const { plugin } = await ask('plugins.enable', { id: 'hostile' }, own);
      assert.deepEqual(
        plugin.registrations.filter(({ accepted }: { accepted: boolean }) => !accepted).slice(0, 3),
        [],
        'all of it is on the page',
      );
      const key = 'agent:main:hostile';
      await ask('sessions.create', { key }, own);
      await ask('sessions.pluginPatch', { key, pluginId: 'hostile', namespace: 'box', value: hostileState(texts) as JsonValue }, own);
      await using mine = await openSession(opened.browser, key, {}, own);
      const { page } = mine;
      await page.locator('.row-plugin [data-descriptor]').first().waitFor();
      await page.locator('.plugin-panel [data-descriptor]').first().waitFor();
      // What people can touch runs nothing either: every form is opened, and what is answered is text of the plugin again.
      await page.evaluate(`for (const each of document.querySelectorAll('[data-descriptor] .plugin-actions button')) each.click()`);
      await until('the forms', async () => (await page.locator('.plugin-form').count()) > 10);
      await page.evaluate(`for (const each of document.querySelectorAll('.plugin-form button[type=submit]')) each.click()`);
      await until('the refusals', async () => (await page.locator('.plugin-said p').count()) > 10);
      assert.equal(await page.evaluate('globalThis.pwned'), undefined);
      assert.deepEqual(await page.evaluate(findTurned), [], 'nothing reads otherwise than it is');
      assert.deepEqual(await page.evaluate(findMarkup), [], texts.join(' | '));
      assert.deepEqual(
        (await mine.faults()).filter((fault) => !fault.startsWith('console')),
        [],
      );
      rmSync(place, { recursive: true, force: true, maxRetries: 10 });
    }
    assert.deepEqual(asked, [], 'nothing was asked of another host');
  } finally {
    attacker.close();
  }
});

/** Runs in the page: texts inside of frames of plugins with signs that turn others around, but for what people edit. */
const findTurned = `(() => {
  const found = [];
  for (const frame of document.querySelectorAll('[data-descriptor]')) {
    const texts = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
      if (!texts.currentNode.parentElement.closest('textarea') && /[\\u202a-\\u202e\\u2066-\\u2069]/.test(texts.currentNode.data))
        found.push(texts.currentNode.parentElement.closest('[class]').className + ': ' + texts.currentNode.data.slice(0, 80));
  }
  return found;
})()`;

/** Runs in the page: what only markup of a plugin could have made inside its frames. */
const findMarkup = `(() => {
  const found = [];
  for (const frame of document.querySelectorAll('[data-descriptor]')) {
    for (const each of frame.querySelectorAll('*')) {
      if (['SCRIPT', 'STYLE', 'IFRAME', 'OBJECT', 'EMBED', 'BASE', 'META', 'LINK', 'VIDEO', 'AUDIO', 'TEMPLATE', 'MATH', 'NOSCRIPT'].includes(each.tagName)) found.push('element ' + each.tagName);
      for (const { name, value } of each.attributes) {
        if (name.startsWith('on')) found.push('handler ' + each.outerHTML.slice(0, 120));
        if (name === 'id' && !/^_r_[0-9a-z]+_(-(help|wrong|\\d+))?$/.test(value)) found.push('id ' + value);
        if (['srcset', 'action', 'formaction', 'srcdoc', 'name'].includes(name)) found.push('attribute ' + name);
      }
      if (each.tagName === 'A' && (!['http:', 'https:', 'mailto:'].includes(each.protocol) || each.target !== '_blank')) found.push('link ' + each.outerHTML.slice(0, 120));
      if (each.tagName === 'IMG' && !/^data:image\\/(png|jpeg|gif|webp);base64,/.test(each.getAttribute('src') ?? '')) found.push('image ' + each.outerHTML.slice(0, 120));
    }
  }
  return found;
})()`;

const PLAN = '1. Write `out.md`\n2. Be done';

/** A chat in a terminal, through a pipe: what it has said so far, and a way to say something. */
function openChat(of: GatewayProcess, key: string) {
  const child = spawn(process.execPath, [tenonBin, 'chat', '--home', of.home, '--url', of.url, '--session', key], { env: cleanEnv() });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  return {
    said: () => said,
    write: (line: string) => void child.stdin.write(`${line}\n`),
    async [Symbol.asyncDispose]() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      child.kill('SIGKILL');
      await gone;
    },
  };
}

test('a plan waits: the composer is closed in two pages and in the terminal alike; the gateway is killed, and the card is pressed afterwards', async () => {
  verifies('compat:C7', 'compat:C8', 'compat:C10');
  const place = temporaryHome();
  const server = await startModelServer();
  const config = modelConfig(server);
  try {
    await using talk = await openWithPlugin('plan-mode', { home: place, server });
    const { port } = talk.gateway;
    const key = 'agent:main:planned';
    await talk.ask('sessions.create', { key, title: 'Planned', permissions: 'bypass' });
    await talk.type(key, '/plan on');
    await using one = await openSession(opened.browser, key, {}, talk.gateway);
    await using two = await openSession(opened.browser, key, { colorScheme: 'dark' }, talk.gateway);
    for (const { page } of [one, two]) await card(page, 'plan-mode/mode').getByText('Plan first').first().waitFor({ state: 'attached' });
    await two.page.locator('.composer textarea').fill('half a thought');
    server.next({ calls: [{ name: 'propose_plan', arguments: { plan: PLAN } }] }, { text: 'The plan is there.' });
    await send(one.page, 'Make a plan');
    for (const { page } of [one, two]) {
      const shown = card(page, 'plan-mode/card');
      await shown.getByRole('heading', { name: 'Proposed plan' }).waitFor();
      await page.locator('.composer-closed').getByText('A plan waits for your decision').waitFor();
      await becomes(() => page.locator('.composer textarea').count(), 0);
      await page
        .locator('.composer-closed')
        .getByText(/Closed by plan-mode/)
        .waitFor();
      await page.locator('.bar-state').getByText('Waits for you').waitFor();
    }
    await until('the turn has ended', async () => !(await one.page.locator('.bar-state').innerText()).includes('Answering'));
    await picture(one.page, 'plan-card-light-wide');
    await picture(two.page, 'plan-card-dark-wide');
    await becomes(() => accessibilityFaults(one.page), []);
    await becomes(() => accessibilityFaults(two.page), []);
    await two.page.locator('.composer-closed').getByText('Your text is kept').waitFor();

    await one.page.getByRole('button', { name: 'Show what waits' }).click();
    await becomes(() => one.page.evaluate('document.activeElement.dataset.descriptor'), 'plan-mode/card');
    // A command is no message.
    await one.page.getByRole('button', { name: 'Type a command' }).click();
    await one.page.locator('.composer textarea').fill('/plan');
    await one.page.locator('.composer textarea').press('Control+Enter');
    await one.page.locator('.notice').getByText('A plan waits for your decision').first().waitFor();
    await one.page.locator('.composer-closed').waitFor();

    {
      await using chat = openChat(talk.gateway, key);
      chat.write('/panel');
      await until('the card in the terminal', async () => /Proposed plan \(plan-mode\)[\s\S]*\/press \d+ {2}Approve/.test(chat.said()));
      chat.write('Let me say something');
      await until('the refusal', async () => /No message is taken: A plan waits for your decision/.test(chat.said()));
      chat.write('/plan');
      await until('a command', async () => /2\. Be done/.test(chat.said().split('No message is taken')[2] ?? chat.said()));
    }
    const refused = await talk.refused('chat.send', { sessionKey: key, message: 'hello', idempotencyKey: 'not-now' });
    assert.equal((refused.details as { code?: string }).code, 'INPUT_SUPPRESSED');

    await talk.gateway.kill();
    await one.page.getByText(/Connection lost at/).waitFor();
    await using again = await startGatewayProcess({ home: place, port, config, env: { TEST_MODEL_KEY: MODEL_KEY } });
    for (const { page } of [one, two]) {
      await until('connected again', async () => (await page.getByText(/Connection lost at/).count()) === 0, 60_000);
      await card(page, 'plan-mode/card').getByText('Be done').waitFor();
      await page.locator('.composer-closed').getByText('A plan waits for your decision').waitFor();
    }
    server.next({ calls: [{ name: 'write', arguments: { path: 'out.md', content: 'done' } }] }, { text: 'Carried out.' });
    await card(one.page, 'plan-mode/card').getByRole('button', { name: 'Approve', exact: true }).click();
    for (const { page } of [one, two]) {
      await page.locator('.transcript .md').getByText('Carried out.').waitFor();
      await until('the card is gone', async () => (await card(page, 'plan-mode/card').count()) === 0);
      await page.locator('.composer textarea').waitFor();
    }
    await becomes(() => two.page.locator('.composer textarea').inputValue(), 'half a thought');
    assert.ok(existsSync(join(again.home, 'workspaces', 'main', 'out.md')));
    await until('the focus is at the composer', async () => (await one.page.evaluate('document.activeElement.tagName')) === 'TEXTAREA');
  } finally {
    await server.close();
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  }
});
