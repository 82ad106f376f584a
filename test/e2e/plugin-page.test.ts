// The plugins of the page: a real Chromium against a real gateway, with plugins that work, fail, change and lie about their names.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createClient } from '@tenon/client';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { markupAttacks } from '../support/markup-attacks.ts';
import {
  accessibilityFaults,
  becomes,
  faultsInView,
  goToView,
  openContext,
  openSignedIn,
  phone,
  scrollsSideways,
  until,
} from '../support/page.ts';
import { put, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
const place = join(home, 'plugins');
let talk: Conversation;
let opened: TestBrowser;

const SETTINGS = {
  type: 'object',
  required: ['greeting'],
  properties: {
    greeting: { type: 'string', title: 'Greeting', description: 'What it says first', minLength: 2 },
    most: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    loud: { type: 'boolean' },
    mood: { enum: ['calm', 'merry'] },
    hosts: { type: 'array', items: { type: 'string' } },
    rules: { type: 'object' },
  },
  additionalProperties: false,
};

before(async () => {
  mkdirSync(place, { mode: 0o755 });
  writePlugin(place, {
    id: 'greeter',
    grants: ['tools.register', 'hooks.intercept:before_tool_call', 'conversation.read'],
    register: `
      api.registerTool({ name: 'greet', description: 'Greets', parameters: { type: 'object' }, risk: 'read', execute: () => ({ text: 'hello' }) });
      api.on('before_tool_call', () => undefined);
`,
    manifest: { name: 'Greeter', description: 'Says hello', configSchema: SETTINGS },
  });
  writePlugin(place, { id: 'broken', register: `throw new Error('there is no printer');`, manifest: { name: 'Broken' } });
  writePlugin(place, {
    id: 'worker',
    grants: ['services.run'],
    register: `api.registerService({ id: 'clock', start() { throw new Error('no spring'); } });`,
  });
  writePlugin(place, { id: 'thrower', register: `setTimeout(() => { throw new Error('in the dark'); }, 1);` });
  mkdirSync(join(place, 'unfit'), { mode: 0o755 });
  put(join(place, 'unfit', 'tenon.plugin.json'), '{"id": 3}');
  [talk, opened] = await Promise.all([openConversation({ home, plugins: true }), openBrowser()]);
  await ask('plugins.config', { id: 'greeter', config: { greeting: 'hi' } });
});
after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await talk?.[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
async function ask(method: string, params: object = {}): Promise<any> {
  const { ok, payload, error } = await talk.admin.request(method, params);
  assert.equal(ok, true, `${method}: ${JSON.stringify(error)}`);
  return payload;
}

/** For somebody who wants to look: a folder to put pictures into. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TENON_TEST_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function open(page: Page, id?: string): Promise<void> {
  await goToView(page, talk.gateway, id === undefined ? 'plugins' : `plugins/${id}`);
}

async function signIn(page: Page, scopes: ('operator.read' | 'operator.write')[]): Promise<void> {
  const client = createClient({ url: talk.gateway.socketUrl, token: talk.gateway.token });
  await client.connect();
  const { token } = await client.call('tokens.create', { name: scopes.join(), scopes });
  await client.close();
  await page.goto(talk.gateway.url);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.shell').waitFor();
}

test('a plugin is enabled with a grant left out: what it registered by that grant is refused, and shown wherever plugins are', async () => {
  verifies('seams:W3', 'seams:W2');
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  await open(page);
  await row(page, 'Greeter').getByText('Off', { exact: true }).waitFor();
  const entry = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Plugins/ });
  await until('the folder that is no plugin is counted', async () => /1 plugin needs a look/.test(await entry.innerText()));

  await row(page, 'Greeter').getByRole('button', { name: 'Enable Greeter' }).click();
  const dialog = page.getByRole('dialog', { name: 'Enable Greeter?' });
  await dialog.getByText('You trust its files as they are now').waitFor();
  await becomes(() => dialog.getByRole('switch', { checked: true }).count(), 0, 'nothing is granted unless somebody says so');
  await becomes(() => dialog.getByRole('listitem').filter({ hasText: 'conversation.read' }).innerText(), /Wide/);
  assert.doesNotMatch(await dialog.getByRole('listitem').filter({ hasText: 'tools.register' }).innerText(), /Wide/);
  await dialog.getByText('Give the agent tools.').waitFor();
  await dialog.getByRole('button', { name: 'Turn all on' }).click();
  await dialog.getByRole('button', { name: 'Enable with 3 of 3 grants' }).waitFor();
  await dialog.getByRole('switch', { name: /^tools\.register/ }).click();
  await becomes(() => accessibilityFaults(page), []);
  await picture(page, 'plugin-enable');
  await dialog.getByRole('button', { name: 'Enable with 2 of 3 grants' }).click();

  await row(page, 'Greeter').getByText('Running, not whole').waitFor();
  await row(page, 'Greeter').getByText('1 registration was refused.').waitFor();
  await row(page, 'Greeter').getByText('2 of 3').waitFor();
  await until('the entry counts it', async () => /2 plugins need a look/.test(await entry.innerText()));
  assert.deepEqual((await ask('plugins.get', { id: 'greeter' })).plugin.granted, ['hooks.intercept:before_tool_call', 'conversation.read']);

  await page.getByRole('link', { name: 'Greeter', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Greeter' }).waitFor();
  const refused = card(page, 'Registrations').getByRole('listitem').filter({ hasText: 'greet' });
  await becomes(() => refused.innerText(), /Tool\s+greet\s+Refused\..*tools\.register.*NOT_GRANTED/s);
  await picture(page, 'plugin-refused');
  await page.goto(`${talk.gateway.url}/#/overview`);
  await page.getByRole('link', { name: '2 plugins need a look' }).waitFor();
  assert.deepEqual(await mine.faults(), []);
});

test('grants are given and taken back one by one, on every page at once', async () => {
  verifies('seams:W2');
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  await using other = await openSignedIn(opened.browser, talk.gateway);
  await Promise.all([open(mine.page, 'greeter'), open(other.page, 'greeter')]);
  const tools = (page: Page) => card(page, 'Grants').getByRole('switch', { name: 'Grant tools.register' });
  await becomes(() => tools(mine.page).isChecked(), false);
  await tools(mine.page).click();
  await card(mine.page, 'Registrations').getByText('2 accepted, 0 refused').waitFor();
  await until('the other page has it', () => tools(other.page).isChecked());
  await other.page.getByText('Running', { exact: true }).waitFor();

  const reading = (page: Page) => card(page, 'Grants').getByRole('switch', { name: 'Grant conversation.read' });
  await reading(other.page).click();
  await until('it is taken back on both', async () => !(await reading(mine.page).isChecked()) && !(await reading(other.page).isChecked()));
  await card(mine.page, 'Grants').getByRole('listitem').filter({ hasText: 'conversation.read' }).getByText('asked, off').waitFor();
  assert.deepEqual((await ask('plugins.get', { id: 'greeter' })).plugin.granted, ['tools.register', 'hooks.intercept:before_tool_call']);
  assert.deepEqual([await mine.faults(), await other.faults()], [[], []]);
});

test('a configuration is a form of its schema, is checked by the gateway, and holds when it is saved', async () => {
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  await open(page, 'greeter');
  const form = card(page, 'Configuration');
  await form.getByLabel('Greeting').fill('x');
  await form.getByLabel('most').fill('many');
  await form.getByLabel('rules').fill('{');
  await form.getByRole('button', { name: 'Save configuration' }).click();
  await form.getByText('This is not a number.').waitFor();
  await form.getByText(/This is not JSON/).waitFor();
  await becomes(() => form.getByLabel('most').getAttribute('aria-invalid'), 'true');
  await becomes(() => accessibilityFaults(page), []);

  await form.getByLabel('most').fill('12');
  await form.getByLabel('rules').fill('');
  await form.getByLabel('loud').selectOption({ label: 'On' });
  await form.getByLabel('mood').selectOption({ label: 'merry' });
  await form.getByLabel('hosts').fill('a.example\n\n b.example ');
  await form.getByRole('button', { name: 'Save configuration' }).click();
  await form
    .getByRole('alert')
    .getByText(/Cannot configure plugin "greeter".*INVALID_REQUEST/s)
    .waitFor();
  await picture(page, 'plugin-config');
  await becomes(() => form.getByLabel('Greeting').inputValue(), 'x', 'what was typed stays');
  assert.deepEqual((await ask('plugins.get', { id: 'greeter' })).plugin.config, { greeting: 'hi' });

  await form.getByLabel('most').fill('7');
  await form.getByLabel('Greeting').fill('good day');
  await form.getByRole('button', { name: 'Save configuration' }).click();
  await page.getByText('The configuration is saved').waitFor();
  assert.deepEqual((await ask('plugins.get', { id: 'greeter' })).plugin.config, {
    greeting: 'good day',
    most: 7,
    loud: true,
    mood: 'merry',
    hosts: ['a.example', 'b.example'],
  });
  await page.reload();
  await until('it is shown as it is kept', async () => (await form.getByLabel('hosts').inputValue()) === 'a.example\nb.example');
  assert.deepEqual(await mine.faults(), []);
});

test('a plugin that fails, one whose files have changed, a service that fails and a folder that is none say why', async () => {
  verifies('seams:W3', 'S58:swap');
  await ask('plugins.enable', { id: 'broken' });
  await ask('plugins.enable', { id: 'worker' });
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  await open(page);
  await row(page, 'Broken').getByText('Failed', { exact: true }).waitFor();
  await row(page, 'Broken')
    .getByText(/there is no printer/)
    .waitFor();
  await row(page, 'unfit').getByText('Rejected', { exact: true }).waitFor();
  await row(page, 'The worker').getByText('1 service has failed.').waitFor();
  await becomes(() => page.getByRole('rowheader').first().innerText(), /Broken/, 'what needs somebody stands first');
  await page.getByRole('link', { name: 'unfit', exact: true }).click();
  await page
    .getByRole('list', { name: 'Why' })
    .getByText(/tenon\.plugin\.json/)
    .waitFor();
  await open(page, 'worker');
  await card(page, 'Services')
    .getByText(/no spring/i)
    .waitFor();
  await ask('plugins.enable', { id: 'thrower' });
  await open(page, 'thrower');
  await card(page, 'Incidents')
    .getByText(/in the dark/i)
    .waitFor();
  await page.getByText('It threw where nobody waited for it, 1 time.').waitFor();

  writePlugin(place, { id: 'broken', register: '/* mended */', manifest: { name: 'Broken' } });
  await open(page, 'broken');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByText('Changed since trust').first().waitFor();
  await page.getByRole('button', { name: 'Review changes' }).click();
  const enable = page.getByRole('dialog', { name: 'Accept the changes of Broken?' }).getByRole('button', { name: 'Accept', exact: true });
  await page.locator('dialog .btn-primary:not([aria-disabled])').waitFor();
  // Swapped while somebody reads: what was shown is not what would be trusted.
  writePlugin(place, { id: 'broken', register: '/* mended twice */', manifest: { name: 'Broken' } });
  await enable.click();
  await page.getByText(/have changed since they were shown/).waitFor();
  await page.getByRole('button', { name: 'Review changes' }).click();
  await enable.click();
  await page.getByText('Running', { exact: true }).waitFor();
  assert.deepEqual(await mine.faults(), []);
});

