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

/** A path with the flags of the mount it lies on, such as `noexec`: what the system has set there cannot be taken away. */
export interface MountedPath {
  readonly path: string;
  readonly flags: readonly string[];
}

export interface Profile {
  /** Links of the root, such as /bin to usr/bin. */
  readonly links: readonly string[];
  readonly readOnly: readonly MountedPath[];
  /** Mounts inside what is shown, with the flags that each has to get: a mount does not hand its own on to those inside it. */
  readonly inside: readonly MountedPath[];
  readonly proc: { readonly readOnly: readonly string[]; readonly files: readonly string[]; readonly folders: readonly string[] };
  /** Folders inside what is read-only that are replaced by an empty one before the workspace is put in place. */
  readonly emptied: readonly string[];
  /** Files that are replaced by an empty one. */
  readonly blanked: readonly string[];
  readonly workspace: Place & MountedPath;
  readonly places: readonly (Place & MountedPath)[];
  /** Folders inside the workspace that are replaced by an empty one. */
  readonly emptiedInside: readonly string[];
  readonly cwd: string;
  readonly network: boolean;
  readonly overlays: readonly (Overlay & { readonly flags: readonly string[] })[];
  readonly pinned: readonly string[];
}

const ROOT_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const SYSTEM_FOLDERS = ['/usr', '/etc', '/opt', '/nix', '/gnu'];
/** Readable by root: a gateway that runs as root would hand them on. */
const SECRET_FILES = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/security/opasswd'];
const SECRET_FOLDERS = ['/etc/ssh', '/etc/sudoers.d', '/etc/ssl/private', '/etc/NetworkManager/system-connections'];

/** Root writes these by its user id, without any capability. */
const PROC_READ_ONLY = ['bus', 'fs', 'irq', 'pressure', 'sys'];
/** What container runtimes mask as well, and what tells of the kernel's memory. */
const PROC_FILES = [
  ...[
    'sysrq-trigger',
    'kcore',
    'keys',
    'kallsyms',
    'kmsg',
    'mtrr',
    'interrupts',
    'latency_stats',
    'sched_debug',
    'timer_list',
    'timer_stats',
  ],
  ...['kpagecgroup', 'kpagecount', 'kpageflags', 'slabinfo', 'vmallocinfo'],
];
const PROC_FOLDERS = ['acpi', 'asound', 'scsi'];

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
  const shown = (place: Place) => ({ ...place, flags: flagsFor(flagsOf(place.path, mounts), place.isWritable) });
  const workspace = shown({ path: policy.workspace, isWritable: !policy.isReadOnly });
  const places = outermostFirst(policy.places ?? []).map(shown);
  const system = [...readOnly, ...names].map((path) => shown({ path, isWritable: false }));
  const all = [...system, ...places, workspace];
  const emptied = [
    ...SECRET_FOLDERS.filter(isFolder),
    ...hidden.filter((folder) => isFolder(folder) && readOnly.some((seen) => isInside(folder, seen))),
  ];
  const emptiedInside = tenons.filter(
    (folder) => isFolder(folder) && isInside(folder, policy.workspace) && !isInside(policy.workspace, folder),
  );
  const inside = [...new Map(mounts.map((mount) => [mount.path, mount])).values()].flatMap(({ path, flags }) => {
    const around = all.findLast((each) => isInside(path, each.path));
    if (!around || around.path === path) return [];
    const isGone = [...emptied, ...emptiedInside].some((folder) => isInside(path, folder) && isInside(folder, around.path));
    return isGone ? [] : [{ path, flags: flagsFor(flags, around.isWritable) }];
  });
  return {
    links,
    readOnly: system,
    inside,
    proc: { readOnly: inProc(PROC_READ_ONLY), files: inProc(PROC_FILES), folders: inProc(PROC_FOLDERS) },
    emptied,
    blanked: SECRET_FILES.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile()),
    workspace,
    places,
    emptiedInside,
    cwd: policy.cwd,
    network: policy.network,
    overlays: (policy.overlays ?? []).map((each) => ({ ...each, flags: flagsFor(flagsOf(each.from, mounts), false) })),
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

function inProc(names: readonly string[]): string[] {
  return names.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
}

const KEPT_FLAGS = ['ro', 'nosuid', 'nodev', 'noexec'];

/** Nothing that a program finds gives it another user or a device. */
function flagsFor(kept: readonly string[], isWritable: boolean): string[] {
  return [...new Set([...(isWritable ? [] : ['ro']), 'nosuid', 'nodev', ...kept])];
}

function mountTable(): MountedPath[] {
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

/** As the kernel and `mount` write a path in a table of mounts. */
export function escaped(path: string): string {
  return path.replace(/[ \t\r\n\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

function flagsOf(path: string, mounts: readonly MountedPath[]): readonly string[] {
  let best: MountedPath | undefined;
  // Of several at one place the last lies on top.
  for (const mount of mounts) if (isInside(path, mount.path) && mount.path.length >= (best?.path.length ?? 0)) best = mount;
  return best?.flags ?? [];
}
