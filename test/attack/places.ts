// As whom the attacks run, and with which sandbox. Root runs them as root and as an ordinary user, with each kind of sandbox that is
// there; anybody else as themselves, with the sandbox that the gateway finds. A kind is chosen by what the gateway sees of the system:
// in a mount namespace of the run, bubblewrap is covered up or put in place. The system itself stays as it is.
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, chmodSync, copyFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Kind = 'unshare' | 'bubblewrap';

export interface Place {
  /** Such as `root, unshare`. */
  readonly name: string;
  readonly user: 'root' | 'user';
  /** Undefined: what the gateway finds. */
  readonly kind: Kind | undefined;
  /** Words in front of the command. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Places extends Disposable {
  readonly places: readonly Place[];
  /** What cannot be tried here, and why. */
  readonly notes: readonly string[];
}

/** Where the gateway looks for it. */
const INSTALLED = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/usr/sbin/bwrap', '/sbin/bwrap'];
/** A folder of the system where it can be put over what is there. */
const OVER = '/usr/local/bin';

export function findPlaces({ uid, bwrap }: { uid: number; bwrap: string | undefined }): Places {
  const installed = INSTALLED.find((path) => existsSync(path));
  if (process.getuid?.() !== 0) {
    const notes = ['Not as root: run as root to try the attacks as root, too.'];
    if (installed === undefined) notes.push('Not with bubblewrap, which is not installed.');
    return { places: [{ name: 'you', user: 'user', kind: undefined, words: [], env: {} }], notes, [Symbol.dispose]() {} };
  }
  const folder = mkdtempSync(join(tmpdir(), 'tenon-attackers-'));
  chmodSync(folder, 0o755);
  const notes: string[] = [];
  const kinds: { kind: Kind; words: string[] }[] = [
    { kind: 'unshare', words: installed === undefined ? [] : inNamespace(`mount --bind /dev/null ${installed}`) },
  ];
  if (installed !== undefined) kinds.push({ kind: 'bubblewrap', words: [] });
  else if (bwrap === undefined) notes.push('Not with bubblewrap, which is not installed: --bwrap <file> names one.');
  else {
    const words = inNamespace(`mount -t overlay overlay -o lowerdir=${copyOf(bwrap, folder)}:${OVER} ${OVER}`);
    if (spawnSync(words[0]!, [...words.slice(1), 'bwrap', '--version']).status === 0) kinds.push({ kind: 'bubblewrap', words });
    else notes.push(`Not with bubblewrap: ${bwrap} does not run here.`);
  }
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, uid, uid);
  const ordinary = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
  const isReadable = spawnSync(ordinary[0]!, [
    ...ordinary.slice(1),
    process.execPath,
    '-e',
    `require('fs').readdirSync(${JSON.stringify(import.meta.dirname)})`,
  ]);
  if (isReadable.status !== 0) notes.push(`Not as an ordinary user: uid ${uid} cannot read ${import.meta.dirname}.`);
  return {
    places: [
      ...kinds.map(({ kind, words }) => ({ name: `root, ${kind}`, user: 'root' as const, kind, words, env: {} })),
      ...(isReadable.status === 0 ? kinds : []).map(({ kind, words }) => ({
        name: `uid ${uid}, ${kind}`,
        user: 'user' as const,
        kind,
        words: [...words, ...ordinary],
        env: { HOME: home, USER: 'nobody', LOGNAME: 'nobody' },
      })),
    ],
    notes,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function inNamespace(mount: string): string[] {
  return ['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-c', `${mount} && exec "$@"`, 'sh'];
}

function copyOf(bwrap: string, folder: string): string {
  const place = join(folder, 'bin');
  mkdirSync(place, { mode: 0o755 });
  copyFileSync(bwrap, join(place, 'bwrap'));
  chmodSync(join(place, 'bwrap'), 0o755);
  return place;
}
