// What comes from elsewhere and is to be installed: archives that want out of their folder, bombs, names that are paths, scripts,
// other bytes under the same version, and servers that send us on, lie or hang. Registries and repositories are on this machine.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseSource } from '../../packages/gateway/src/install/source.ts';
import { unpack } from '../../packages/gateway/src/install/unpack.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { type ArchiveEntry, integrityOf, paxRecord, tar, tgz } from '../support/archives.ts';
import { seed } from '../support/chaos.ts';
import { makeRepository, serveGit } from '../support/git-repository.ts';
import { type InstallWorld, installWorld } from '../support/install-world.ts';
import { createRandom } from '../support/random.ts';
import { extensionFiles, openRegistry, type Registry } from '../support/registry.ts';
import { verifies } from '../support/verifies.ts';

async function withRegistry(t: TestContext, work: (world: InstallWorld, registry: Registry) => Promise<void>): Promise<void> {
  await using registry = await openRegistry();
  await work(installWorld(t, { registry: registry.url }), registry);
}

/** Nothing is in the store, and nothing beside it. */
function assertUntouched({ home, stored }: InstallWorld, what: string): void {
  assert.deepEqual([stored(), readdirSync(home)], [[], ['extension-store']], what);
}

const file = (path: string, more: Partial<ArchiveEntry> = {}): ArchiveEntry => ({ path, content: 'x', ...more });

const slips: readonly (readonly [string, readonly ArchiveEntry[], RegExp])[] = [
  ['a way up', [file('package/../../canary')], /leads out/],
  ['a way up at once', [file('../canary')], /leads out/],
  ['a way up in a long name', [file(`package/${'a/'.repeat(60)}../../canary`)], /leads out/],
  ['an absolute path', [file('/tmp/canary')], /absolute/],
  ['a drive', [file('C:/canary')], /absolute/],
  ['the separator of another system', [file('package\\..\\canary')], /character/],
  ['a link', [{ path: 'package/link', type: '2', link: '/' }, file('package/link/canary')], /is a link/],
  ['a link to something inside', [{ path: 'package/link', type: '2', link: 'main.mjs' }], /is a link/],
  ['a hard link', [{ path: 'package/hard', type: '1', link: '/etc/passwd' }], /is a link/],
  ['a device', [{ path: 'package/device', type: '3' }], /is a device/],
  ['a pipe', [{ path: 'package/pipe', type: '6' }], /is a pipe/],
  ['bits that change who runs it', [file('package/su', { mode: 0o4755 })], /who runs it/],
  ['names that differ in letters', [file('package/Main.mjs')], /letters only/],
  ['folders that differ in letters', [file('package/Lib/a'), file('package/lib/b')], /letters only/],
  ['letters that are composed', [file('package/\u00e9'), file('package/e\u0301')], /letters only/],
  ['the same name twice', [file('package/main.mjs')], /twice/],
  ['a file that is a folder', [file('package/main.mjs/x')], /twice/],
  ['a name of nothing', [file('')], /name of nothing/],
  ['a name of nothing at all', [file('./')], /name of nothing/],
  ['a file without its folder', [file('canary')], /folder of the package/],
  ['another top', [file('other/x')], /is not in the folder/],
  ['a very long name', [file(`package/${'a'.repeat(300)}`)], /part of more than/],
  ['a very long path', [file(`package/${'abc/'.repeat(300)}`)], /longer than/],
  ['a zero in a name', [{ path: 'pax', type: 'x', content: paxRecord('path', 'package/a\0b') }, file('package/x')], /character/],
];

test('S30: an archive that wants out of its folder is refused whole, and nothing is left of it', async (t) => {
  verifies('S30');
  await withRegistry(t, async (world, registry) => {
    for (const [what, entries, reason] of slips) {
      registry.publish('notes', '1.0.0', [...extensionFiles('notes', '1.0.0'), ...entries]);
      await assert.rejects(world.install('npm:notes'), (error: Error & { code: string }) => {
        assert.deepEqual([error.code, reason.test(error.message)], ['REFUSED', true], `${what}: ${error.message}`);
        return true;
      });
      assertUntouched(world, what);
    }
  });
});

