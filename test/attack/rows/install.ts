// What is fetched from elsewhere: archives, repositories and addresses that want to write, run or reach more than they should. The
// registry and the repositories are on this machine.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tenon } from '../../security/harness.ts';
import { type ArchiveEntry, paxRecord, tgz } from '../../support/archives.ts';
import { makeRepository, serveGit } from '../../support/git-repository.ts';
import { extensionFiles, openRegistry, type Registry } from '../../support/registry.ts';
import { type Attack, broke, held, noneOf, untried, type World } from '../attack.ts';

interface Installer {
  readonly home: string;
  /** Where what must not run or be written leaves its mark. */
  readonly marks: string;
  readonly registry: Registry;
  install(source: string, ...words: string[]): Promise<{ code: number; said: string }>;
  /** The names of what is installed. */
  stored(): string[];
}

/** Without a running gateway: an installation needs none. */
async function installer(world: World): Promise<Installer> {
  const folder = world.folder();
  const [home, marks] = [join(folder, 'home'), join(folder, 'marks')];
  for (const each of [home, marks]) mkdirSync(each, { mode: 0o700 });
  const registry = await openRegistry();
  world.after(() => registry[Symbol.asyncDispose]());
  writeFileSync(join(home, 'tenon.toml'), `[extensions]\nregistry = "${registry.url}"\n`, { mode: 0o600 });
  return {
    home,
    marks,
    registry,
    async install(source, ...words) {
      const { code, stdout, stderr } = await tenon(home, 'ext', 'install', source, '--no-enable', ...words);
      return { code, said: `${stdout}${stderr}` };
    },
    stored: () =>
      existsSync(join(home, 'extension-store')) ? readdirSync(join(home, 'extension-store')).filter((name) => !name.startsWith('.')) : [],
  };
}

const plain = (name: string): Record<string, string> =>
  Object.fromEntries(extensionFiles(name, '1.0.0').map(({ path, content }) => [path.slice('package/'.length), String(content)]));
const hasGit = () => spawnSync('git', ['--version']).status === 0;
/** A refusal is a sentence. */
const isClear = (said: string) => said.length > 20 && !/^\s+at .+:\d+/m.test(said);

