import assert from 'node:assert/strict';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue, SettingName } from '@tenon/protocol';
import { ConfigError, parseConfigText } from './config.ts';
import { patchConfigText, writeConfigFile } from './config-file.ts';

const COMMENTED = `# how we run it
[gateway]
# the proxy knows this port
port = 4000 # do not change
bind = '127.0.0.1'

allowedHosts = [ # names
  "a.example", # "]" in a comment
  "b.example",
]

[log]
level = "warn"
`;

function patch(text: string, changes: Record<string, JsonValue | undefined>): string {
  return patchConfigText(text, new Map(Object.entries(changes)) as Map<SettingName, JsonValue | undefined>);
}

test('patchConfigText replaces one value and leaves the rest of the text alone', () => {
  assert.equal(patch(COMMENTED, { 'gateway.port': 5000 }), COMMENTED.replace('4000', '5000'));
  assert.equal(patch(COMMENTED, { 'gateway.bind': '::1' }), COMMENTED.replace("'127.0.0.1'", '"::1"'));
  const shorter = patch(COMMENTED, { 'gateway.allowedHosts': ['c.example'] });
  assert.equal(shorter, COMMENTED.replace(/\[ # names[^\]]*\] in a comment|\[ # names[\s\S]*?\n\]/, '[ "c.example" ]'));
});

test('patchConfigText adds a setting to its table, or the table at the end', () => {
  assert.equal(patch(COMMENTED, { 'log.files': 3 }), `${COMMENTED}files = 3\n`);
  assert.equal(patch(COMMENTED, { 'gateway.auth': 'none' }), COMMENTED.replace(']\n\n[log]', ']\nauth = "none"\n\n[log]'));
  assert.equal(patch(COMMENTED, { 'store.engine': 'postgres' }), `${COMMENTED}\n[store]\nengine = "postgres"\n`);
  assert.equal(patch('', { 'log.files': 3 }), '[log]\nfiles = 3\n');
  assert.equal(patch('# mine', { 'log.files': 3 }), '# mine\n\n[log]\nfiles = 3\n');
  assert.equal(patch('[log]', { 'log.files': 3 }), '[log]\nfiles = 3\n');
});

test('patchConfigText goes on with dotted keys where the file uses them', () => {
  assert.equal(patch('log.level = "warn"\n', { 'log.files': 3 }), 'log.level = "warn"\nlog.files = 3\n');
});

test('patchConfigText removes the line of a setting', () => {
  assert.equal(patch(COMMENTED, { 'gateway.port': undefined }), COMMENTED.replace('port = 4000 # do not change\n', ''));
  assert.equal(patch(COMMENTED, { 'store.url': undefined }), COMMENTED);
  assert.equal(patch('log.level = "warn"\n', { 'log.level': undefined }), '');
});

test('patchConfigText keeps CRLF', () => {
  assert.equal(patch('[log]\r\nlevel = "warn"\r\n', { 'log.files': 3 }), '[log]\r\nlevel = "warn"\r\nfiles = 3\r\n');
});

test('patchConfigText writes the file anew where no single line can be changed', () => {
  const patched = patch('log = { level = "warn" } # inline\n', { 'log.files': 3 });
  assert.deepEqual(
    [...parseConfigText(patched, 'x')],
    [
      ['log.level', 'warn'],
      ['log.files', 3],
    ],
  );
});

test('patchConfigText refuses a text that is not TOML', () => {
  assert.throws(() => patch('[gateway\n', { 'log.files': 3 }), ConfigError);
});

test('patchConfigText means exactly what was asked, whatever the text looks like', () => {
  const statement = fc.constantFrom(
    '# note',
    '',
    'bind = """::1"""',
    'port = 1 # "x',
    "auth = 'none'",
    'allowedHosts = ["a", # ] "\n "b"]',
    'allowedHosts = []',
    'insecure = true',
    '"shutdownBudgetMs" = 200',
  );
  const uniqueBy = (line: string) => (/^"?(\w+)"? =/.exec(line)?.[1] ?? Symbol('free')) as string;
  const logStyle = fc.constantFrom('[log]\nfiles = 2\n', 'log.files = 2\n', 'log = { files = 2 }\n', '["log"]\n"files" = 2\n', '');
  const changes = fc.dictionary(
    fc.constantFrom('gateway.port', 'log.files', 'store.maxBytes'),
    fc.option(fc.integer({ min: 100, max: 100 }), { nil: undefined }),
  );
  const document = fc.tuple(fc.uniqueArray(statement, { selector: uniqueBy }), logStyle, fc.constantFrom('\n', '\r\n'));
  fc.assert(
    fc.property(document, changes, ([lines, log, newline], wanted) => {
      const dotted = log.startsWith('log');
      const gateway = `[gateway]\n${lines.join('\n')}\n`;
      const text = (dotted ? log + gateway : gateway + log).replaceAll('\n', newline);
      const expected = parseConfigText(text, 'x');
      for (const [name, value] of Object.entries(wanted) as [SettingName, number | undefined][]) {
        if (value === undefined) expected.delete(name);
        else expected.set(name, value);
      }
      const patched = parseConfigText(patch(text, wanted), 'x');
      assert.deepEqual(Object.fromEntries(patched), Object.fromEntries(expected));
    }),
    { numRuns: 500 },
  );
});

test('writeConfigFile replaces the file with mode 0600, follows a link and leaves nothing behind', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'tenon-config-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'deep', 'tenon.toml');
  writeConfigFile(file, 'a');
  writeFileSync(file, 'old', { mode: 0o644 });
  writeConfigFile(file, 'new');
  assert.equal(readFileSync(file, 'utf8'), 'new');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(home, 'deep')).mode & 0o777, 0o700);

  const link = join(home, 'tenon.toml');
  symlinkSync(file, link);
  writeConfigFile(link, 'through the link');
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.equal(readFileSync(file, 'utf8'), 'through the link');
  assert.deepEqual(readdirSync(join(home, 'deep')), ['tenon.toml']);
});

test('writeConfigFile keeps the old file when it cannot write the new one', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'tenon-config-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const blocked = join(home, 'file');
  writeFileSync(blocked, 'x');
  assert.throws(() => writeConfigFile(join(blocked, 'tenon.toml'), 'new'));
  assert.equal(readFileSync(blocked, 'utf8'), 'x');
});
