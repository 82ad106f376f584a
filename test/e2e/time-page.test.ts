// Time and files in the page: a real Chromium against a real gateway. Schedules with what became of each time and why, and
// what is told and done while the gateway is away.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { createClient } from '@tenon/client';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { MODEL_KEY, modelConfig } from '../support/conversation.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { markupAttacks } from '../support/markup-attacks.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';
import { accessibilityFaults, openContext, openSignedIn, phone, scrollsSideways, smallTargets, until } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
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
  [gateway, opened] = await Promise.all([start(), openBrowser()]);
  await ask('sessions.create', { key: 'agent:main:nightly', title: 'Nightly' });
});
after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await gateway?.remove();
  await server?.close();
  rmSync(home, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
async function ask(method: string, params: object = {}): Promise<any> {
  const client = createClient({ url: gateway.socketUrl, token: gateway.token });
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
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'New schedule' }).first().click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  assert.equal(await page.evaluate('document.activeElement?.name'), 'name');
  await form.getByRole('button', { name: 'Schedule it' }).click();
  await form.getByText('Say what it is called.').waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
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
  await form.getByText(/^Next: /).waitFor();
  const said = await form.getByText(/^Next: /).innerText();
  assert.equal(said.split('·').length, 3);
  const clock = (await page.evaluate(
    `new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(${times[0]})`,
  )) as string;
  assert.ok(said.includes(clock), `${said} has the time of the gateway in the zone of the browser, ${clock}`);
  await picture(page, 'schedule-form');
  assert.deepEqual(await accessibilityFaults(page), []);
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
  assert.deepEqual(await accessibilityFaults(page), []);

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
  assert.equal(await page.evaluate('document.activeElement?.textContent'), 'Cancel');
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
  assert.deepEqual(await accessibilityFaults(page), []);
  server.next({ text: 'They are fine.' });
  await missed.getByRole('button', { name: 'Run it now' }).click();
  await row(page, 'Certificates').getByText('Ran', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Missed' }).waitFor({ state: 'detached' });
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
    assert.equal(await page.locator('main').getByRole('button', { name }).count(), 0, String(name));
  assert.ok((await page.locator('main').innerText()).includes(attacks[0]!.slice(0, 20)));
  assert.equal(await page.evaluate('globalThis.pwned'), undefined);
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.deepEqual(await mine.faults(), []);
  for (const id of ids) await ask('cron.remove', { id });
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`schedules are accessible in the ${colorScheme} theme, wide and on a phone, and do not scroll sideways`, async () => {
    const found: string[] = [];
    const { jobs } = await ask('cron.list');
    for (const [device, options] of [
      ['wide', {}],
      ['phone', phone],
    ] as const) {
      await using mine = await openSignedIn(opened.browser, gateway, { ...options, colorScheme });
      const { page } = mine;
      const look = async (name: string) => {
        await until('it is loaded', async () => (await page.locator('.skeleton').count()) === 0);
        found.push(...(await accessibilityFaults(page)).map((line) => `${device} ${name} ${line}`));
        if (await scrollsSideways(page)) found.push(`${device} ${name} scrolls sideways`);
        found.push(...(await smallTargets(page, device === 'phone' ? 44 : 24)).map((line) => `${device} ${name} too small: ${line}`));
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
      found.push(...(await mine.faults()));
    }
    assert.deepEqual(found, []);
  });
}
