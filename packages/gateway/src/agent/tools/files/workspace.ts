// Where file tools may go: inside the workspace by real path, never into Tenon's own folder, and only to plain files and
// folders. A path is checked, then used through the handle of its folder (/proc/self/fd on Linux), so that a link that is
// put in its place between the two leads nowhere.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { visible } from '@tenon/protocol';
import { isInside } from '../../../kernel/sandbox/profile.ts';
import { ToolError } from '../tool.ts';

export interface Boundary {
  /** The real path of the workspace. */
  readonly root: string;
  /** Real paths that no tool enters, unless the workspace itself lies in them. */
  readonly hidden: readonly string[];
  /** What runs and was approved with this file as it is, if anything does. */
  readonly usedBy?: ((real: string) => string | undefined) | undefined;
}

export interface Spot {
  /** The real path; its last parts may not be there yet. */
  readonly real: string;
  /** Relative to the workspace, for people and the model. */
  readonly shown: string;
  readonly kind: 'file' | 'folder' | 'nothing';
}

const MAX_PATH = 4096;
/** Not on Windows, where there are no such links to worry about in the same way. */
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
/** A FIFO would wait for its other end. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;

/** `hidden` are real paths. */
export async function boundaryOf(workspace: string, hidden: readonly string[], usedBy?: Boundary['usedBy']): Promise<Boundary> {
  const root = await realpath(workspace).catch((error: Error) => {
    throw new ToolError('WORKSPACE', `The workspace cannot be opened: ${error.message}`);
  });
  if (dirname(root) === root) throw new ToolError('WORKSPACE', 'The workspace is the whole file system; choose a folder');
  if (hidden.includes(root)) throw new ToolError('WORKSPACE', "The workspace is Tenon's own folder; choose another");
  return { root, hidden, ...(usedBy ? { usedBy } : {}) };
}

/** Whether a real path is one that tools may see. */
export function isVisible(real: string, { root, hidden }: Boundary): boolean {
  return isInside(real, root) && hidden.every((home) => !isInside(real, home) || isInside(root, home));
}

/** Contract: throws ToolError when the path leads out of the workspace, or to what is neither a file nor a folder. */
export async function locate(path: string, boundary: Boundary): Promise<Spot> {
  if (path.includes('\0')) throw new ToolError('PATH', 'The path holds a zero byte');
  if (path.length > MAX_PATH) throw new ToolError('PATH', `The path is longer than ${MAX_PATH} characters`);
  const asked = isAbsolute(path) ? resolve(path) : resolve(boundary.root, path);
  const real = await realPathOf(asked, path);
  if (!isInside(real, boundary.root)) throw new ToolError('OUTSIDE', `${visible(path)} is outside the workspace ${boundary.root}`);
  if (!isVisible(real, boundary)) throw new ToolError('OUTSIDE', `${visible(path)} belongs to Tenon itself; tools cannot reach it`);
  const found = await lstat(real).catch(() => undefined);
  const shown = relative(boundary.root, real).split(sep).join('/') || '.';
  if (found === undefined) return { real, shown, kind: 'nothing' };
  if (found.isFile()) return { real, shown, kind: 'file' };
  if (found.isDirectory()) return { real, shown, kind: 'folder' };
  throw new ToolError('NOT_A_FILE', `${visible(path)} is neither a file nor a folder`);
}

/** The real path of what is there, and for the rest that of the nearest folder above it. */
async function realPathOf(asked: string, path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = asked; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ELOOP') throw new ToolError('PATH', `${visible(path)} is a link that leads in circles`);
      if (code === 'ENOTDIR') throw new ToolError('PATH', `${visible(path)} goes through a file as if it were a folder`);
      if (code !== 'ENOENT') throw new ToolError('PATH', `${visible(path)} cannot be reached (${code})`);
      // There, but leading nowhere: what is written through it would land wherever it points.
      const link = await lstat(at).catch(() => undefined);
      if (link) throw new ToolError('OUTSIDE', `${visible(path)} is a link to something that is not there`);
      missing.unshift(basename(at));
      if (dirname(at) === at) throw new ToolError('PATH', `${visible(path)} cannot be reached`);
    }
  }
}

/** The file opened for reading. Refuses what is not the plain file that was checked. */
export async function openFile(spot: Spot): Promise<FileHandle> {
  const folder = await openFolder(dirname(spot.real));
  try {
    const handle = await open(join(folder.path, basename(spot.real)), constants.O_RDONLY | NOFOLLOW | NONBLOCK).catch((error) => {
      throw describe(error as NodeJS.ErrnoException, spot);
    });
    const found = await handle.stat();
    if (found.isFile()) return handle;
    await handle.close();
    throw new ToolError('NOT_A_FILE', `${spot.shown} is not a plain file`);
  } finally {
    await folder.close();
  }
}

export async function readWhole(spot: Spot, maxBytes: number): Promise<Buffer> {
  const handle = await openFile(spot);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new ToolError('TOO_LARGE', `${spot.shown} has ${size} bytes; at most ${maxBytes} can be handled`);
    const bytes = Buffer.alloc(maxBytes + 1 < size + 65_536 ? maxBytes + 1 : size + 65_536);
    let length = 0;
    // A file in /proc or one that grows says a size that is not its own.
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      if (bytesRead === 0) return bytes.subarray(0, length);
      if (length === bytes.length) throw new ToolError('TOO_LARGE', `${spot.shown} grows while it is read, or has over ${maxBytes} bytes`);
    }
  } finally {
    await handle.close();
  }
}

