// "Your first plugin in five minutes", followed to the letter: its files are compiled and its test is run, then its commands
// are typed, one after another, at a gateway that runs.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { cleanEnv, startGatewayProcess, tenonBin } from '../support/gateway.ts';
import { put } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'guide', 'first-plugin.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'tenon-guide-'));
const plugins = join(folder, 'plugins');
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

/** The files of the guide: a name, whatever is said of it, and the block that follows. */
const files = new Map(
  [...guide.matchAll(/`~\/plugins\/([\w./-]+)`[^`]*?\n\n```\w+\n([\s\S]*?)```/g)].map(([, name, text]) => [name!, text!]),
);
for (const [name, text] of files) {
  mkdirSync(dirname(join(plugins, name)), { recursive: true });
  put(join(plugins, name), text);
}
for (const each of [plugins, join(plugins, 'vote')]) chmodSync(each, 0o755);
// What `npm install "$TENON/packages/plugin-sdk"` makes: a link to the package.
mkdirSync(join(plugins, 'node_modules', '@tenon'), { recursive: true });
symlinkSync(join(root, 'packages', 'plugin-sdk'), join(plugins, 'node_modules', '@tenon', 'plugin-sdk'));

/** The lines of its shells that are typed to Tenon, as words. */
const typed = [...guide.matchAll(/^npx tenon (.+)$/gm)].map(([, line]) =>
  [...line!.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare!),
);

test('the guide has the files that it speaks of, and they compile', () => {
  assert.deepEqual([...files.keys()], ['vote/tenon.plugin.json', 'vote/index.ts', 'package.json', 'vote.test.ts']);
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const typeRoots = [join(root, 'node_modules', '@types')];
  writeFileSync(
    join(plugins, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, typeRoots }, include: ['*.ts', 'vote/*.ts'] }),
  );
  const { status, stdout } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', plugins], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

test('its test passes', () => {
  const { status, stdout } = spawnSync(process.execPath, ['--test', 'vote.test.ts'], { cwd: plugins, env: cleanEnv(), encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /pass 2\n/);
});

test('its commands, typed one after another, load it, use it and look at it', async () => {
  verifies('seams:W1', 'seams:W2');
  await using gateway = await startGatewayProcess({ config: `[plugins]\npaths = [${JSON.stringify(plugins)}]\n` });
  const type = (words: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(process.execPath, [tenonBin, ...words], { env: cleanEnv({ TENON_HOME: gateway.home }) }, (error, stdout, stderr) =>
        error ? reject(new Error(`tenon ${words.join(' ')}: ${stderr}${stdout}`)) : resolve(stdout),
      );
    });
  const said: string[] = [];
  for (const words of typed) said.push(await type(words[1] === 'enable' ? [...words, '--yes'] : words));
  const of = (start: string, nth = 0) =>
    said[typed.map((words, at) => (words.join(' ').startsWith(start) ? at : -1)).filter((at) => at >= 0)[nth]!]!;
  assert.match(of('plugin ls'), /^vote +1\.0\.0 +off/m);
  assert.match(of('plugin enable'), /^loaded vote/m);
  assert.match(of('run --session vote-try'), /Ship it\? 0 yes, 0 no/);
  assert.deepEqual(JSON.parse(of('call plugins.sessionAction')), { ok: true, result: { yes: 1, no: 0 } });
  assert.deepEqual(JSON.parse(of('call plugins.sessionAction', 1)), { ok: true, result: { yes: 1, no: 1 } });
  for (const [kind, key] of [
    ['sessionExtension', 'votes'],
    ['sessionAction', 'cast'],
    ['uiDescriptor', 'ballot'],
    ['command', 'vote'],
  ]) {
    assert.match(of('plugin inspect'), new RegExp(`${kind}: ${key}`));
  }
  assert.match(of('plugin config'), /question = "Ship it\?"/);
  assert.match(of('plugin trace'), /session_action/);
  assert.match(of('plugin trace'), /vote/);
});
