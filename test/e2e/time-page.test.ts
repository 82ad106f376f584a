// Time and files in the page: a real Chromium against a real gateway. Schedules with what became of each time and why; files
// that people send and plugins hand over, with buttons that work once, also after the gateway was away.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createClient } from '@tenon/client';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { MODEL_KEY, modelConfig } from '../support/conversation.ts';
import { cleanEnv, type GatewayProcess, startGatewayProcess, temporaryHome, tenonBin } from '../support/gateway.ts';
import { markupAttacks } from '../support/markup-attacks.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';
import {
  accessibilityFaults,
  becomes,
  faultsInView,
  openContext,
  openSignedIn,
  phone,
  scrollsSideways,
  send,
  until,
} from '../support/page.ts';
import { writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
const place = join(home, 'plugins');
const workspace = join(home, 'workspaces', 'main');
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const ATTACK = '<img src=x onerror="globalThis.pwned=1">\u202etxt.exe';

/** Hands over a file and four buttons, counts what is pressed, and calls for a person. */
const COURIER = `
  api.registerSessionExtension({ namespace: 'done', description: 'What was pressed', project: ({ state }) => state ?? {} });
  const count = (name) => ({ state }) => ({ statePatch: { done: { ...state('done'), [name]: (state('done')?.[name] ?? 0) + 1 } }, reply: name + ' it is' });
  for (const name of ['keep', 'drop', 'later']) api.registerSessionAction({ id: name, handler: count(name) });
  api.registerInteractiveHandler({ channel: '*', namespace: 'courier', handler: ({ payload }) => ({ text: 'heard ' + payload }) });
  api.registerSessionAction({ id: 'send', handler: async ({ sessionKey, payload }) => {
    const sent = await api.session.workflow.sendSessionAttachment({ sessionKey, ...payload });
    return { result: sent };
  } });
  api.registerSessionAction({ id: 'update', handler: async ({ sessionKey, payload }) => {
    const changed = await api.session.workflow.updateSessionAttachment({ sessionKey, ...payload });
    return { result: changed };
  } });
  api.registerSessionAction({ id: 'call', handler: ({ sessionKey, payload }) => {
    api.session.workflow.notifyActionRequired({ sessionKey, title: payload.title, actions: [{ label: 'Keep it', actionId: 'keep' }] });
    return {};
  } });`;

let server: ModelServer;
let gateway: GatewayProcess;
let opened: TestBrowser;

const start = (port?: number) =>
  startGatewayProcess({
    home,
    plugins: true,
    config: modelConfig(server),
    env: { TEST_MODEL_KEY: MODEL_KEY },
    ...(port === undefined ? {} : { port }),
  });

before(async () => {
  server = await startModelServer();
  mkdirSync(place, { mode: 0o755 });
  writePlugin(place, {
    id: 'courier',
    grants: ['attachments.send', 'people.notify', 'ui.interact'],
    register: COURIER,
    manifest: { name: 'Courier' },
  });
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, 'report.txt'), 'All is well.\n');
  writeFileSync(join(workspace, 'dot.png'), PIXEL);
  [gateway, opened] = await Promise.all([start(), openBrowser()]);
  await ask('sessions.create', { key: 'agent:main:nightly', title: 'Nightly' });
  await ask('plugins.enable', { id: 'courier', grants: ['attachments.send', 'people.notify', 'ui.interact'] });
});
after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await gateway?.remove();
  await server?.close();
  removeFolder(home);
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
async function ask(method: string, params: object = {}, token = gateway.token): Promise<any> {
  const client = createClient({ url: gateway.socketUrl, token });
  try {
    await client.connect();
    return await client.call(method as 'status', params as never);
  } finally {
    await client.close();
  }
}

/** Away for a while: `change` sees the store as nobody else does. */
async function restart(change: (store: DatabaseSync) => void = () => undefined): Promise<void> {
  const { port } = gateway;
  await gateway.stop();
  const store = new DatabaseSync(join(home, 'tenon.db'));
  change(store);
  store.close();
  gateway = await start(port);
}