test('S30: an archive that is cut, damaged or no archive is refused', async (t) => {
  verifies('S30');
  await withRegistry(t, async (world, registry) => {
    const whole = tgz(extensionFiles('notes', '1.0.0'));
    const plain = tar(extensionFiles('notes', '1.0.0'));
    const wrongSum = Buffer.from(plain);
    wrongSum[0]! ^= 1;
    const { gzipSync } = await import('node:zlib');
    for (const archive of [
      whole.subarray(0, -20),
      Buffer.from('no archive'),
      plain,
      gzipSync(wrongSum),
      gzipSync(plain.subarray(0, 900)),
    ]) {
      registry.publish('notes', '1.0.0', [], { archive });
      await assert.rejects(world.install('npm:notes'), { code: 'REFUSED', message: /damaged/ });
      assertUntouched(world, 'damaged');
    }
  });
});

test('S30: whatever is changed in an archive, it is unpacked inside its folder or refused', async (t) => {
  verifies('S30');
  const { home } = installWorld(t);
  const random = createRandom(seed);
  t.diagnostic(`seed ${seed}`);
  const plain = tar([...extensionFiles('notes', '1.0.0'), { path: `package/${'deep/'.repeat(3)}file`, content: 'x' }]);
  const outcomes = { unpacked: 0, refused: 0 };
  for (let round = 0; round < 100; round++) {
    const archive = Buffer.from(plain);
    for (let change = 0; change <= random.below(4); change++) archive[random.below(archive.length)] = random.below(256);
    // The sums are right again, so that what they guard is read.
    for (let at = 0; at + 512 <= archive.length; at += 512) {
      if (archive.subarray(at + 257, at + 262).toString('latin1') !== 'ustar') continue;
      archive.write('        ', at + 148, 'latin1');
      const sum = archive.subarray(at, at + 512).reduce((all, byte) => all + byte, 0);
      archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1');
    }
    const [file, target] = [join(home, 'archive'), join(home, 'round', 'target')];
    mkdirSync(target, { recursive: true });
    writeFileSync(file, archive);
    try {
      await unpack(file, target, { gzip: false, signal: new AbortController().signal, unpacked: () => {} });
      outcomes.unpacked++;
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'REFUSED', `round ${round}: ${String(error)}`);
      outcomes.refused++;
    }
    assert.deepEqual([readdirSync(home).sort(), readdirSync(join(home, 'round'))], [['archive', 'round'], ['target']], `round ${round}`);
    rmSync(join(home, 'round'), { recursive: true });
  }
  assert.ok(outcomes.unpacked > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
});

test('S31: a bomb stops at the bounds of size, ratio and number, and one inside is left packed', async (t) => {
  verifies('S31');
  await withRegistry(t, async (world, registry) => {
    const bombs: readonly (readonly [readonly ArchiveEntry[], RegExp])[] = [
      [[file('package/zeros', { content: Buffer.alloc(8_000_000) })], /more than 100 times/],
      [[file('package/large', { size: 300_000_000 })], /more than 209715200 bytes/],
      [Array.from({ length: 20_001 }, (_, at) => ({ path: integrityOf(Buffer.from(`${at}`)), type: 'g' })), /more than 20000 entries/],
      [[{ path: 'pax', type: 'x', content: paxRecord('comment', 'x'.repeat(70_000)) }, file('package/x')], /header of \d+ bytes/],
      [[file(`package/${'d/'.repeat(70)}x`)], /deeper than 64/],
    ];
    for (const [entries, reason] of bombs) {
      registry.publish('notes', '1.0.0', [...extensionFiles('notes', '1.0.0'), ...entries]);
      await assert.rejects(world.install('npm:notes'), { code: 'REFUSED', message: reason });
      assertUntouched(world, String(reason));
    }
    const inner = tgz([file('package/zeros', { content: Buffer.alloc(4_000_000) })]);
    registry.publish('notes', '1.0.0', [...extensionFiles('notes', '1.0.0'), file('package/inner.tgz', { content: inner })]);
    await world.install('npm:notes');
    assert.equal(Buffer.byteLength(world.text('notes', 'inner.tgz')) > 0, true);
  });
});