test('disabling says what it takes away, asks, and gives the focus back', async () => {
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  await open(page, 'broken');
  await page.getByRole('button', { name: 'Disable' }).click();
  const dialog = page.getByRole('dialog', { name: 'Disable Broken?' });
  await dialog.getByText('What it keeps in sessions is removed').waitFor();
  await becomes(() => page.evaluate('document.activeElement?.textContent'), 'Cancel', 'what cannot be undone is not one Enter away');
  await becomes(() => accessibilityFaults(page), []);
  await page.keyboard.press('Escape');
  await until('the focus is back', async () => (await page.evaluate('document.activeElement?.textContent')) === 'Disable');
  assert.equal((await ask('plugins.get', { id: 'broken' })).plugin.state, 'loaded');
  await page.getByRole('button', { name: 'Disable' }).click();
  await dialog.getByRole('button', { name: 'Disable and remove its state' }).click();
  await page.getByText('Off', { exact: true }).waitFor();
  assert.equal((await ask('plugins.get', { id: 'broken' })).plugin.enabled, false);
  assert.deepEqual(await mine.faults(), []);
});

test('who may only read sees the plugins, no button, and why', async () => {
  await using mine = await openContext(opened.browser);
  const { page } = mine;
  await signIn(page, ['operator.read']);
  await open(page);
  await row(page, 'Greeter').waitFor();
  await page.getByText('needs operator.admin, which your token does not have').waitFor();
  await open(page, 'greeter');
  await card(page, 'Registrations').getByText('greet', { exact: true }).waitFor();
  await card(page, 'Hooks and calls').getByText('before_tool_call').waitFor();
  await page.getByText('told to operator.admin only').waitFor();
  await becomes(async () => [await page.locator('main').getByRole('switch').count(), await card(page, 'Configuration').count()], [0, 0]);
  await page.goto(`${talk.gateway.url}/#/inspector`);
  await page.getByText('You cannot see what plugins do').waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await open(page, 'greeter');
  for (const name of ['Enable', 'Disable', 'Reload']) await becomes(() => page.getByRole('button', { name }).count(), 0, name);
  await becomes(() => accessibilityFaults(page), []);
  assert.deepEqual(await mine.faults(), []);
});