/** For somebody who wants to look: a folder to put pictures into. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TENON_TEST_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

async function signIn(page: Page, scopes: string[]): Promise<void> {
  const { token } = await ask('tokens.create', { name: scopes.join(), scopes });
  await page.goto(gateway.url);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.shell').waitFor();
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
const detail = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('a schedule is made with a look at the next times, run by hand, paused, changed and removed', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/chat/agent:main:nightly`);
  await page.getByRole('button', { name: 'More for this session' }).click();
  await page.getByRole('menuitem', { name: 'Schedules of this session' }).click();
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  await page.getByText('Nothing is scheduled for this session').waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'New schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  await becomes(() => page.evaluate('document.activeElement?.name'), 'name');
  await form.getByRole('button', { name: 'Schedule it' }).click();
  await form.getByText('Say what it is called.').waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await form.getByLabel('Name').fill('Backup report');
  await form.getByLabel('Tell the agent').fill('Check the backups');
  await form.getByText('Cron', { exact: true }).click();
  await form.getByLabel('Cron expression').fill('61 2 * * *');
  await form.getByText(/cannot be read/).waitFor();
  await form.getByRole('button', { name: 'Schedule it' }).click();
  await form
    .getByRole('alert')
    .getByText(/cannot be read/)
    .waitFor();
  await form.getByLabel('Cron expression').fill('0 2 * * *');
  await form.getByLabel('Time zone').fill('Asia/Tokyo');
  const { times } = await ask('cron.preview', { schedule: { kind: 'cron', cron: '0 2 * * *', tz: 'Asia/Tokyo' } });
  const clock = (await page.evaluate(
    `new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(${times[0]})`,
  )) as string;
  await until(`three times of the gateway in the zone of the browser, ${clock}`, async () => {
    const said = await form.getByText(/^Next: /).allInnerTexts();
    return said.length === 1 && said[0]!.split('·').length === 3 && said[0]!.includes(clock);
  });
  await picture(page, 'schedule-form');
  await becomes(() => accessibilityFaults(page), []);
  await form.getByRole('button', { name: 'Schedule it' }).click();

  await row(page, 'Backup report').getByText('Every day at 02:00, Asia/Tokyo time').waitFor();
  await row(page, 'Backup report').getByText('not yet').waitFor();
  const shown = detail(page, 'Backup report');
  await shown.getByText('Owned by you').waitFor();
  await shown.getByRole('link', { name: 'Nightly' }).waitFor();
  await shown.getByText('Next', { exact: true }).waitFor();
  server.next({ text: 'All is well.' });
  await shown.getByRole('button', { name: 'Run now' }).click();
  await row(page, 'Backup report').getByText('Ran', { exact: true }).waitFor();
  await shown
    .locator('[data-state="done"]')
    .getByText(/Asked for by somebody, took/)
    .waitFor();
  await picture(page, 'schedules');
  await becomes(() => accessibilityFaults(page), []);

  await shown.getByRole('button', { name: 'Pause' }).click();
  await row(page, 'Backup report').getByText('Paused', { exact: true }).waitFor();
  await shown.getByRole('button', { name: 'Resume' }).click();
  await shown.getByRole('button', { name: 'Pause' }).waitFor();
  await shown.getByRole('button', { name: 'Change Backup report' }).click();
  const change = page.getByRole('dialog', { name: 'Change “Backup report”' });
  await change.getByText('Every', { exact: true }).click();
  await change.getByLabel('Every', { exact: true }).last().fill('90');
  await change.getByLabel('Unit').selectOption('minutes');
  await change.getByText('If it is late, busy or fails').click();
  await change.getByLabel(/^A time that was missed/).selectOption('within');
  await change.getByLabel('At most this many minutes late').fill('10');
  await change.getByRole('button', { name: 'Save the schedule' }).click();
  await row(page, 'Backup report').getByText('Every 90 minutes').waitFor();
  await shown.getByText('at most 10 minutes late').waitFor();
  const { jobs } = await ask('cron.list');
  assert.deepEqual([jobs[0].schedule.everyMs, jobs[0].onMiss], [5_400_000, { within: 600_000 }]);

  // What is done elsewhere is seen here.
  await ask('cron.update', { id: jobs[0].id, name: 'Backups' });
  await shown.waitFor({ state: 'detached' });
  await detail(page, 'Backups').getByRole('button', { name: 'Remove Backups' }).click();
  const asked = page.getByRole('dialog', { name: 'Remove “Backups”?' });
  await becomes(() => page.evaluate('document.activeElement?.textContent'), 'Cancel');
  await asked.getByRole('button', { name: 'Remove the schedule' }).click();
  await page.getByText('Nothing is scheduled', { exact: true }).waitFor();
  assert.deepEqual((await ask('cron.list', { state: 'all' })).jobs, []);
  assert.deepEqual(await mine.faults(), []);
});

test('a time that was missed while the gateway was off is told first, with its cause, and can be run', async () => {
  verifies('R04');
  const { job } = await ask('cron.add', {
    name: 'Certificates',
    session: { key: 'agent:main:nightly' },
    schedule: { kind: 'every', everyMs: 86_400_000 },
    message: 'Look at the certificates',
    onMiss: { within: 600_000 },
  });
  const dueAt = Date.now() - 3_600_000;
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/schedules/${job.id}`);
  await row(page, 'Certificates').getByText('not yet').waitFor();
  await restart((store) => {
    // As it would be had the gateway been off for that long.
    store
      .prepare('update jobs set next_at = ?, schedule = ? where id = ?')
      .run(dueAt, JSON.stringify({ kind: 'every', everyMs: 86_400_000, anchorAt: dueAt }), job.id);
  });
  await row(page, 'Certificates').getByText('Missed', { exact: true }).waitFor();
  await page
    .getByRole('region', { name: 'Missed' })
    .getByText(/The gateway was not running, and it was later than/)
    .waitFor();
  const missed = detail(page, 'Certificates').locator('[data-state="missed"]');
  await missed.getByText(/The gateway was not running, and it was later than/).waitFor();
  await picture(page, 'schedule-missed');
  await becomes(() => accessibilityFaults(page), []);
  server.next({ text: 'They are fine.' });
  await missed.getByRole('button', { name: 'Run it now' }).click();
  await row(page, 'Certificates').getByText('Ran', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Missed' }).waitFor({ state: 'detached' });
  // The last times beside one another, for whoever sees them and whoever does not.
  const times = page.getByRole('list', { name: 'The last times, oldest first' }).getByRole('listitem');
  await becomes(async () => (await times.allInnerTexts()).map((text) => text.trim().split(' ')[0]), ['Missed', 'Ran']);
  assert.match(await times.first().innerText(), /^Missed .*: The gateway was not running, and it was later than/);
  await picture(page, 'schedule-strip');
  await becomes(() => accessibilityFaults(page), []);
  // In the conversation it stands under the name of the job, and nobody is said to have written it.
  await missed.locator('..').getByRole('link', { name: 'Open session' }).first().click();
  const told = page.getByRole('article', { name: /^schedule from Certificates/ });
  await told.getByText('Look at the certificates').waitFor();
  await page.getByText('They are fine.').first().waitFor();
  await becomes(() => page.getByRole('article', { name: /^You/ }).count(), 0);
  await picture(page, 'schedule-origin');
  const faults = await mine.faults();
  assert.deepEqual(
    faults.filter((fault) => !/WebSocket connection/.test(fault)),
    [],
  );
});

test('who may only read sees schedules and no button; names of schedules stay text', async () => {
  verifies('S37');
  const attacks = markupAttacks('http://127.0.0.1:9')
    .filter((text) => text.length <= 120)
    .slice(0, 8);
  const ids: string[] = [];
  for (const [at, text] of attacks.entries()) {
    const { job } = await ask('cron.add', {
      name: text,
      session: { key: 'agent:main:nightly' },
      schedule: { kind: 'every', everyMs: 86_400_000 },
      message: attacks[(at + 1) % attacks.length],
    });
    ids.push(job.id);
  }
  await using mine = await openContext(opened.browser);
  const { page } = mine;
  await signIn(page, ['operator.read']);
  for (const id of ids) {
    await page.goto(`${gateway.url}/#/schedules/${id}`);
    await page.getByRole('heading', { level: 3, name: 'Occurrences' }).waitFor();
  }
  await page.getByText('Changing schedules needs operator.write').waitFor();
  for (const name of [/^New schedule/, /^Run/, /^Pause/, /^Change/, /^Remove/])
    await becomes(() => page.locator('main').getByRole('button', { name }).count(), 0, String(name));
  await until('the name is text', async () => (await page.locator('main').innerText()).includes(attacks[0]!.slice(0, 20)));
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  await becomes(() => accessibilityFaults(page), []);
  assert.deepEqual(await mine.faults(), []);
  for (const id of ids) await ask('cron.remove', { id });
});

const HANDED = {
  text: 'The nightly **backup** has ended.',
  files: [{ path: 'report.txt' }, { path: 'dot.png' }],
  presentation: {
    title: 'Backup of Sunday',
    tone: 'warn',
    blocks: [
      { kind: 'key-value', value: { Size: '12 GB', Took: '4 min' } },
      { kind: 'status', label: 'Disk', value: { text: 'almost full', tone: 'warn' } },
    ],
    buttons: [
      { id: 'keep', label: 'Keep it', style: 'primary', action: { actionId: 'keep' } },
      { id: 'drop', label: 'Drop it', style: 'danger', action: { actionId: 'drop' } },
      { id: 'later', label: 'Later', action: { actionId: 'later' } },
      { id: 'hello', label: 'Say hello', action: { data: 'courier:hello' } },
    ],
  },
};

async function handOver(key: string, what: object = HANDED): Promise<void> {
  const files = (what as { files?: { path: string }[] }).files?.map((file) => ({ ...file, path: join(workspace, file.path) }));
  await ask('sessions.create', { key, title: key.split(':')[2] }).catch(() => undefined);
  const answer = await ask('plugins.sessionAction', {
    pluginId: 'courier',
    actionId: 'send',
    sessionKey: key,
    payload: { ...what, ...(files ? { files } : {}) },
  });
  assert.equal(answer.ok, true, JSON.stringify(answer));
  assert.equal(answer.result.ok, true, JSON.stringify(answer.result));
}

const delivery = (page: Page, title: string) => page.getByRole('region', { name: new RegExp(`^${title}`) });
const counted = async (key: string) =>
  (await ask('sessions.get', { key })).session.pluginExtensions?.find((each: { namespace: string }) => each.namespace === 'done')?.value;

test('a file and four buttons of a plugin arrive; a stranger is refused, and the button works once, after a restart too', async () => {
  verifies('compat:C1', 'compat:C2', 'compat:C3', 'seams:A20', 'S62');
  const key = 'agent:main:handed';
  await ask('sessions.create', { key, title: 'Handed' });
  // Without the grant nothing is sent, and what is said is what helps.
  await ask('plugins.revoke', { id: 'courier', grants: ['attachments.send'] });
  const { result: refusal } = await ask('plugins.sessionAction', {
    pluginId: 'courier',
    actionId: 'send',
    sessionKey: key,
    payload: { text: 'x' },
  });
  assert.deepEqual([refusal.ok, refusal.reason], [false, 'not-granted']);
  const [, words] = /attachments\.send.*: tenon (plugin grant courier attachments\.send)$/.exec(refusal.message) ?? [];
  assert.ok(words, refusal.message);
  const granted = spawnSync(process.execPath, [tenonBin, ...words.split(' '), '--home', home], {
    env: cleanEnv(),
    encoding: 'utf8',
  });
  assert.equal(granted.status, 0, granted.stderr);
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/chat/${key}`);
  await page.getByRole('heading', { level: 1, name: 'Handed' }).waitFor();
  await handOver(key);
  const shown = delivery(page, 'Backup of Sunday');
  await shown.getByText('almost full').waitFor();
  await shown.locator('strong', { hasText: 'backup' }).waitFor();
  await shown.getByText('courier', { exact: true }).waitFor();
  await shown.getByRole('img', { name: 'dot.png' }).waitFor();
  await becomes(async () => (await shown.getByRole('img', { name: 'dot.png' }).getAttribute('src')) ?? '', /^blob:/);
  const [saved] = await Promise.all([page.waitForEvent('download'), shown.getByRole('button', { name: /^Download report\.txt/ }).click()]);
  assert.equal(saved.suggestedFilename(), 'report.txt');
  assert.equal(readFileSync((await saved.path())!, 'utf8'), 'All is well.\n');
  await becomes(() => shown.locator('.plugin-actions').getByRole('button').allInnerTexts(), ['Keep it', 'Drop it', 'Later', 'Say hello']);
  await picture(page, 'delivery');
  await becomes(() => accessibilityFaults(page), []);

  // The card changes where it stands.
  const [{ id: deliveryId }] = (await ask('deliveries.list', { sessionKey: key })).deliveries;
  const change = async (payload: object) => {
    const { result } = await ask('plugins.sessionAction', { pluginId: 'courier', actionId: 'update', sessionKey: key, payload });
    assert.deepEqual([result.ok, result.edits], [true, 'done'], JSON.stringify(result));
  };
  await change({ deliveryId, text: 'There is room again' });
  await shown.getByText('There is room again').waitFor();
  await becomes(() => shown.getByText('has ended').count(), 0);
  await shown.getByRole('button', { name: /^Download report\.txt/ }).waitFor();

  // Somebody who may read and nothing else.
  await using other = await openContext(opened.browser);
  await signIn(other.page, ['operator.read']);
  await other.page.goto(`${gateway.url}/#/chat/${key}`);
  const theirs = delivery(other.page, 'Backup of Sunday');
  await theirs.getByRole('button', { name: 'Keep it' }).click();
  await theirs
    .getByRole('alert')
    .getByText(/operator\.write/)
    .waitFor();
  assert.deepEqual((await counted(key)) ?? {}, {});
  await theirs.getByRole('button', { name: 'Keep it' }).waitFor();
  await becomes(() => accessibilityFaults(other.page), []);

  const { entries: before } = await ask('chat.history', { sessionKey: key });
  const entryId = before.find((entry: { customType?: string }) => entry.customType === 'delivery').id;
  // Somebody who may write, but in another session.
  const { token: elsewhere } = await ask('tokens.create', {
    name: 'elsewhere',
    scopes: ['operator.write'],
    sessionKey: 'agent:main:nightly',
  });
  const stranger = ask('deliveries.press', { sessionKey: key, entryId, buttonId: 'keep' }, elsewhere);
  await assert.rejects(stranger, { code: 'NOT_FOUND' });

  const { port } = gateway;
  await gateway.kill();
  gateway = await start(port);
  await until('the page is back', async () => (await page.getByText(/Not connected|Connection lost/).count()) === 0);
  await shown.getByRole('button', { name: 'Keep it' }).focus();
  await page.keyboard.press('Enter');
  await shown.getByText('Pressed: Keep it').waitFor();
  await theirs.getByText('Pressed: Keep it').waitFor();
  assert.deepEqual(await counted(key), { keep: 1 });
  for (const buttonId of ['keep', 'later'])
    await assert.rejects(ask('deliveries.press', { sessionKey: key, entryId, buttonId }), { code: 'GONE' });
  assert.deepEqual(await counted(key), { keep: 1 });
  await page.reload();
  await delivery(page, 'Backup of Sunday').getByText('Pressed: Keep it').waitFor();
  await becomes(() => delivery(page, 'Backup of Sunday').locator('.plugin-actions').count(), 0);
  await delivery(page, 'Backup of Sunday').getByText('There is room again').waitFor();
  await picture(page, 'delivery-pressed');
  const lost = (fault: string) => !/WebSocket connection|ERR_CONNECTION/.test(fault);
  assert.deepEqual([(await mine.faults()).filter(lost), (await other.faults()).filter(lost)], [[], []]);
});

test('in a terminal a file goes with a message, and what a plugin hands over is read and pressed by keyboard', async (t) => {
  verifies('compat:C2', 'compat:C3');
  const key = 'agent:main:typed';
  await handOver(key);
  const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
  const report = join(workspace, 'report.txt');
  const command = [process.execPath, tenonBin, 'chat', '--plain', '--session', key, '--attach', report, '--home', home];
  const [program, ...words] = hasTerminal ? ['script', '-qefc', command.map((word) => `'${word}'`).join(' '), '/dev/null'] : command;
  const terminal = spawn(program!, words, { env: cleanEnv({ TERM: 'xterm' }), stdio: ['pipe', 'pipe', 'pipe'] });
  cleanUp(t, () => terminal.kill('SIGKILL'));
  let written = '';
  for (const stream of [terminal.stdout, terminal.stderr])
    stream.on('data', (chunk: Buffer) => {
      written += stripVTControlCharacters(chunk.toString());
    });
  const says = (pattern: RegExp) =>
    until(`the terminal says ${pattern}`, async () => pattern.test(written), 60_000).catch(() => assert.match(written, pattern));
  const type = (line: string) => void terminal.stdin.write(`${line}\r${hasTerminal ? '' : '\n'}`);
  await says(/report\.txt \(13 B\) goes with the next message/);
  type('/panel');
  await says(/Backup of Sunday \(courier\)\s+\/press \d+ {2}Keep it[\s\S]*Say hello/);
  if (hasTerminal) await says(/almost full[\s\S]*\[file\] report\.txt \(13 B\): tenon attach get \S+ -o <file>/);
  type(`/attach ${join(workspace, 'none.txt')}`);
  await says(/\/attach cannot be .*none\.txt.*there is no such file/);
  type(`/attach "${join(workspace, 'dot.png')}"`);
  await says(/dot\.png \(\d+ B\) goes with the next message/);
  server.next({ text: 'Both are here.' });
  type('Look at these');
  await says(/Both are here\./);
  const { entries } = await ask('chat.history', { sessionKey: key });
  const said = entries.find((entry: { message?: { role: string } }) => entry.message?.role === 'user');
  assert.deepEqual(
    said.message.attachments.map(({ name }: { name: string }) => name),
    ['report.txt', 'dot.png'],
  );
  const [{ id: deliveryId }] = (await ask('deliveries.list', { sessionKey: key })).deliveries;
  const payload = { deliveryId, text: 'The disk has grown' };
  await ask('plugins.sessionAction', { pluginId: 'courier', actionId: 'update', sessionKey: key, payload });
  await says(/Courier \(changed\)[\s\S]*The disk has grown/);
  const [, number] = /\/press (\d+) {2}Say hello/.exec(written) ?? [];
  type(`/press ${number}`);
  await says(/heard hello/);
  const pressed = async () => (await ask('deliveries.list', { sessionKey: key })).deliveries[0]?.pressed?.buttonId;
  assert.equal(await pressed(), 'hello');
  type(`/press ${number}`);
  await says(/There is no \/press \d+; plugins show nothing to press here/);
});

test('a button that tells an interactive handler says what it answered; what a plugin hands over stays text', async () => {
  verifies('compat:C1', 'S37');
  const key = 'agent:main:hostile';
  await handOver(key, {
    text: ATTACK,
    presentation: {
      title: `Hostile ${ATTACK}`,
      blocks: [
        { kind: 'diff', label: ATTACK, text: ATTACK },
        { kind: 'markdown', text: `[click](javascript:pwned=1) ![x](http://127.0.0.1:9/x.png) ${ATTACK}` },
      ],
      buttons: [{ id: 'hello', label: ATTACK, action: { data: 'courier:hello' } }],
    },
    files: [{ path: 'report.txt', name: ATTACK }],
  });
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  const asked: string[] = [];
  page.on('request', (request) => request.url().includes('127.0.0.1:9/') && asked.push(request.url()));
  await page.goto(`${gateway.url}/#/chat/${key}`);
  const shown = delivery(page, 'Hostile');
  await shown.locator('.plugin-actions').getByRole('button').click();
  await shown.getByText(/heard hello/).waitFor();
  await becomes(() => shown.innerText(), /<img src=x/);
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual([asked, await mine.faults()], [[], []]);
});

/** As a browser tells of files that are pasted or dropped. */
async function give(page: Page, how: 'paste' | 'drop', name: string, type: string, content: Buffer): Promise<void> {
  await page.locator('.composer textarea').evaluate(
    (each, [event, file, mime, data]) => {
      const world = globalThis as never as Record<string, new (...args: unknown[]) => { items: { add(file: unknown): void } }>;
      const transfer = new world.DataTransfer!();
      transfer.items.add(new world.File!([Uint8Array.from(data as number[])], file, { type: mime }));
      const init = { bubbles: true, cancelable: true, ...(event === 'paste' ? { clipboardData: transfer } : { dataTransfer: transfer }) };
      const made = event === 'paste' ? new world.ClipboardEvent!('paste', init) : new world.DragEvent!('drop', init);
      (each as unknown as EventTarget).dispatchEvent(made as unknown as Event);
    },
    [how, name, type, [...content]] as const,
  );
}