test('S32: a name that is a path, kept, too long or not its own is refused before anything is written', async (t) => {
  verifies('S32');
  const names = [
    '@x/..%2f..',
    '..',
    '.',
    '@x/..',
    '@../x',
    'a/b',
    'A',
    ' ',
    '',
    'node_modules',
    'favicon.ico',
    '-x',
    '_x',
    '.x',
    'x\0',
    'x'.repeat(300),
  ];
  for (const name of names) assert.throws(() => parseSource(`npm:${name}`, '/'), { code: 'USAGE', exitCode: 2 }, name);
  for (const version of ['../x', '^1.0.0', '>1', 'a b', '', '1/2', 'x'.repeat(200)])
    assert.throws(() => parseSource(`npm:notes@${version}`, '/'), { code: 'USAGE' }, version);
  await withRegistry(t, async (world, registry) => {
    await assert.rejects(world.install('npm:@x/..%2f..'), { code: 'USAGE' });
    assert.deepEqual([readdirSync(world.home), registry.asked], [[], []]);
    const refused = async (manifestName: string, reason: RegExp) => {
      registry.publish('notes', '1.0.0', extensionFiles(manifestName, '1.0.0'));
      await assert.rejects(world.install('npm:notes'), { code: 'REFUSED', message: reason });
      assertUntouched(world, manifestName);
    };
    await refused('../../x', /manifest\/name/);
    await refused('x'.repeat(65), /manifest\/name/);
    await refused('gateway', /kept for the gateway/);
    await refused('mail', /called "mail"/);
    assert.equal((await world.install('npm:notes', { name: 'mail' })).name, 'mail');
    await assert.rejects(world.install('npm:notes', { name: 'notes' }), { code: 'REFUSED', message: /calls it "mail", not "notes"/ });
  });
});

test('S32: an address of a repository cannot be an option, another program or a secret', () => {
  verifies('S32', 'S36:install');
  const wrong = [
    'git:ext::sh -c touch% /tmp/x',
    'git:http://git.example/me/x',
    'git:git://git.example/me/x',
    'git:ftp://git.example/me/x',
    'git:https://me:secret@git.example/me/x',
    'git:ssh://-oProxyCommand=x/me/x',
    'git:git.example/me/x@--upload-pack=touch',
    'git:git.example/me/x@a..b',
    'git:git.example/me/x@',
    'git:git.example',
    'git:',
    'http://files.example/x.tgz',
  ];
  for (const each of wrong) assert.throws(() => parseSource(each, '/'), { code: 'USAGE' }, each);
  const { url, ref } = parseSource('git:ssh://git@git.example/me/x@feature/y', '/') as { url: string; ref: string };
  assert.deepEqual([url, ref], ['ssh://git@git.example/me/x', 'feature/y']);
});

test('S33: no script of a package, of a dependency or of a repository is run', async (t) => {
  verifies('S33');
  await withRegistry(t, async (world, registry) => {
    const canaries = join(world.home, 'canaries');
    mkdirSync(canaries);
    const touch = (name: string) => `node -e "require('fs').writeFileSync('${join(canaries, name)}','')"`;
    const scripts = (who: string) =>
      Object.fromEntries(
        ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish', 'prepack'].map((name) => [name, touch(`${who}-${name}`)]),
      );
    const npmrc = `ignore-scripts=false\nscript-shell=${join(world.home, 'shell.sh')}\nregistry=http://127.0.0.1:1/\ngit=${join(world.home, 'shell.sh')}\n`;
    writeFileSync(join(world.home, 'shell.sh'), `#!/bin/sh\ntouch ${join(canaries, 'shell')}\n`, { mode: 0o755 });
    const shapes = { name: 'shapes', version: '1.0.0', scripts: scripts('dependency'), bin: { node: 'bin.js' } };
    registry.publish(
      'shapes',
      '1.0.0',
      [
        { path: 'package/package.json', content: JSON.stringify(shapes) },
        { path: 'package/bin.js', content: '' },
        { path: 'package/binding.gyp', content: '{}' },
      ],
      { more: { scripts: shapes.scripts, bin: shapes.bin, hasInstallScript: true } },
    );
    const own = { name: 'notes', version: '1.0.0', scripts: scripts('package'), dependencies: { shapes: '*' } };
    const [, ...rest] = extensionFiles('notes', '1.0.0');
    const entries = [
      { path: 'package/package.json', content: JSON.stringify(own) },
      ...rest,
      { path: 'package/.npmrc', content: npmrc },
      { path: 'package/binding.gyp', content: '{}' },
    ];
    registry.publish('notes', '1.0.0', entries);
    await world.install('npm:notes');
    assert.deepEqual(readdirSync(canaries), []);
    const installed = join(world.home, 'extension-store', 'notes', world.lock().extensions.notes!.current.folder);
    assert.ok(existsSync(join(installed, 'node_modules', 'shapes', 'package.json')));
    assert.ok(!existsSync(join(installed, 'node_modules', '.bin')), 'no program takes the name of another');
    await world.remove('notes');

    const repository = makeRepository(join(world.home, 'repository'));
    const content = Object.fromEntries(entries.map(({ path, content: text }) => [path.slice('package/'.length), text as string]));
    repository.commit({
      ...content,
      '.gitattributes': '* filter=evil\n',
      '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ${repository.folder}\n`,
    });
    for (const hook of ['post-checkout', 'post-merge', 'reference-transaction', 'post-index-change'])
      writeFileSync(join(repository.folder, '.git', 'hooks', hook), `#!/bin/sh\ntouch ${join(canaries, hook)}\n`, { mode: 0o755 });
    repository.git('config', 'filter.evil.smudge', touch('smudge'));
    repository.git('config', 'uploadpack.packObjectsHook', join(world.home, 'shell.sh'));
    await world.install(`git:${repository.folder}`);
    assert.deepEqual(readdirSync(canaries), []);
  });
});