test('what a plugin calls itself, and what it says when it fails, stays text', async () => {
  verifies('S63');
  const attacker = 'http://127.0.0.1:9';
  const attacks = markupAttacks(attacker).filter((text) => text.length <= 120);
  const ids: string[] = [];
  for (let at = 0; at < 12; at++) {
    const id = `hostile-${at}`;
    ids.push(id);
    const [name, description, reason] = [attacks[at * 3], attacks[at * 3 + 1], attacks[at * 3 + 2]];
    writePlugin(place, {
      id,
      register: `throw new Error(${JSON.stringify(reason)});`,
      manifest: {
        name,
        description,
        configSchema: { type: 'object', properties: { [name!]: { type: 'string', title: description, description: reason } } },
      },
    });
  }
  await ask('plugins.reload', {});
  for (const id of ids) await ask('plugins.enable', { id });
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(attacker)) asked.push(request.url());
  });
  await open(page);
  await until('all are listed', async () => (await page.getByRole('rowheader').count()) >= ids.length);
  const listed = await page.locator('main').innerText();
  for (const text of attacks.slice(0, 3)) assert.ok(listed.includes(text.slice(0, 20)), text);
  for (const id of ids) {
    await open(page, id);
    await card(page, 'Configuration').waitFor();
  }
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual([asked, await mine.faults()], [[], []]);
  for (const id of ids) rmSync(join(place, id), { recursive: true });
  await ask('plugins.reload', {});
});