/** The file is whole or as it was: written beside its place, synced, moved. Keeps the mode; makes the folders above. */
export async function writeWhole(spot: Spot, content: string | Uint8Array, draftName: string, boundary: Boundary): Promise<void> {
  refuseUsed(spot, boundary);
  const folder = await makeFolders(dirname(spot.real), boundary);
  const target = join(folder.path, basename(spot.real));
  const draft = join(folder.path, `.${draftName}.tenon-draft`);
  try {
    const before = await lstat(target).catch(() => undefined);
    if (before && !before.isFile()) throw new ToolError('CHANGED', `${spot.shown} is no longer a plain file`);
    const mode = before ? before.mode & 0o777 : 0o666;
    const handle = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOFOLLOW, mode);
    try {
      await handle.writeFile(content);
      await giveTo(handle, before ?? (await folder.stat()));
      if (before) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, target);
    await folder.sync();
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error instanceof ToolError ? error : describe(error as NodeJS.ErrnoException, spot);
  } finally {
    await folder.close();
  }
}

/** A file that takes the place of another one would uncover it also where a copy covers it. */
function refuseUsed({ real, shown }: Spot, { usedBy }: Boundary): void {
  const command = usedBy?.(real);
  if (command !== undefined)
    throw new ToolError(
      'IN_USE',
      `${shown} belongs to an approved command that is running (${command}); wait for its end, or end it first`,
    );
}

export async function removeFile(spot: Spot, boundary: Boundary): Promise<void> {
  refuseUsed(spot, boundary);
  const folder = await openFolder(dirname(spot.real));
  try {
    const target = join(folder.path, basename(spot.real));
    const found = await lstat(target).catch(() => undefined);
    if (!found?.isFile()) throw new ToolError('CHANGED', `${spot.shown} is no longer a plain file`);
    await rm(target);
    await folder.sync();
  } catch (error) {
    throw error instanceof ToolError ? error : describe(error as NodeJS.ErrnoException, spot);
  } finally {
    await folder.close();
  }
}

interface Folder {
  /** A path that stays with the folder that was opened, where the system has such. */
  readonly path: string;
  stat(): Promise<Stats>;
  giveTo(owner: Stats): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the folder at this real path. Where a link has been put in between, it is another folder, and refused. */
export async function openFolder(real: string): Promise<Folder> {
  const handle = await open(real, constants.O_RDONLY | constants.O_DIRECTORY | NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    throw new ToolError('CHANGED', `The folder ${real} cannot be opened (${error.code})`);
  });
  const own = `/proc/self/fd/${handle.fd}`;
  const leadsTo = process.platform === 'linux' ? await readlink(own).catch(() => undefined) : undefined;
  if (leadsTo !== undefined && leadsTo !== real) {
    await handle.close();
    throw new ToolError('CHANGED', `The folder ${real} was replaced meanwhile`);
  }
  return {
    path: leadsTo === undefined ? real : own,
    stat: () => handle.stat(),
    giveTo: (owner) => giveTo(handle, owner),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

async function makeFolders(real: string, { root }: Boundary): Promise<Folder> {
  const missing: string[] = [];
  let at = real;
  while (at !== root && isInside(at, root) && (await lstat(at).catch(() => undefined)) === undefined) {
    missing.unshift(basename(at));
    at = dirname(at);
  }
  let folder = await openFolder(at);
  for (const name of missing) {
    const above = await folder.stat();
    try {
      await mkdir(join(folder.path, name));
      at = join(at, name);
    } catch (error) {
      throw new ToolError('CANNOT_WRITE', `The folder ${name} cannot be made (${(error as NodeJS.ErrnoException).code})`);
    } finally {
      await folder.close();
    }
    folder = await openFolder(at);
    await folder.giveTo(above);
  }
  return folder;
}

/** A gateway that is root works for the owner of the workspace: what it makes there is theirs, as what their programs make is. */
async function giveTo(handle: FileHandle, { uid, gid }: Stats): Promise<void> {
  if (process.getuid?.() === 0 && uid !== 0) await handle.chown(uid, gid);
}

function describe(error: NodeJS.ErrnoException, spot: Spot): ToolError {
  const told: Record<string, [string, string]> = {
    ENOENT: ['NOT_FOUND', 'is not there'],
    EACCES: ['NO_ACCESS', 'may not be read or changed by the gateway'],
    EPERM: ['NO_ACCESS', 'may not be read or changed by the gateway'],
    EISDIR: ['NOT_A_FILE', 'is a folder'],
    ELOOP: ['CHANGED', 'was replaced by a link meanwhile'],
    ENOSPC: ['NO_SPACE', 'could not be written: the disk is full'],
    EROFS: ['NO_ACCESS', 'lies on a disk that is read-only'],
    ENXIO: ['NOT_A_FILE', 'is not a plain file'],
  };
  const [code, what] = told[error.code ?? ''] ?? ['FILE', `cannot be used (${error.code ?? error.message})`];
  return new ToolError(code, `${spot.shown} ${what}`);
}