test('files are pasted, dropped and picked, go with the message, and can be had again; what does not fit is said', async () => {
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/chat`);
  await page.locator('.composer textarea').waitFor();
  const chips = page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');
  await give(page, 'paste', 'dot.png', 'image/png', PIXEL);
  const large = Buffer.alloc(1_300_000, 'tenon ');
  await give(page, 'drop', `${ATTACK}.log`, 'text/plain', large);
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Attach files' }).click()]);
  await chooser.setFiles([
    { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
    { name: 'unwanted.txt', mimeType: 'text/plain', buffer: Buffer.from('no') },
  ]);
  await page.getByText('empty.txt is empty, or a folder').waitFor();
  await until('all have arrived', async () => (await page.locator('.file-chip[data-state="done"]').count()) === 3);
  await page.getByRole('button', { name: 'Remove unwanted.txt' }).click();
  await becomes(() => chips.count(), 2);
  await becomes(async () => (await chips.first().locator('img').getAttribute('src')) ?? '', /^blob:/);
  await picture(page, 'composer-files');
  await becomes(() => accessibilityFaults(page), []);
  server.next({ text: 'I see them.' });
  await page.locator('.composer textarea').fill('Look at these');
  await page.locator('.composer textarea').press('Control+Enter');
  await page.getByText('I see them.').first().waitFor();
  await becomes(() => chips.count(), 0);
  const told = JSON.stringify(server.requests.at(-1)?.body?.messages ?? []);
  assert.match(told, /\.log/, 'the model is told the names');
  const message = page.locator('article[data-from="user"]');
  await message.getByRole('img', { name: 'dot.png' }).waitFor();
  await page.reload();
  await message.getByRole('img', { name: 'dot.png' }).waitFor();
  const [saved] = await Promise.all([page.waitForEvent('download'), message.getByRole('button', { name: /^Download .*\.log/ }).click()]);
  assert.deepEqual(readFileSync((await saved.path())!), large);
  await picture(page, 'message-files');
  await becomes(() => accessibilityFaults(page), []);
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual(await mine.faults(), []);
});

test('an upload during which the connection breaks goes on by itself', async () => {
  await using mine = await openContext(opened.browser);
  const { page } = mine;
  let breaks = 2;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const there = socket.connectToServer();
    socket.onMessage((text) => {
      const isUpload = /"attachments\.(chunk|commit)"/.test(String(text));
      if (isUpload && breaks-- > 0) void socket.close();
      else there.send(text);
    });
  });
  await signIn(page, ['operator.write']);
  await page.goto(`${gateway.url}/#/chat/agent:main:nightly`);
  await page.locator('.composer textarea').waitFor();
  const content = Buffer.alloc(1_200_000, 'both halves ');
  await give(page, 'drop', 'cut.txt', 'text/plain', content);
  await page.locator('.file-chip[data-state="done"]').waitFor({ timeout: 60_000 });
  assert.ok(breaks < 0);
  const { attachments } = await ask('attachments.list', { sessionKey: 'agent:main:nightly' });
  assert.deepEqual(
    attachments.map(({ name, bytes }: { name: string; bytes: number }) => [name, bytes]),
    [['cut.txt', content.length]],
  );
  await page.getByRole('button', { name: 'Remove cut.txt' }).click();
  await becomes(() => page.locator('.file-chip').count(), 0);
});

