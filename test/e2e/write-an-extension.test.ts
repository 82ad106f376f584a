// docs/guide/write-an-extension.md, typed as it stands there, in TypeScript and in Python: its commands one after another, its files
// put where it says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { removeFolder } from '../support/clean-up.ts';
import { cleanEnv, startGatewayProcess, type GatewayProcess } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'guide', 'write-an-extension.md'), 'utf8');
const [typescript = '', python = ''] = guide.split('\n## In Python\n');
const noPython = spawnSync('python3', ['--version']).status !== 0 && 'there is no python3 on this machine';

let gateway: GatewayProcess;
let folder: string;
before(async () => {
  gateway = await startGatewayProcess();
  folder = mkdtempSync(join(tmpdir(), 'tenon-guide-'));
});
after(async () => {
  await gateway.remove();
  removeFolder(folder);
});

/** What the commands said, all of them. Each block goes on in the folder where the one before ended. */
function follow(page: string, cwd: string): { readonly cwd: string; readonly said: string } {
  const env = cleanEnv({ TENON_HOME: gateway.home, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` });
  let said = '';
  let place = cwd;
  for (const [, file, language, text = ''] of page.matchAll(/(?:`([\w.]+)`, whole:\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (file !== undefined) writeFileSync(join(place, file), text);
    if (language !== 'sh') continue;
    const { status, stdout, stderr } = spawnSync('sh', ['-ec', `${text}\npwd`], { cwd: place, env, encoding: 'utf8' });
    assert.equal(status, 0, `${text}\n${stdout}\n${stderr}`);
    place = stdout.trimEnd().split('\n').at(-1)!;
    said += stdout + stderr;
  }
  return { cwd: place, said };
}

test('the guide makes a tool in TypeScript that is tested, keeps the protocol and is at work in the gateway', () => {
  verifies('seed3:sdk', 'seed3:scaffold');
  const { cwd, said } = follow(typescript, folder);
  assert.equal(cwd, join(folder, 'dice'));
  assert.match(said, /a die has as many sides/);
  assert.match(said, /^fit {2}dice 0\.1\.0/m);
  assert.match(said, /^\d+ passed, 0 failed/m);
  assert.match(said, /^dice +0\.1\.0 +ready +1 of 1 +0 /m);
});

test('and one in Python', { skip: noPython }, () => {
  verifies('seed3:scaffold');
  const { said } = follow(python, join(folder, 'dice'));
  assert.match(said, /^Ran 1 test/m);
  assert.match(said, /^OK$/m);
  assert.match(said, /^\d+ passed, 0 failed/m);
  assert.match(said, /dice-py 0\.1\.0 is installed, loaded/);
});
