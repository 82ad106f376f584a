// A home folder that others of the machine could change: nothing in it is used, and the command that mends it is named.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, lchownSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../packages/gateway/src/config.ts';
import { checkHome, HomeError, weaknessesOf } from '../../packages/gateway/src/home.ts';
import { weakParentOf, weaknessOf } from '../../packages/gateway/src/kernel/others.ts';
import { readSecretFile } from '../../packages/gateway/src/kernel/secret-files.ts';
import { runTenon } from '../support/fault-points.ts';
import { startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

function refusalOf(home: string): { message: string; hint: string } | undefined {
  try {
    loadConfig({ home, env: {} });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof HomeError, String(error));
    return error;
  }
}

test('S78 a home that others can write is refused by every command, with the command that mends it', async () => {
  verifies('S78:home');
  using place = temporaryPlace();
  const home = join(place.path, 'home');
  mkdirSync(home);
  chmodSync(home, 0o777);
  writeFileSync(join(home, 'tenon.toml'), '[gateway]\nauth = "none"\n');
  const started = startGatewayProcess({ home }).then(async (gateway) => {
    await gateway.remove();
    return 'it started';
  });
  await assert.rejects(started, (error: { exit?: { code: number }; stderr?: string }) => {
    const { code, message, hint } = JSON.parse(error.stderr ?? '') as Record<string, string>;
    assert.deepEqual(
      [error.exit?.code, code, message, hint],
      [
        1,
        'UNSAFE_HOME',
        `${home} can be written by others (mode 777), so others could change how Tenon runs`,
        `look at what is in it, then run: chmod go-w ${home}`,
      ],
    );
    return true;
  });
  for (const words of [['status'], ['config', 'get', 'gateway.auth'], ['secret', 'ls'], ['backup', join(place.path, 'b')]]) {
    const { code, stderr } = await runTenon([...words, '--home', home]);
    assert.deepEqual([code, stderr.includes(`chmod go-w ${home}`)], [1, true], `${words.join(' ')}: ${stderr}`);
  }
  const doctor = await runTenon(['doctor', '--home', home]);
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, /error\s+permissions: .* can be written by others \(mode 777\).*\n\s+chmod go-w /);
  const mended = await runTenon(['doctor', '--fix', '--home', home]);
  assert.equal(mended.code, 0, mended.stdout);
  assert.equal(statSync(home).mode & 0o777, 0o700);
  assert.equal(refusalOf(home), undefined);
});

test('S78 settings, token and keys that others can write are refused', () => {
  verifies('S78:home');
  for (const name of ['tenon.toml', 'token', 'home.key']) {
    using place = temporaryPlace();
    const file = join(place.path, name);
    writeFileSync(file, '');
    for (const [mode, isRefused] of [
      [0o600, false],
      [0o644, false],
      [0o602, true],
      [0o666, true],
    ] as const) {
      chmodSync(file, mode);
      assert.equal(refusalOf(place.path)?.hint.endsWith(`chmod go-w ${file}`) ?? false, isRefused, `${name} ${mode.toString(8)}`);
    }
  }
});

test('S78 a group in which nobody else is may write, any other may not', () => {
  verifies('S78:home');
  using place = temporaryPlace();
  const [file, groups] = [join(place.path, 'tenon.toml'), join(place.path, 'group')];
  writeFileSync(file, '');
  const { gid } = statSync(file);
  const { username } = userInfo();
  const uid = process.getuid?.() || undefined;
  // As an ordinary user sees it, also where root runs this: a file of root is as good as one's own.
  const isWeak = (mode: number, line: string, as = uid ?? 7) => {
    chmodSync(file, mode);
    writeFileSync(groups, `daemon:x:1:\n${line}\n`);
    return weaknessOf(file, as, groups) !== undefined;
  };
  assert.equal(isWeak(0o664, `${username}:x:${gid}:`), false);
  assert.equal(isWeak(0o664, `${username}:x:${gid}:${username}`), false);
  assert.equal(isWeak(0o666, `${username}:x:${gid}:`), true);
  assert.equal(isWeak(0o664, `${username}:x:${gid}:${username},eve`), true);
  assert.equal(isWeak(0o664, `staff:x:${gid}:`), true);
  assert.equal(isWeak(0o664, `${username}:x:${gid + 1}:`), true);
  if (isRoot) assert.equal(isWeak(0o664, `${username}:x:${gid}:`, 0), true);
});

