// The profile through bubblewrap.
import { readlinkSync } from 'node:fs';
import type { Owner } from './owner.ts';
import { type Profile, systemProgram } from './profile.ts';
import { asOwner } from './unshare.ts';

/** The last that is held before the program starts. */
const TO_CHANGE_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];

export function bubblewrapArgv(argv: readonly string[], profile: Profile, owner: Owner): string[] {
  return [
    systemProgram('bwrap'),
    '--die-with-parent',
    '--new-session',
    ...(owner.isOther ? [] : ['--unshare-user']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(profile.network ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL'],
    ...(owner.isOther ? TO_CHANGE_USER.flatMap((capability) => ['--cap-add', capability]) : []),
    ...profile.readOnly.flatMap(({ path }) => ['--ro-bind', path, path]),
    ...profile.links.flatMap((link) => ['--symlink', readlinkSync(link), link]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/dev/shm', '--remount-ro', '/dev', '--tmpfs', '/tmp'],
    // It protects some of /proc by itself; which, depends on its version.
    ...profile.proc.readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...profile.proc.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...profile.proc.folders.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...profile.emptied.flatMap((folder) => ['--tmpfs', folder]),
    ...profile.blanked.flatMap((file) => ['--ro-bind', '/dev/null', file]),
    ...[...profile.places, profile.workspace].flatMap(({ path, isWritable }) => [isWritable ? '--bind' : '--ro-bind', path, path]),
    ...profile.emptiedInside.flatMap((folder) => ['--tmpfs', folder, '--remount-ro', folder]),
    ...profile.pinned.flatMap((folder) => ['--bind', folder, folder]),
    ...profile.overlays.flatMap(({ path, from }) => ['--ro-bind', from, path]),
    ...['--remount-ro', '/'],
    ...['--chdir', profile.cwd],
    '--',
    ...(owner.isOther ? asOwner(owner) : []),
    ...argv,
  ];
}
