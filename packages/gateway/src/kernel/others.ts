// Whether other users of the machine could change a file or a folder. Where the system has no users of this kind, as on Windows, nobody is
// found; access control lists are not looked at.
import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';

const GROUP_FILE = '/etc/group';

export interface Weakness {
  readonly path: string;
  /** Said of the path: `can be written by others (mode 777)`. */
  readonly fault: string;
  /** The command that mends it. */
  readonly remedy: string;
  /** The mode that mends it, where a mode does. */
  readonly mode?: number;
}

/** Belongs to somebody who is neither this user nor root, or can be written by others. What is not there is no weakness. */
export function weaknessOf(path: string, uid = process.getuid?.(), groupFile = GROUP_FILE): Weakness | undefined {
  const found = statIfThere(path);
  // A device or a pipe is nobody's file: whoever reads it says so.
  if (uid === undefined || !found || !(found.isFile() || found.isDirectory())) return undefined;
  // What it links to, and the link.
  for (const [{ uid: owner }, flag] of [
    [found, ''],
    [lstatSync(path), '-h '],
  ] as const) {
    if (owner === uid || owner === 0) continue;
    const remedy = `${uid === 0 ? '' : 'sudo '}chown ${flag}${uid} ${quoted(path)}`;
    return { path, fault: `belongs to another user (${owner})`, remedy };
  }
  const mode = found.mode & 0o777;
  if ((mode & 0o002) === 0 && ((mode & 0o020) === 0 || (uid !== 0 && isOwnGroup(found.gid, groupFile)))) return undefined;
  // Meant to be shared, as /tmp is: it must not be closed to others.
  if ((found.mode & 0o1000) !== 0)
    return {
      path,
      fault: `is for everybody to write (mode 1${mode.toString(8)})`,
      remedy: `choose a folder of its own, such as ${quoted(join(path, 'tenon'))}`,
    };
  return {
    path,
    fault: `can be written by others (mode ${mode.toString(8)})`,
    remedy: `chmod go-w ${quoted(path)}`,
    mode: found.mode & 0o7777 & ~0o022,
  };
}

/** A folder on the way that everybody can write: what lies in it can be moved away and replaced. With the sticky bit, as in /tmp, it cannot. */
export function weakParentOf(path: string, uid = process.getuid?.()): Weakness | undefined {
  if (uid === undefined) return undefined;
  for (const start of new Set([path, realPathOf(path)])) {
    for (let folder = dirname(start); ; folder = dirname(folder)) {
      const mode = statIfThere(folder)?.mode ?? 0;
      if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0) {
        const fault = `can be written by everybody (mode ${(mode & 0o777).toString(8)})`;
        return { path: folder, fault, remedy: `chmod o-w ${quoted(folder)}` };
      }
      if (folder === dirname(folder)) break;
    }
  }
  return undefined;
}

/** Who cannot even look at it does not read it either, and says so then. */
function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * The group that bears the name of the user and has nobody else in it. Many systems give each user one, and let it write what the user makes.
 */
function isOwnGroup(gid: number, groupFile: string): boolean {
  try {
    const { username } = userInfo();
    const groups = readFileSync(groupFile, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
    return groups.some(([name, , id, members = '']) => name === username && id === String(gid) && (members === '' || members === username));
  } catch {
    return false;
  }
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