test('S36: a dependency of a dependency cannot come from a repository or from another place', async (t) => {
  verifies('S33', 'S36:install');
  await using other = await openRegistry();
  other.publish('evil', '1.0.0', [{ path: 'package/package.json', content: '{"name":"evil","version":"1.0.0"}' }]);
  await withRegistry(t, async (world, registry) => {
    const repository = makeRepository(join(world.home, 'repository'));
    repository.commit({ 'package.json': '{"name":"evil","version":"1.0.0"}' });
    const [, ...rest] = extensionFiles('notes', '1.0.0');
    const own = { name: 'notes', version: '1.0.0', dependencies: { shapes: '*' } };
    registry.publish('notes', '1.0.0', [{ path: 'package/package.json', content: JSON.stringify(own) }, ...rest]);
    for (const evil of [`git+file://${repository.folder}`, `${other.url}/evil/-/evil-1.0.0.tgz`]) {
      const shapes = { name: 'shapes', version: '1.0.0', dependencies: { evil } };
      registry.publish('shapes', '1.0.0', [{ path: 'package/package.json', content: JSON.stringify(shapes) }], {
        more: { dependencies: shapes.dependencies },
      });
      await assert.rejects(
        world.install('npm:notes'),
        (error: Error & { code: string }) => ['FETCH', 'REFUSED'].includes(error.code),
        evil,
      );
      assert.deepEqual(world.stored(), [], evil);
    }
  });
});

test('S35: other bytes under the same version are refused, with both hashes', async (t) => {
  verifies('S35');
  await withRegistry(t, async (world, registry) => {
    const [first, second] = [tgz(extensionFiles('notes', '1.0.0')), tgz(extensionFiles('notes', '1.0.0', [file('package/more')]))];
    const both = (wanted: Buffer, got: Buffer) => (error: Error & { code?: string }) => {
      assert.deepEqual([error.code, error.message.match(/sha512-\S+/g)], ['REFUSED', [integrityOf(wanted), integrityOf(got)]]);
      return true;
    };
    registry.publish('notes', '1.0.0', [], { archive: second, dist: { integrity: integrityOf(first) } });
    await assert.rejects(world.install('npm:notes'), both(first, second));
    assertUntouched(world, 'not what the registry says');
    registry.publish('notes', '1.0.0', [], { archive: first });
    await world.install('npm:notes');
    registry.publish('notes', '1.0.0', [], { archive: second });
    await assert.rejects(world.update('notes'), both(first, second));
    await assert.rejects(world.install('npm:notes@1.0.0'), both(first, second));
    assert.equal(world.lock().extensions.notes!.current.integrity, integrityOf(first));
    for (const integrity of [undefined, '', 'sha1-AAAA', 'sha512-short']) {
      registry.publish('notes', '2.0.0', extensionFiles('notes', '2.0.0'), { dist: { integrity } });
      await assert.rejects(world.update('notes'), { code: 'REFUSED', message: /no sha512/ });
    }
  });
});