const SESSION = 'agent:main:talk';

test('a turn is recorded and shown as it happens: who ran where, in what order, how long, what was changed and what was refused', async () => {
  await ask('plugins.enable', { id: 'everything' });
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  talk.server.next({ text: 'Hello.' });
  await talk.say('Hello');
  await page.goto(`${talk.gateway.url}/#/chat/${SESSION}`);
  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menuitem', { name: 'What plugins do here' }).click();
  await page.getByRole('heading', { level: 1, name: 'Inspector' }).waitFor();
  await page.getByText('Nothing is recorded', { exact: true }).waitFor();
  await page.getByText('Press Record, then send a message').waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await picture(page, 'inspector-empty');
  await page.getByRole('button', { name: 'Record' }).click();
  await page.getByText('Recording, 1 turn left').waitFor();
  await page.getByText('It records', { exact: true }).waitFor();

  talk.server.next({ calls: [{ name: 'shout', arguments: { text: 'hi' } }] }, { text: 'Done.' });
  await talk.say('Shout');
  const table = page.getByRole('table', { name: /What plugins did/ });
  await table.waitFor();
  await page.getByRole('button', { name: 'Record' }).waitFor();
  const { records } = await ask('hooks.trace', { sessionKey: SESSION, limit: 200 });
  assert.ok(records.length > 3, JSON.stringify(records));
  const handlers = table.getByRole('button', { name: /: details$/ });
  await until('every call has its row', async () => (await handlers.count()) === records.length);
  const places: string[] = records.map(({ place }: { place: string }) => place);
  for (const place of new Set(places))
    await table
      .getByRole('button', { name: new RegExp(`^${place} \\d+ handler`) })
      .first()
      .waitFor();
  await picture(page, 'inspector');
  await becomes(() => accessibilityFaults(page), []);

  await page.getByLabel('Place').selectOption('before_tool_call');
  await until('only that place', async () => (await handlers.count()) === places.filter((place) => place === 'before_tool_call').length);
  await page.getByLabel('Plugin', { exact: true }).selectOption('everything');
  await until('the address has the plugin', async () => page.url().endsWith(`#/inspector/${SESSION}/everything`));
  await handlers.first().focus();
  await page.keyboard.press('Enter');
  const details = page.getByRole('complementary', { name: 'Details of the call' });
  await details.getByRole('heading', { level: 2, name: 'everything' }).waitFor();
  await becomes(() => handlers.first().getAttribute('aria-pressed'), 'true');
  await details.getByRole('button', { name: 'Close the details' }).click();
  await until('the focus is back', async () => (await page.evaluate('document.activeElement?.className')) === 'trace-open');
  assert.deepEqual(await mine.faults(), []);
});