export const installAttacks: readonly Attack[] = [
  {
    id: 'S30',
    tried: 'archives that want out of their folder: .., absolute, links, a device, set-user-id, twins, cut (10)',
    async run(world) {
      const { home, marks, registry, install, stored } = await installer(world);
      const file = (path: string, more: Partial<ArchiveEntry> = {}): ArchiveEntry => ({ path, content: 'x', ...more });
      registry.publish('control', '1.0.0', extensionFiles('control', '1.0.0'));
      const control = await install('npm:control');
      if (control.code !== 0) throw new Error(control.said);
      const evil: Record<string, readonly ArchiveEntry[]> = {
        'a way up': [file('package/../../../marks/out')],
        absolute: [file(join(marks, 'out'))],
        'a link, and a file through it': [{ path: 'package/link', type: '2', link: marks }, file('package/link/out')],
        'a hard link': [{ path: 'package/hard', type: '1', link: join(home, 'token') }],
        'a device': [{ path: 'package/device', type: '3' }],
        'set-user-id': [file('package/su', { mode: 0o4755 })],
        'twins in letters': [file('package/Main.mjs')],
        'the separator of another system': [file('package\\..\\..\\out')],
        'a zero in a name': [{ path: 'pax', type: 'x', content: paxRecord('path', 'package/a\0b') }, file('package/x')],
      };
      const found: string[] = [];
      for (const [what, entries] of Object.entries(evil)) {
        registry.publish('notes', '1.0.0', [...extensionFiles('notes', '1.0.0'), ...entries]);
        const { code, said } = await install('npm:notes');
        if (code === 0) found.push(`${what}: installed`);
        if (!isClear(said)) found.push(`${what}: ${said.slice(0, 100)}`);
      }
      registry.publish('notes', '1.0.0', [], { archive: tgz(extensionFiles('notes', '1.0.0')).subarray(0, -30) });
      if ((await install('npm:notes')).code === 0) found.push('a cut archive was installed');
      if (readdirSync(marks).length > 0) found.push(`written outside: ${readdirSync(marks).join()}`);
      if (stored().join() !== 'control') found.push(`in the store: ${stored().join()}`);
      return noneOf(found, '10 archives, all refused, nothing left');
    },
  },
  {
    id: 'S31',
    tried: 'an archive bomb: 250 MB of zeros, and 30,000 entries',
    async run(world) {
      const { registry, install, stored } = await installer(world);
      const found: string[] = [];
      for (const [what, entries] of Object.entries({
        zeros: [{ path: 'package/zeros', content: Buffer.alloc(250_000_000) }],
        entries: Array.from({ length: 30_000 }, (_, at) => ({ path: `package/f${at}`, content: '' })),
      })) {
        registry.publish('notes', '1.0.0', [...extensionFiles('notes', '1.0.0'), ...entries]);
        if ((await install('npm:notes')).code === 0) found.push(`${what}: installed`);
      }
      if (stored().length > 0) found.push('something is left in the store');
      return noneOf(found, 'both stopped at their bounds');
    },
  },
  {
    id: 'S33',
    tried: 'scripts of a package and of its dependency, .npmrc, binding.gyp',
    async run(world) {
      const { marks, registry, install } = await installer(world);
      const touch = (name: string) => `node -e "require('fs').writeFileSync('${join(marks, name)}','')"`;
      const scripts = (who: string) =>
        Object.fromEntries(
          ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'].map((name) => [name, touch(`${who}-${name}`)]),
        );
      registry.publish(
        'shapes',
        '1.0.0',
        [{ path: 'package/package.json', content: JSON.stringify({ name: 'shapes', version: '1.0.0', scripts: scripts('dependency') }) }],
        {
          more: { scripts: scripts('dependency'), hasInstallScript: true },
        },
      );
      const [, ...rest] = extensionFiles('notes', '1.0.0');
      registry.publish('notes', '1.0.0', [
        {
          path: 'package/package.json',
          content: JSON.stringify({ name: 'notes', version: '1.0.0', scripts: scripts('package'), dependencies: { shapes: '*' } }),
        },
        ...rest,
        { path: 'package/.npmrc', content: `ignore-scripts=false\nscript-shell=${join(marks, 'shell.sh')}\n` },
        { path: 'package/binding.gyp', content: '{}' },
      ]);
      const { code, said } = await install('npm:notes');
      if (code !== 0 && !/npm/.test(said)) throw new Error(said);
      return noneOf(
        readdirSync(marks).map((name) => `${name} ran`),
        code === 0 ? 'installed, and none has run' : `refused: ${said.trim().split('\n').at(-1)}`,
      );
    },
  },
  {
    id: 'S35',
    tried: 'other bytes than the registry says, and a registry that sends elsewhere',
    async run(world) {
      const { registry, install, stored } = await installer(world);
      const other = await openRegistry();
      world.after(() => other[Symbol.asyncDispose]());
      other.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'));
      const found: string[] = [];
      registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'), { dist: { integrity: `sha512-${'A'.repeat(86)}==` } });
      if ((await install('npm:notes')).code === 0) found.push('other bytes were installed');
      registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'));
      for (const location of [`${other.url}/notes/-/notes-1.0.0.tgz`, 'file:///etc/passwd', 'http://169.254.169.254/x']) {
        registry.intercept = (request, response) => {
          if (!request.url!.endsWith('.tgz')) return false;
          response.writeHead(302, { location }).end();
          return true;
        };
        if ((await install('npm:notes')).code === 0) found.push(`followed to ${location}`);
      }
      if (other.asked.length > 0) found.push('somebody else was asked');
      if (stored().length > 0) found.push('something is left in the store');
      return noneOf(found, 'all refused');
    },
  },
  {
    id: 'S33',
    tried: 'a hostile git repository: hooks, filters, submodules, upload-pack hook, attributes',
    async run(world) {
      if (!hasGit()) return untried('there is no git');
      const { home, marks, install } = await installer(world);
      const root = world.folder();
      const inner = makeRepository(join(root, 'inner'));
      inner.commit({ 'canary.txt': 'x' });
      const repository = makeRepository(join(root, 'notes'));
      const script = join(root, 'evil.sh');
      writeFileSync(script, `#!/bin/sh\ntouch ${join(marks, 'script')}\ncat\n`, { mode: 0o755 });
      repository.commit({
        ...plain('notes'),
        '.gitattributes': '* filter=evil diff=evil merge=evil\n',
        '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% ${join(marks, 'submodule')}\n\tupdate = !touch ${join(marks, 'update')}\n`,
        '.gitconfig': `[core]\n\tfsmonitor = ${script}\n`,
      });
      for (const hook of [
        'post-checkout',
        'post-merge',
        'reference-transaction',
        'post-index-change',
        'pre-auto-gc',
        'update',
        'fsmonitor-watchman',
      ])
        writeFileSync(join(repository.folder, '.git/hooks', hook), `#!/bin/sh\ntouch ${join(marks, hook)}\n`, { mode: 0o755 });
      for (const [key, value] of Object.entries({
        'filter.evil.smudge': script,
        'filter.evil.process': script,
        'diff.evil.textconv': script,
        'uploadpack.packObjectsHook': script,
        'core.fsmonitor': script,
        'core.hooksPath': join(repository.folder, '.git/hooks'),
      }))
        repository.git('config', key, value);
      await using server = await serveGit(root);
      const found: string[] = [];
      for (const source of [`git:${repository.folder}`, `git:file://${repository.folder}`, `git:${server.url}/notes`]) {
        const { code, said } = await install(source);
        if (!isClear(said)) found.push(`${source}: ${said.slice(0, 200)}`);
        if (code === 0) {
          const stored = join(home, 'extension-store');
          if (readdirSync(stored, { recursive: true }).some((name) => /(^|\/)\.git\/hooks\/|canary\.txt$/.test(String(name))))
            found.push(`${source}: hooks or a submodule were kept`);
          await tenon(home, 'ext', 'rm', 'notes', '--yes');
        }
      }
      return noneOf([...found, ...readdirSync(marks).map((name) => `${name} ran`)], 'nothing of it has run');
    },
  },
  {
    id: 'S30',
    tried: 'a git repository with links out of it, a link as its manifest, and a file called .git',
    async run(world) {
      if (!hasGit()) return untried('there is no git');
      const { home, install, stored } = await installer(world);
      const root = world.folder();
      const secret = join(root, 'secret');
      writeFileSync(secret, 'canary-secret');
      const found: string[] = [];
      for (const [name, links] of Object.entries({
        out: { 'steal.txt': secret },
        up: { 'steal.txt': '../../../../../../../etc/passwd' },
        folder: { lib: root },
        manifest: { 'extension.toml': secret },
      })) {
        const repository = makeRepository(join(root, name));
        const files = plain('notes');
        for (const link of Object.keys(links)) delete files[link];
        for (const [link, to] of Object.entries(links)) symlinkSync(to, join(repository.folder, link));
        repository.commit(files);
        const { code, said } = await install(`git:${repository.folder}`);
        if (!isClear(said)) found.push(`${name}: ${said.slice(0, 200)}`);
        if (code === 0) {
          const kept = readdirSync(join(home, 'extension-store'), { recursive: true, withFileTypes: true });
          if (kept.some((each) => each.isSymbolicLink())) found.push(`${name}: a link was installed`);
          for (const each of kept)
            if (each.isFile() && readFileSync(join(each.parentPath, each.name), 'utf8').includes('canary-secret'))
              found.push(`${name}: a file outside was copied`);
          await tenon(home, 'ext', 'rm', 'notes', '--yes');
        }
      }
      return noneOf(found, stored().length === 0 ? 'all refused' : 'no link was followed');
    },
  },
  {
    id: 'S32',
    tried: 'addresses of repositories that are options, programs or other places (ext::, --upload-pack, -oProxyCommand, …)',
    async run(world) {
      const { marks, install, stored } = await installer(world);
      const touch = join(marks, 'ran');
      const sources = [
        `git:ext::sh -c touch% ${touch}`,
        `git:ext::sh%20-c%20touch%20${touch}`,
        `git:--upload-pack=touch ${touch}`,
        `git:-u${touch}`,
        `git:ssh://-oProxyCommand=touch%20${touch}/me/x`,
        `git:ssh://x@-oProxyCommand=touch%20${touch}/x`,
        `git:fd::17/x`,
        `git:transport::${touch}`,
        `git:http://git.example/me/x`,
        `git:git://127.0.0.1/x`,
        `git:https://me:secret@git.example/me/x`,
        `git:/nowhere@--upload-pack=touch ${touch}`,
        `git:/nowhere@-x`,
        `git:file:///nowhere`,
        `--upload-pack=${touch}`,
        'http://127.0.0.1/x.tgz',
        'file:///etc/passwd',
      ];
      const found: string[] = [];
      for (const source of sources) {
        const { code, said } = await install(source);
        if (code === 0) found.push(`${source}: installed`);
        if (!isClear(said)) found.push(`${source}: ${said.slice(0, 100)}`);
        if (said.includes('me:secret@') && code !== 2) found.push(`${source}: the credentials are repeated`);
      }
      if (existsSync(touch)) found.push('a program ran');
      if (stored().length > 0) found.push('something is in the store');
      return noneOf(found, `${sources.length} addresses, all refused with a sentence`);
    },
  },
  {
    id: 'S30',
    tried: 'a zip archive as a source: a file, an address, a package whose archive is a zip with a way up',
    async run(world) {
      const { marks, registry, install, stored } = await installer(world);
      const zip = zipOf({ 'package/../../../marks/out': 'x', 'package/extension.toml': 'name = "notes"\nversion = "1.0.0"\n' });
      const file = join(world.folder(), 'notes.zip');
      writeFileSync(file, zip);
      registry.publish('notes', '1.0.0', [], { archive: zip });
      const found: string[] = [];
      for (const source of [file, `zip:${file}`, `https://127.0.0.1/notes.zip`, 'npm:notes']) {
        const { code, said } = await install(source);
        if (code === 0) found.push(`${source}: installed`);
        if (!isClear(said)) found.push(`${source}: ${said.slice(0, 100)}`);
      }
      if (readdirSync(marks).length > 0 || stored().length > 0) found.push('something was written');
      return noneOf(found, 'refused with a sentence');
    },
  },
  {
    id: 'S51:extensions',
    tried: 'a workspace that ships extensions, a trust file, and .tenon as a link',
    async run(world) {
      const target = await world.own();
      const mark = join(world.folder(), 'ran');
      const workspace = target.workspace();
      const program = `require('fs').writeFileSync(${JSON.stringify(mark)}, '');`;
      const place = join(workspace, '.tenon/extensions/evil');
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'extension.toml'), 'name = "evil"\nversion = "1.0.0"\n[run]\ncommand = "node"\nargs = ["main.cjs"]\n');
      writeFileSync(join(place, 'main.cjs'), program);
      for (const name of ['tenon.toml', 'trust.json', 'extensions.lock'])
        writeFileSync(join(workspace, '.tenon', name), '[extensions]\ntrustedWorkspaces = ["."]\n');
      chmodSync(place, 0o755);
      await target.ask('plugins.reload', {});
      const enabled = await target.admin.request('plugins.enable', { id: 'evil' });
      return existsSync(mark) || enabled.ok ? broke('it ran') : held(`not used: ${enabled.error?.message}`);
    },
  },
];

/** As small as a zip can be: entries that are stored as they are. */
function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const [path, body] = [Buffer.from(name), Buffer.from(content)];
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(20, 4);
    header.writeUInt32LE(body.length, 18);
    header.writeUInt32LE(body.length, 22);
    header.writeUInt16LE(path.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt32LE(body.length, 20);
    entry.writeUInt32LE(body.length, 24);
    entry.writeUInt16LE(path.length, 28);
    entry.writeUInt32LE(at, 42);
    parts.push(header, path, body);
    central.push(entry, path);
    at += header.length + path.length + body.length;
  }
  const size = central.reduce((sum, each) => sum + each.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...central, end]);
}
