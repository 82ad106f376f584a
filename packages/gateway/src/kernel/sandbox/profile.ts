// What a program in the sandbox finds: a root of its own with the system read-only, the workspace, and nothing else. A
// profile says what; bubblewrap.ts and unshare.ts carry it out, each with its tool.
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative } from 'node:path';

/** A folder or file of the machine, by its real path. */
export interface Place {
  readonly path: string;
  readonly isWritable: boolean;
}

export interface Overlay {
  /** The file that is covered, by its real path in the workspace. */
  readonly path: string;
  /** The copy that is seen in its place, read-only. */
  readonly from: string;
}

export interface SandboxPolicy {
  /** The real path of the one folder that can be written. */
  readonly workspace: string;
  /** Not even that one. */
  readonly isReadOnly?: boolean;
  /** Further places that are seen. None holds what is hidden. */
  readonly places?: readonly Place[];
  /** Where the program starts, inside the workspace. */
  readonly cwd: string;
  /** Folders that are never seen, wherever they lie: Tenon's home. Inside one of them only the workspace is seen. */
  readonly hidden: readonly string[];
  /** The user's home: not seen, unless it is or lies in the workspace. */
  readonly userHome: string;
  /** Further folders that are seen read-only, such as that of a Node that lives in the user's home. */
  readonly readOnly: readonly string[];
  readonly network: boolean;
  /** Files of the workspace that are seen as they were copied. */
  readonly overlays?: readonly Overlay[];
  /** Folders of the workspace that the program cannot move. */
  readonly pinned?: readonly string[];
}

export interface ReadOnlyPath {
  readonly path: string;
  /** `nosuid` and the like of the mount it lies on: what the system has set there cannot be taken away. */
  readonly flags: readonly string[];
}

export interface Profile {
  /** Links of the root, such as /bin to usr/bin. */
  readonly links: readonly string[];
  readonly readOnly: readonly ReadOnlyPath[];
  /** Mounts inside those, which have to be made read-only one by one. */
  readonly readOnlyInside: readonly ReadOnlyPath[];
  /** Folders inside what is read-only that are replaced by an empty one before the workspace is put in place. */
  readonly emptied: readonly string[];
  /** Files that are replaced by an empty one. */
  readonly blanked: readonly string[];
  readonly workspace: string;
  readonly isReadOnly: boolean;
  readonly places: readonly (Place & { readonly flags: readonly string[] })[];
  /** Folders inside the workspace that are replaced by an empty one. */
  readonly emptiedInside: readonly string[];
  readonly cwd: string;
  readonly network: boolean;
  readonly overlays: readonly Overlay[];
  readonly pinned: readonly string[];
}

const ROOT_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const SYSTEM_FOLDERS = ['/usr', '/etc', '/opt', '/nix', '/gnu'];
/** Readable by root: a gateway that runs as root would hand them on. */
const SECRET_FILES = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/security/opasswd'];
const SECRET_FOLDERS = ['/etc/ssh', '/etc/sudoers.d', '/etc/ssl/private', '/etc/NetworkManager/system-connections'];

const SYSTEM_PROGRAMS = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

/** A tool of the system by its place there. Never by PATH: a folder of it may lie in the workspace, and this runs outside the sandbox. */
export function systemProgram(name: string): string {
  return SYSTEM_PROGRAMS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path)) ?? `/usr/bin/${name}`;
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('../') && way !== '..' && !isAbsolute(way));
}

export function profileOf(policy: SandboxPolicy): Profile {
  const links: string[] = [];
  const readOnly: string[] = [];
  for (const folder of ROOT_FOLDERS) {
    const kind = lstatSync(folder, { throwIfNoEntry: false });
    if (kind?.isSymbolicLink()) links.push(folder);
    else if (kind?.isDirectory()) readOnly.push(folder);
  }
  const programs = policy.readOnly.filter((folder) => maybeShown(folder, policy));
  for (const folder of [...SYSTEM_FOLDERS, ...programs]) {
    if (isFolder(folder) && !readOnly.some((seen) => isInside(folder, seen))) readOnly.push(folder);
  }
  const names = policy.network ? nameResolution(readOnly) : [];
  const tenons = outermost(policy.hidden);
  const hidden = outermost([...tenons, policy.userHome]);
  const mounts = mountTable();
  return {
    links,
    readOnly: [...readOnly, ...names].map((path) => ({ path, flags: flagsOf(path, mounts) })),
    readOnlyInside: mounts.filter(({ path }) => readOnly.some((folder) => path !== folder && isInside(path, folder))),
    emptied: [
      ...SECRET_FOLDERS.filter(isFolder),
      ...hidden.filter((folder) => isFolder(folder) && readOnly.some((seen) => isInside(folder, seen))),
    ],
    blanked: SECRET_FILES.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile()),
    workspace: policy.workspace,
    isReadOnly: policy.isReadOnly ?? false,
    places: outermostFirst(policy.places ?? []).map((place) => ({ ...place, flags: flagsOf(place.path, mounts) })),
    emptiedInside: tenons.filter((folder) => isFolder(folder) && isInside(folder, policy.workspace) && !isInside(policy.workspace, folder)),
    cwd: policy.cwd,
    network: policy.network,
    overlays: policy.overlays ?? [],
    pinned: policy.pinned ?? [],
  };
}

/** What lies in one of the others is gone with it. */
function outermost(folders: readonly string[]): string[] {
  return folders.filter((folder) => !folders.some((other) => other !== folder && isInside(folder, other)));
}

/** One that lies in another is put in place after it. */
function outermostFirst(places: readonly Place[]): Place[] {
  return [...places].sort((a, b) => a.path.length - b.path.length);
}

/** A folder of programs may lie in the user's home, but must not hold it, nor anything of Tenon's. */
function maybeShown(folder: string, policy: SandboxPolicy): boolean {
  if (isInside(policy.userHome, folder)) return false;
  return policy.hidden.every((home) => !isInside(folder, home) && !isInside(home, folder));
}

/** /etc/resolv.conf is often a link to a place that is not shown. */
function nameResolution(readOnly: readonly string[]): string[] {
  try {
    const real = realpathSync('/etc/resolv.conf');
    return readOnly.some((folder) => isInside(real, folder)) ? [] : [dirname(real)];
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const KEPT_FLAGS = ['nosuid', 'nodev', 'noexec'];

function mountTable(): ReadOnlyPath[] {
  let table: string;
  try {
    table = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return [];
  }
  return table.split('\n').flatMap((line) => {
    const [, , , , point, options = ''] = line.split(' ');
    if (!point) return [];
    const path = point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
    return [{ path, flags: options.split(',').filter((option) => KEPT_FLAGS.includes(option)) }];
  });
}

function flagsOf(path: string, mounts: readonly ReadOnlyPath[]): readonly string[] {
  let best: ReadOnlyPath | undefined;
  // Of several at one place the last lies on top.
  for (const mount of mounts) if (isInside(path, mount.path) && mount.path.length >= (best?.path.length ?? 0)) best = mount;
  return best?.flags ?? [];
}