test('S36: a registry cannot send us to another host, port, scheme or file', async (t) => {
  verifies('S36:install');
  await using other = await openRegistry();
  other.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'));
  await withRegistry(t, async (world, registry) => {
    registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'));
    const elsewhere = [
      `${other.url}/notes/-/notes-1.0.0.tgz`,
      'file:///etc/passwd',
      'http://169.254.169.254/x',
      'https://files.example/x',
      'data:,x',
      'http://',
    ];
    for (const location of elsewhere) {
      for (const part of ['/notes/latest', '.tgz']) {
        registry.intercept = (request, response) => {
          if (!request.url!.endsWith(part)) return false;
          response.writeHead(302, { location }).end();
          return true;
        };
        await assert.rejects(world.install('npm:notes'), { code: 'REFUSED', message: /not followed/ }, `${part} to ${location}`);
      }
      registry.intercept = undefined;
      registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'), { dist: { tarball: location } });
      await assert.rejects(world.install('npm:notes'), { code: 'REFUSED' }, `the archive at ${location}`);
      registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'));
      assertUntouched(world, location);
    }
    assert.deepEqual(other.asked, [], 'nobody else was asked');
    registry.intercept = (request, response) => {
      if (request.url !== '/notes/latest') return false;
      response.writeHead(301, { location: '/notes/1.0.0' }).end();
      return true;
    };
    assert.equal((await world.install('npm:notes')).version.version, '1.0.0', 'to an address of its own it can');
    registry.intercept = (request, response) => {
      response.writeHead(302, { location: `${request.url!}x` }).end();
      return true;
    };
    await assert.rejects(world.update('notes'), { code: 'FETCH', message: /more than 5 times/ });
  });
  await assert.rejects(installWorld(t, { registry: 'http://registry.example/' }).install('npm:notes'), {
    code: 'REFUSED',
    message: /not https/,
  });
});

test('S36: a repository cannot send us elsewhere either', async (t) => {
  verifies('S36:install');
  const world = installWorld(t);
  makeRepository(join(world.home, 'hosted', 'notes')).commit({ 'extension.toml': '' });
  await using server = await serveGit(join(world.home, 'hosted'));
  await using other = await serveGit(join(world.home, 'hosted'));
  server.intercept = (request, response) => {
    response.writeHead(302, { location: `${other.url}${request.url!}` }).end();
    return true;
  };
  await assert.rejects(world.install(`git:${server.url}/notes`), { code: 'FETCH' });
  assert.deepEqual([other.asked, world.stored()], [[], []]);
});

test('a registry that lies about what was asked for is refused', async (t) => {
  verifies('S35');
  await withRegistry(t, async (world, registry) => {
    const lies: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [{ name: 'other' }, /answered with "other"/],
      [{ version: '2.0.0' }, /answered with 2\.0\.0/],
      [{ version: '../1' }, /no version/],
      [{ dist: null }, /no sha512/],
    ];
    for (const [lie, reason] of lies) {
      const told = { name: 'notes', version: '1.0.0', ...lie };
      registry.intercept = (_, response) => {
        response.writeHead(200).end(JSON.stringify(told));
        return true;
      };
      await assert.rejects(world.install('npm:notes@1.0.0'), { code: 'REFUSED', message: reason });
    }
    registry.intercept = (_, response) => {
      response.writeHead(200).end('<html>');
      return true;
    };
    await assert.rejects(world.install('npm:notes'), { code: 'FETCH', message: /not JSON/ });
    assertUntouched(world, 'lies');
  });
});

test('a server that sends too much or hangs is left, and so is one that nobody wants to wait for', async (t) => {
  verifies('S31');
  await using registry = await openRegistry();
  registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'));
  const hang = (part: string, begin: string) => {
    registry.intercept = (request, response) => {
      if (!request.url!.endsWith(part)) return false;
      response.writeHead(200, { 'content-length': 1_000 });
      response.write(begin);
      return true;
    };
  };
  /** The wait for a step is over soon. */
  const hasty = (stepMs: number): Clock => ({ ...systemClock, after: (ms, call) => systemClock.after(ms === stepMs ? 20 : ms, call) });

  hang('/latest', '{');
  const atOnce = installWorld(t, { registry: registry.url, clock: hasty(20_000) });
  await assert.rejects(atOnce.install('npm:notes'), { code: 'FETCH', message: /took longer than 20 s/ });
  assertUntouched(atOnce, 'what is said of it');
  hang('.tgz', 'x');
  const later = installWorld(t, { registry: registry.url, clock: hasty(30_000) });
  await assert.rejects(later.install('npm:notes'), { code: 'FETCH', message: /took longer than 30 s/ });
  assertUntouched(later, 'the archive');

  const controller = new AbortController();
  const left = installWorld(t, { registry: registry.url, signal: controller.signal });
  const interrupted = left.install('npm:notes');
  const refusal = assert.rejects(interrupted, { code: 'INTERRUPTED', exitCode: 130 });
  controller.abort();
  await refusal;
  assertUntouched(left, 'interrupted');

  registry.intercept = (_, response) => {
    response.writeHead(200);
    const more = () => void (response.destroyed || response.write(Buffer.alloc(1_048_576, 32), more));
    more();
    return true;
  };
  await assert.rejects(installWorld(t, { registry: registry.url }).install('npm:notes'), {
    code: 'REFUSED',
    message: /more than 4194304 bytes/,
  });
});