test('the inspector shows what a handler changed and why a call was refused, as text', async () => {
  const attacker = 'http://127.0.0.1:9';
  const attack = `<img src=x onerror="globalThis.pwned=1">\u202e<script src="${attacker}/x.js"></script>`;
  writePlugin(place, {
    id: 'meddler',
    grants: ['hooks.intercept:before_tool_call', 'tools.register'],
    register: `
      api.registerTool({ name: 'echo', description: 'Echoes', parameters: { type: 'object' }, risk: 'read', execute: () => ({ content: 'e' }) });
      api.on('before_tool_call', ({ params }) =>
        params.refuse ? { block: true, blockReason: ${JSON.stringify(attack)} } : { params: { ...params, said: ${JSON.stringify(attack)} } });`,
    manifest: { name: 'Meddler' },
  });
  await ask('plugins.reload', {});
  await ask('plugins.enable', { id: 'meddler' });
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  const key = 'agent:main:meddled';
  await ask('sessions.create', { key });
  await ask('hooks.trace.record', { sessionKey: key });
  await page.goto(`${talk.gateway.url}/#/inspector/${key}/meddler`);
  await page.getByText('Recording', { exact: true }).waitFor();
  talk.server.next(
    { calls: [{ name: 'echo', arguments: { a: 1 } }] },
    { calls: [{ name: 'echo', arguments: { refuse: true } }] },
    { text: 'Done.' },
  );
  await talk.say('Go', { sessionKey: key });
  const details = page.getByRole('complementary', { name: 'Details of the call' });
  const row = (words: string) =>
    page
      .getByRole('row')
      .filter({ hasText: words })
      .getByRole('button', { name: /before_tool_call.*details$/ });
  await row('changed').first().click();
  await details.getByText('/params/said', { exact: false }).waitFor();
  await becomes(() => details.innerText(), /<img src=x onerror/);
  await picture(page, 'inspector-changed');
  await becomes(() => accessibilityFaults(page), []);
  await row('refused').first().click();
  await details.getByRole('heading', { name: 'Why' }).waitFor();
  await becomes(() => details.innerText(), /<script src=/);
  await page.getByLabel('Result').selectOption('refused');
  await until('only what was refused', async () => (await page.getByRole('button', { name: /: details$/ }).count()) === 1);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Record' }).waitFor();
  await page.getByRole('link', { name: 'Open the plugin' }).click();
  await page.getByRole('heading', { level: 1, name: 'Meddler' }).waitFor();
  await page.getByRole('link', { name: 'What it does' }).click();
  await page.getByText('Choose a session', { exact: true }).last().waitFor();
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual(await mine.faults(), []);
});