test('S78 a home and files of somebody else are refused, those of root are not', () => {
  verifies('S78:home');
  using place = temporaryPlace();
  const file = join(place.path, "it's mine");
  writeFileSync(file, '');
  const mine = statSync(file).uid;
  assert.equal(weaknessOf(file, mine), undefined);
  // Seen by another user: that of root is fine, and any other is not.
  const seen = weaknessOf(file, mine + 7);
  if (mine === 0) assert.equal(seen, undefined);
  else
    assert.deepEqual(
      [seen?.fault, seen?.remedy],
      [`belongs to another user (${mine})`, `sudo chown ${mine + 7} '${place.path}/it'\\''s mine'`],
    );
  assert.equal(weaknessOf(join(place.path, 'none'), mine + 7), undefined);
  if (!isRoot) return;

  const home = join(place.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  for (const name of ['tenon.toml', 'token', 'home.key', '.']) {
    const path = join(home, name);
    if (name !== '.') writeFileSync(path, '', { mode: 0o600 });
    chownSync(path, NOBODY, NOBODY);
    const refused = refusalOf(home);
    assert.match(refused?.message ?? '', /belongs to another user \(65534\)/, name);
    assert.ok(refused?.hint.endsWith(`chown 0 ${path}`), refused?.hint);
    chownSync(path, 0, 0);
  }
  mkdirSync(join(home, 'secrets'), { mode: 0o700 });
  writeFileSync(join(home, 'secrets', 'key'), 'theirs', { mode: 0o600 });
  chownSync(join(home, 'secrets', 'key'), NOBODY, NOBODY);
  assert.throws(() => readSecretFile(home, {}, 'key'), /belongs to another user \(65534\); chown 0 its file/);
});

test('S78 a home is as safe as the folders above it, and as what it links to', () => {
  verifies('S78:home');
  using place = temporaryPlace();
  const open = join(place.path, 'open');
  const home = join(open, 'home');
  mkdirSync(home, { recursive: true });
  for (const [mode, isRefused] of [
    [0o777, true],
    [0o1777, false],
    [0o775, false],
    [0o755, false],
  ] as const) {
    chmodSync(open, mode);
    assert.equal(weakParentOf(home)?.remedy, isRefused ? `chmod o-w ${open}` : undefined, mode.toString(8));
  }
  chmodSync(open, 0o777);
  const link = join(place.path, 'link');
  symlinkSync(home, link);
  assert.throws(() => checkHome(link), { hint: `look at what is in it, then run: chmod o-w ${open}` });
  chmodSync(open, 0o700);
  chmodSync(home, 0o777);
  assert.throws(() => checkHome(link), /can be written by others/);
  // A folder that is shared on purpose is no home, and must not be closed to others.
  chmodSync(home, 0o1777);
  assert.throws(() => checkHome(home), { hint: `look at what is in it, then choose a folder of its own, such as ${home}/tenon` });
  assert.equal(weaknessOf(home)?.mode, undefined);
  chmodSync(home, 0o700);
  assert.doesNotThrow(() => checkHome(link));

  // Settings that lie elsewhere: in a folder that others can write, they can be replaced.
  const elsewhere = join(place.path, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'tenon.toml'), '', { mode: 0o600 });
  symlinkSync(join(elsewhere, 'tenon.toml'), join(home, 'tenon.toml'));
  assert.deepEqual(weaknessesOf(home), []);
  chmodSync(elsewhere, 0o777);
  assert.throws(() => checkHome(home), { hint: `look at what is in it, then run: chmod o-w ${elsewhere}` });
  chmodSync(elsewhere, 0o755);
  if (!isRoot) return;
  lchownSync(join(home, 'tenon.toml'), NOBODY, NOBODY);
  assert.throws(() => checkHome(home), { hint: `look at what is in it, then run: chown -h 0 ${join(home, 'tenon.toml')}` });
});

test('S78 a home that was made by hand, and keys that were copied, are made private at the start, and that is said', async () => {
  verifies('S78:home');
  using place = temporaryPlace();
  const home = join(place.path, 'home');
  mkdirSync(home);
  chmodSync(home, 0o755);
  writeFileSync(join(home, 'token'), `${'t'.repeat(40)}\n`);
  chmodSync(join(home, 'token'), 0o644);
  await using gateway = await startGatewayProcess({ home });
  assert.deepEqual([statSync(home).mode & 0o777, statSync(join(home, 'token')).mode & 0o777], [0o700, 0o600]);
  const { stdout } = await runTenon(['status', '--json', '--home', home]);
  const { warnings } = JSON.parse(stdout) as { warnings: string[] };
  assert.ok(warnings.includes(`${home} could be read by others (mode 755); it is private now`), warnings.join('\n'));
  assert.ok(
    warnings.some((warning) => warning.startsWith(`${home}/token could be read by others (mode 644)`)),
    warnings.join('\n'),
  );
  assert.equal(await gateway.stop(), 0);
});

function temporaryPlace(): Disposable & { readonly path: string } {
  const path = temporaryHome();
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}
