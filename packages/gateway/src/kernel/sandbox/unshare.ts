// The profile through util-linux: `unshare` makes the namespaces, a short script puts the root together, `pivot_root`
// leaves the old one behind. The program then gets a user namespace of its own, so that it has no say over the mounts.
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { boundNamespace } from './bounds.ts';
import type { Owner } from './owner.ts';
import { escaped, isInside, type MountedPath, type Profile, systemProgram } from './profile.ts';

/** Exit code of the script when the sandbox could not be made; the program has not run. */
export const SETUP_FAILED = 125;

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
const DEVICE_LINKS = ['/dev/fd', '/dev/stdin', '/dev/stdout', '/dev/stderr'];
const TEMPORARY = 'nosuid,nodev,size=512m,mode=1777';
const BLANK = 'bind,ro,nosuid,noexec';
const EMPTY = 'ro,nosuid,nodev,size=1m,mode=755';

export function unshareArgv(argv: readonly string[], profile: Profile, owner: Owner): string[] {
  return [
    // When the gateway is killed, the kernel ends `unshare`, that ends its child, and that is the first process of its
    // namespace: with it ends everything in there.
    ...[systemProgram('setpriv'), '--pdeathsig', 'KILL', '--', systemProgram('unshare')],
    // In a user namespace there would be nobody else to become.
    ...(owner.isOther ? [] : ['--user', '--map-root-user']),
    ...['--mount', '--pid', '--ipc', '--uts'],
    ...(profile.network ? [] : ['--net']),
    ...['--kill-child', '--propagation', 'private', '--'],
    ...['/bin/sh', '-c', script(profile, owner), 'sandbox', ...argv],
  ];
}

function script(profile: Profile, owner: Owner): string {
  const root = stagingFolder(profile);
  const folder = (path: string) => quote(`${root}${path}`);
  const shown = ({ path, flags }: MountedPath) =>
    row(path, root + path, 'none', ['rbind', ...flags, ...(isFile(path) ? [] : ['X-mount.mkdir'])].join(','));
  const table = [
    ...profile.readOnly.map(shown),
    row('proc', `${root}/proc`, 'proc', 'nosuid,nodev,noexec'),
    ...profile.proc.readOnly.map((path) => row(root + path, root + path, 'none', 'bind,ro,nosuid,nodev,noexec')),
    ...profile.proc.files.map((path) => row('/dev/null', root + path, 'none', BLANK)),
    ...profile.proc.folders.map((path) => row('hidden', root + path, 'tmpfs', EMPTY)),
    row('tmp', `${root}/tmp`, 'tmpfs', TEMPORARY),
    row('shm', `${root}/dev/shm`, 'tmpfs', 'nosuid,nodev,size=64m,mode=1777'),
    row('devpts', `${root}/dev/pts`, 'devpts', 'nosuid,noexec,newinstance,ptmxmode=0666,mode=620'),
    ...DEVICES.map((name) => row(`/dev/${name}`, `${root}/dev/${name}`, 'none', 'bind')),
    ...profile.emptied.map((path) => row('hidden', root + path, 'tmpfs', 'nosuid,nodev,size=1m,mode=755')),
    ...profile.blanked.map((path) => row('/dev/null', root + path, 'none', BLANK)),
    ...profile.places.map(shown),
    shown(profile.workspace),
    ...profile.emptiedInside.map((path) => row('hidden', root + path, 'tmpfs', EMPTY)),
    ...profile.pinned.map((path) => row(root + path, root + path, 'none', 'bind')),
    ...profile.overlays.map(({ path, from, flags }) => row(from, root + path, 'none', ['bind', ...flags].join(','))),
  ];
  return [
    'set -eu',
    `trap 'echo "The sandbox could not be made; the program has not run." >&2; exit ${SETUP_FAILED}' EXIT`,
    'path=$PATH; PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    ...(owner.uid === 0 ? boundNamespace() : []),
    `mount -t tmpfs -o nosuid,nodev,size=4m,mode=755 tenon ${quote(root)}`,
    `cd ${quote(root)}`,
    'mkdir -p proc dev/shm dev/pts tmp run .old',
    // One process for all links: each further one costs as much as a small program.
    `cp -P --parents ${[...profile.links, ...DEVICE_LINKS].map(quote).join(' ')} .`,
    'ln -s pts/ptmx dev/ptmx',
    ...DEVICES.map((name) => `: > dev/${name}`),
    // Where a file goes, there must be one.
    ...profile.places.filter(({ path }) => isFile(path)).map(({ path }) => `mkdir -p ${folder(dirname(path))}; : > ${folder(path)}`),
    `printf '%s\\n' ${quote(table.join('\n'))} > .table`,
    'mount -a -T .table',
    // Some may lie under another mount, or where this user cannot look: the program cannot either.
    ...profile.inside.map(
      ({ path, flags }) => `[ ! -e ${folder(path)} ] || mount -o ${['remount', 'bind', ...flags].join(',')} ${folder(path)}`,
    ),
    ': > .table',
    'pivot_root . .old',
    'umount -l .old',
    'mount -o remount,bind,ro,nosuid,nodev /',
    // Programs that talk to themselves need it; without `ip` they do without.
    ...(profile.network ? [] : ['ip link set lo up 2>/dev/null || :']),
    `cd ${quote(profile.cwd)}`,
    'ulimit -c 0',
    'trap - EXIT; set +e; unset OLDPWD; PATH=$path',
    `${asOwner(owner).join(' ')} "$@"`,
    // Not the last command on purpose: the shell stays as the first process of the namespace and takes in orphans.
    'exit $?',
  ].join('\n');
}

/** Changes to the owner, into a user namespace without a say over the mounts, and gives up every right. */
export function asOwner({ uid, gid, isOther }: Owner): string[] {
  const [setpriv, unshare] = [systemProgram('setpriv'), systemProgram('unshare')];
  // As root of the namespace the program would still have its capabilities; without the bounding set they mean nothing.
  const drop = uid === 0 ? ['--inh-caps=-all', '--bounding-set=-all'] : [];
  return [
    ...(isOther ? [setpriv, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--'] : []),
    ...[unshare, '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'],
    ...[setpriv, '--no-new-privs', ...drop, '--'],
  ];
}

// The new root is put together over a folder of the old one, and must not cover what goes into it.
function stagingFolder({ readOnly, workspace, places }: Profile): string {
  const candidates = ['/mnt', '/media', '/srv', '/tmp', '/var', '/run'];
  const free = candidates.find(
    (candidate) => existsSync(candidate) && ![...readOnly, ...places, workspace].some(({ path }) => isInside(path, candidate)),
  );
  return free ?? '/mnt';
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function row(source: string, target: string, type: string, options: string): string {
  return `${escaped(source)} ${escaped(target)} ${type} ${options} 0 0`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