test('what a plugin needs a person for is there after a reload, and is put away for everybody', async () => {
  const key = 'agent:main:called';
  await ask('sessions.create', { key, title: 'Called' });
  await ask('plugins.sessionAction', { pluginId: 'courier', actionId: 'call', sessionKey: key, payload: { title: 'Sign for it' } });
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/chat/${key}`);
  const notice = page.getByRole('region', { name: 'Sign for it' });
  await notice.waitFor();
  await page.reload();
  await notice.waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await using other = await openSignedIn(opened.browser, gateway);
  await other.page.goto(`${gateway.url}/#/chat/${key}`);
  await other.page.getByRole('region', { name: 'Sign for it' }).waitFor();
  await page.getByRole('button', { name: 'Close: Sign for it' }).click();
  await other.page.getByRole('region', { name: 'Sign for it' }).waitFor({ state: 'detached' });
  assert.deepEqual((await ask('actions.pending')).actions, []);
  assert.deepEqual(await mine.faults(), []);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`schedules and deliveries are accessible in the ${colorScheme} theme, wide and on a phone, and do not scroll sideways`, async () => {
    const found: string[] = [];
    if (colorScheme === 'light') await handOver('agent:main:shown');
    const { jobs } = await ask('cron.list');
    for (const [device, options] of [
      ['wide', {}],
      ['phone', phone],
    ] as const) {
      await using mine = await openSignedIn(opened.browser, gateway, { ...options, colorScheme });
      const { page } = mine;
      const look = async (name: string) => {
        await until('it is loaded', async () => (await page.locator('.skeleton').count()) === 0);
        // A choice of the composer has its height with its frame.
        found.push(...(await faultsInView(page, `${device} ${name}`, device === 'phone' ? 44 : 24, /too small: \d+x42 <select/)));
        await picture(page, `${name}-${colorScheme}-${device}`);
      };
      await page.goto(`${gateway.url}/#/schedules`);
      await row(page, 'Certificates').waitFor();
      await look('schedules');
      await page.goto(`${gateway.url}/#/schedules/${jobs[0].id}`);
      await detail(page, 'Certificates').waitFor();
      await look('schedule');
      await page.setViewportSize({ width: 320, height: 640 });
      await until('320 px do not scroll sideways', async () => !(await scrollsSideways(page)));
      await page.getByRole('button', { name: 'Change Certificates' }).click();
      await page.getByText('If it is late, busy or fails').click();
      await look('schedule-form');
      await page.setViewportSize(device === 'phone' ? phone.viewport! : { width: 1440, height: 900 });
      await page.goto(`${gateway.url}/#/chat/agent:main:shown`);
      await delivery(page, 'Backup of Sunday').getByRole('img', { name: 'dot.png' }).waitFor();
      await give(page, 'paste', 'dot.png', 'image/png', PIXEL);
      await page.locator('.file-chip[data-state="done"]').waitFor();
      await look('delivery');
      await page.setViewportSize({ width: 320, height: 640 });
      await until('320 px do not scroll sideways with a delivery', async () => !(await scrollsSideways(page)));
      found.push(...(await mine.faults()));
    }
    assert.deepEqual(found, []);
  });
}