test('what a plugin shows on its own page is drawn there, and its button works in the session that was open last', async () => {
  writePlugin(place, {
    id: 'dial',
    grants: ['ui.descriptors'],
    register: `
      api.registerSessionExtension({ namespace: 'dial', description: 'Where it stands', project: ({ state }) => state ?? { at: 'nought' } });
      api.registerSessionAction({ id: 'turn', handler: () => ({ result: 'ok', statePatch: { dial: { at: 'eleven' } } }) });
      api.registerControlUiDescriptor({ id: 'knob', label: 'The knob', surface: 'settings',
        view: [{ kind: 'status', label: 'Stands at', from: { namespace: 'dial', path: '/at' } }],
        actions: [{ label: 'Turn it up', actionId: 'turn' }] });`,
    manifest: { name: 'Dial' },
  });
  await ask('plugins.reload', {});
  await ask('plugins.enable', { id: 'dial' });
  const key = 'agent:main:dialled';
  await ask('sessions.create', { key, title: 'Dialled' });
  await using mine = await openSignedIn(opened.browser, talk.gateway);
  const { page } = mine;
  await page.goto(`${talk.gateway.url}/#/chat/${key}`);
  await page.getByRole('heading', { level: 1, name: 'Dialled' }).waitFor();
  await page.evaluate(`location.hash = '#/plugins/dial'`);
  const settings = card(page, 'Its own settings');
  await settings.getByText('in “Dialled”').waitFor();
  await settings.getByRole('heading', { level: 3, name: 'The knob' }).waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await settings.getByRole('button', { name: 'Turn it up' }).click();
  await settings.getByText('eleven').waitFor();
  await picture(page, 'plugin-settings');
  assert.deepEqual(await mine.faults(), []);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the plugins are accessible in the ${colorScheme} theme, wide and on a phone, and do not scroll sideways`, async () => {
    await ask('plugins.enable', { id: 'everything' });
    const found: string[] = [];
    for (const [device, options] of [
      ['wide', {}],
      ['phone', phone],
    ] as const) {
      await using mine = await openSignedIn(opened.browser, talk.gateway, { ...options, colorScheme });
      const { page } = mine;
      const look = async (name: string) => {
        await until('it is loaded', async () => (await page.locator('.skeleton').count()) === 0);
        found.push(...(await faultsInView(page, `${device} ${name}`, device === 'phone' ? 44 : 24)));
        await picture(page, `${name}-${colorScheme}-${device}`);
      };
      await open(page);
      await look('plugins');
      for (const [id, title] of [
        ['everything', 'Hooks and calls'],
        ['greeter', 'Configuration'],
        ['plan-mode', 'Registrations'],
      ] as const) {
        await open(page, id);
        await card(page, title).waitFor();
        await look(`plugin-${id}`);
      }
      await page.goto(`${talk.gateway.url}/#/inspector/${SESSION}`);
      await page.getByRole('table', { name: /What plugins did/ }).waitFor();
      await look('inspector');
      await page
        .getByRole('button', { name: /: details$/ })
        .first()
        .click();
      await page.getByRole('complementary', { name: 'Details of the call' }).waitFor();
      await look('inspector-details');
      await page.setViewportSize({ width: 320, height: 640 });
      await becomes(() => scrollsSideways(page), false, '320 px inspector scrolls sideways');
      for (const [id, title] of [[undefined], ['everything', 'Hooks and calls'], ['greeter', 'Configuration']] as const) {
        await open(page, id);
        if (title !== undefined) await card(page, title).waitFor();
        await becomes(() => scrollsSideways(page), false, `320 px ${id ?? 'all'} scrolls sideways`);
      }
      found.push(...(await mine.faults()));
    }
    assert.deepEqual(found, []);
  });
}

test('safe mode is said, and nothing can be enabled in it', async () => {
  await using gateway = await startGatewayProcess({ args: ['--safe'] });
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/plugins`);
  await page.getByText('Safe mode: no plugin is loaded').waitFor();
  await row(page, 'Todo')
    .getByText(/started without plugins/)
    .waitFor();
  await becomes(() => page.getByRole('button', { name: /^Enable/ }).count(), 0);
  await becomes(() => accessibilityFaults(page), []);
});
