// A real gateway on a machine where no sandbox works: an extension starts when it was allowed to by name, and every place that tells of
// the state of things says that it runs unconfined.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { runCli } from '../../packages/gateway/src/cli/program.ts';
import { putExtension } from '../support/extension-home.ts';
import { removeHome } from '../support/extensions.ts';
import { cleanEnv, type GatewayProcess, startGatewayProcess, temporaryHome, withoutSandbox } from '../support/gateway.ts';
import { openBrowser } from '../support/browser.ts';
import { accessibilityFaults, becomes, goToView, openSignedIn } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

let gateway: GatewayProcess;
const home = temporaryHome();
before(async () => {
  putExtension(home, 'probe', { fixture: 'probe.mjs', capabilities: 'tools = true' });
  gateway = await startGatewayProcess({ home, through: withoutSandbox });
});
after(async () => {
  await gateway.remove();
  removeHome(home);
});

async function tenon(...words: string[]): Promise<{ code: number; text: string }> {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const env = cleanEnv({ TENON_HOME: home });
  const interrupted = () => new AbortController().signal;
  const code = await runCli(words, { stdout: { write }, stderr: { write }, stdin: Readable.from([]), env, now: Date.now, interrupted });
  return { code, text };
}

const RUNS = /probe +runs unconfined, with your rights \(no sandbox works here/;

test('S38: without a sandbox an extension starts only by --unconfined, and is named wherever the state is told', async () => {
  verifies('S38:unconfined');
  const trusted = await tenon('ext', 'trust', 'probe', '--yes');
  assert.equal(trusted.code, 1, trusted.text);
  assert.match(trusted.text, /does not start until you let it run unconfined, with your rights, by --unconfined/);
  assert.match(trusted.text, /^failed probe: it would run unconfined.*tenon ext trust probe --unconfined/m);
  assert.match((await tenon('ext', 'ls')).text, /^probe +1\.0\.0 +failed/m);
  assert.doesNotMatch((await tenon('status')).text, /unconfined/, 'it does not run');

  const allowed = await tenon('ext', 'trust', 'probe', '--unconfined', '--yes');
  assert.equal(allowed.code, 0, allowed.text);
  assert.match(allowed.text, /extension\.use:unconfined: Run unconfined, with your rights: .* Wide/);
  assert.match(allowed.text, /It runs unconfined, with your rights: its code can do whatever you can\. Wide\./);
  for (const command of [['status'], [], ['ext', 'ls']]) assert.match((await tenon(...command)).text, RUNS, command.join(' '));
  assert.match((await tenon('ext', 'ls')).text, /^probe +1\.0\.0 +ready, unconfined/m);
  assert.match((await tenon('doctor')).text, /Extension probe runs unconfined, with your rights: no sandbox works here/);
  const inspected = (await tenon('ext', 'inspect', 'probe')).text;
  assert.match(inspected, /granted +extension\.use:unconfined +Run unconfined/);
  assert.match(inspected, /^ +unconfined +runs unconfined, with your rights: its code can do whatever you can\. Wide\./m);
  assert.match((await tenon('audit')).text, /extension\.use:unconfined/);

  const revoked = await tenon('ext', 'revoke', 'probe', 'extension.use:unconfined');
  assert.equal(revoked.code, 0, revoked.text);
  assert.match((await tenon('ext', 'ls')).text, /^probe +1\.0\.0 +failed/m);
});

/** For somebody who wants to look: a folder to put pictures into. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TENON_TEST_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

test('S38: in the page it is a switch of its own, marked as wide, and the overview names who runs unconfined', async () => {
  verifies('S38:unconfined');
  await using browser = await openBrowser();
  await using mine = await openSignedIn(browser.browser, gateway);
  const { page } = mine;
  await goToView(page, gateway, 'plugins/probe');
  const grants = page.getByRole('region', { name: 'Grants', exact: true });
  const row = grants.getByRole('listitem').filter({ hasText: 'extension.use:unconfined' });
  await becomes(() => row.innerText(), /Wide\s+asked, off\s+Run unconfined, with your rights/);
  await page.getByText('would run unconfined, with your rights').first().waitFor();
  await row.getByRole('switch').click();
  await page.getByText('runs unconfined, with your rights').first().waitFor();
  await becomes(() => accessibilityFaults(page), []);
  await picture(page, 'unconfined-detail');
  await goToView(page, gateway, 'overview');
  await becomes(
    () => page.getByRole('region', { name: 'Health by part' }).innerText(),
    /Unconfined\s+Extension\s+probe runs unconfined, with your rights: no sandbox/,
  );
  await picture(page, 'unconfined-overview');

  await goToView(page, gateway, 'plugins');
  await picture(page, 'unconfined-list');
  assert.equal((await tenon('plugin', 'disable', 'probe', '--yes')).code, 0);
  await page.getByRole('button', { name: 'Enable probe' }).click();
  const consent = page.getByRole('dialog', { name: 'Enable probe?' });
  const asked = consent.getByRole('listitem').filter({ hasText: 'extension.use:unconfined' });
  await becomes(() => asked.innerText(), /Wide/);
  await consent.getByText('no sandbox holds it here').waitFor();
  await picture(page, 'unconfined-consent');
});
