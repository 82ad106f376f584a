// One conversation on two surfaces: what is said and decided in the page shows in the terminal, and the other way round.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { openBrowser } from '../support/browser.ts';
import { cleanUp } from '../support/clean-up.ts';
import { cleanEnv, startGatewayProcess, tenonBin } from '../support/gateway.ts';
import { openSignedIn, send, until } from '../support/page.ts';
import { verifies } from '../support/verifies.ts';

const SESSION = 'agent:main:main';

test('page and terminal are in step, and a decision in one counts in the other', async (t) => {
  verifies('turns:in-step', 'turns:page-conversation');
  await using gateway = await startGatewayProcess();
  await using browser = await openBrowser();
  const env = cleanEnv({ TENON_HOME: gateway.home, TERM: 'xterm' });
  // Without a pseudo terminal the lines are read from a pipe, and what others say is not shown there.
  const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
  const command = [process.execPath, tenonBin, 'chat', '--plain'];
  const [program, ...words] = hasTerminal ? ['script', '-qefc', command.map((word) => `'${word}'`).join(' '), '/dev/null'] : command;
  const terminal = spawn(program!, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  cleanUp(t, () => terminal.kill('SIGKILL'));
  let written = '';
  terminal.stdout.on('data', (chunk: Buffer) => {
    written += stripVTControlCharacters(chunk.toString());
  });
  const says = (pattern: RegExp) => until(`the terminal says ${pattern}`, async () => pattern.test(written));

  if (hasTerminal) await says(/> $/);
  terminal.stdin.write('What are you?\r\n');
  await says(/I am the demo model/);

  await using mine = await openSignedIn(browser.browser, gateway);
  const { page } = mine;
  await page.getByText('What are you?').first().click();
  await until('the page has the answer of the terminal', async () =>
    /I am the demo model/.test(await page.locator('.transcript').innerText()),
  );

  await send(page, 'Write a note: in step');
  await page.getByRole('alertdialog').waitFor();
  if (hasTerminal) {
    await says(/> Write a note: in step[\s\S]*answer > $/);
    terminal.stdin.write('a\r');
  } else spawnSync(process.execPath, [tenonBin, 'chat', '--session', SESSION], { env, input: '/approve allow\n' });
  await until('the question has folded in the page', async () => (await page.getByRole('alertdialog').count()) === 0);
  const note = join(gateway.home, 'workspaces', 'main', 'notes', 'in-step.md');
  await until('the note is there', async () => existsSync(note));

  await send(page, 'List the files');
  await until('the page has the list', async () => /notes\//.test(await page.locator('.transcript').innerText()));
  if (hasTerminal) await says(/> List the files[\s\S]*notes\//);
  assert.deepEqual(await mine.faults(), []);
});