test('a reminder arrives as a card without a model; it is put off, comes after the gateway was killed, and is done once', async () => {
  verifies('compat:C2', 'compat:C3', 'seed1:scheduled-turns');
  const key = 'agent:main:reminded';
  await ask('sessions.create', { key, title: 'Reminded' });
  await ask('plugins.enable', { id: 'reminders' });
  await using mine = await openSignedIn(opened.browser, gateway);
  const { page } = mine;
  await page.goto(`${gateway.url}/#/chat/${key}`);
  await page.getByRole('heading', { level: 1, name: 'Reminded' }).waitFor();
  const asked = server.requests.length;
  await send(page, '/remind in 1s water the plants');
  await page.getByText(/^water the plants \(/).waitFor();
  const card = delivery(page, 'Reminder: water the plants');
  await becomes(() => card.locator('.plugin-actions').getByRole('button').allInnerTexts(), ['In 10 minutes', 'In 1 hour', 'Done']);
  await picture(page, 'reminder');
  await becomes(() => accessibilityFaults(page), []);
  await card.getByRole('button', { name: 'In 10 minutes' }).click();
  await card.getByText(/^Pressed: In 10 minutes · Until /).waitFor();

  const { port } = gateway;
  await gateway.kill();
  const store = new DatabaseSync(join(home, 'tenon.db'));
  // As it would be had the gateway been off for longer than that.
  const due = Date.now() - 120_000;
  const moved = store
    .prepare(`update jobs set next_at = ?, schedule = ? where session_key = ? and tag = 'snooze-1'`)
    .run(due, JSON.stringify({ kind: 'at', at: due }), key);
  store.close();
  assert.equal(moved.changes, 1, 'it was put off durably');
  gateway = await start(port);
  await until('the page is back', async () => (await page.getByText(/Not connected|Connection lost/).count()) === 0);
  const late = card.filter({ hasText: 'It was due' });
  await late.getByRole('button', { name: 'Done' }).waitFor();
  // Somebody who comes later sees it too, and it is there for everybody until it is pressed.
  await using other = await openSignedIn(opened.browser, gateway);
  await other.page.goto(`${gateway.url}/#/chat/${key}`);
  const theirs = delivery(other.page, 'Reminder: water the plants').filter({ hasText: 'It was due' });
  await theirs.getByRole('button', { name: 'Done' }).waitFor();
  await late.getByRole('button', { name: 'Done' }).click();
  await late.getByText('Pressed: Done').waitFor();
  await theirs.getByText('Pressed: Done').waitFor();
  await picture(page, 'reminder-done');
  const { entries } = await ask('chat.history', { sessionKey: key });
  const cards = entries.filter((entry: { customType?: string }) => entry.customType === 'delivery');
  assert.equal(cards.length, 2);
  await assert.rejects(ask('deliveries.press', { sessionKey: key, entryId: cards[1].id, buttonId: 'done' }), { code: 'GONE' });
  const { reply } = await ask('commands.invoke', { sessionKey: key, text: '/remind list' });
  assert.match(reply, /^There are no reminders\./);
  assert.equal(server.requests.length, asked, 'no model was asked');
  const lost = (fault: string) => !/WebSocket connection|ERR_CONNECTION/.test(fault);
  assert.deepEqual([(await mine.faults()).filter(lost), (await other.faults()).filter(lost)], [[], []]);
});
