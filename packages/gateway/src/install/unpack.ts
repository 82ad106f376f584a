// Unpacks an archive into an empty folder, and nowhere else. Only files and folders come out of it: a link, a device, a name
// that leads elsewhere, bits that change who runs a program, or two names that some systems take for one refuse the whole
// archive. Everything is counted while it is unpacked, so that a bomb stops at the bounds.
import { createReadStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { TREE_BOUNDS } from '../host/tree-hash.ts';
import { faultpoint } from '../kernel/fault.ts';
import { InstallError, throwIfAborted } from './install-error.ts';
import { type TarEntry, tarEntries } from './tar-entries.ts';

/** How many times larger than the archive its content may be, beyond the first megabyte. */
export const MAX_RATIO = 100;
const RATIO_FLOOR = 1_048_576;
const MAX_PATH = 1_024;
const MAX_PART = 255;

export interface UnpackOptions {
  /** Whether the archive is compressed. */
  readonly gzip: boolean;
  readonly signal: AbortSignal;
  readonly unpacked: (files: number) => void;
}

/** `to` is there and empty. The first part of every path, `package` in most archives, is left out. */
export async function unpack(archive: string, to: string, { gzip, signal, unpacked }: UnpackOptions): Promise<void> {
  const { size } = await stat(archive);
  const file = createReadStream(archive);
  const gunzip = createGunzip();
  // An error of the file is one of whoever reads on.
  const source = gzip ? file.on('error', (error) => gunzip.destroy(error)).pipe(gunzip) : file;
  const names = createNames();
  let [files, bytes] = [0, 0];
  try {
    for await (const entry of tarEntries(counted(source, gzip ? size : undefined), TREE_BOUNDS.files)) {
      throwIfAborted(signal);
      const path = names.take(entry);
      bytes += entry.size;
      if (bytes > TREE_BOUNDS.bytes) throw tooMuch();
      if (path === undefined) {
        for await (const _ of entry.content);
        continue;
      }
      for (const folder of path.newFolders) await mkdir(join(to, folder), { mode: 0o700 });
      if (!path.isFile) continue;
      await writeEntry(join(to, path.file), entry);
      unpacked(++files);
      faultpoint('install.file-unpacked');
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code.startsWith('Z_')) throw new InstallError('REFUSED', `The archive is damaged: it cannot be decompressed (${code})`);
    throw error;
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

async function writeEntry(file: string, { mode, content }: TarEntry): Promise<void> {
  const handle = await open(file, 'wx', (mode & 0o100) === 0 ? 0o600 : 0o700);
  try {
    for await (const chunk of content) await handle.writeFile(chunk);
  } finally {
    await handle.close();
  }
}

async function* counted(source: AsyncIterable<Buffer>, packed: number | undefined): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > TREE_BOUNDS.bytes) throw tooMuch();
    if (packed !== undefined && bytes > RATIO_FLOOR && bytes > packed * MAX_RATIO)
      throw new InstallError('REFUSED', `The archive of ${packed} bytes holds more than ${MAX_RATIO} times as much`);
    yield chunk;
  }
}

function tooMuch(): InstallError {
  return new InstallError('REFUSED', `The archive holds more than ${TREE_BOUNDS.bytes} bytes`);
}

interface Placed {
  readonly isFile: boolean;
  /** Below the target. */
  readonly file: string;
  /** Those that are not there yet, outermost first. */
  readonly newFolders: readonly string[];
}

function createNames() {
  /** By how systems that do not tell letters apart would call it. */
  const taken = new Map<string, { readonly path: string; readonly isFile: boolean }>();
  let top: string | undefined;

  function claim(path: string, isFile: boolean): boolean {
    const folded = path.normalize('NFKC').toLowerCase();
    const known = taken.get(folded);
    if (!known) {
      taken.set(folded, { path, isFile });
      return true;
    }
    if (known.path !== path) throw refused(path, `differs from ${JSON.stringify(known.path)} in its letters only`);
    if (isFile || known.isFile) throw refused(path, 'is there twice');
    return false;
  }

  return {
    /** Undefined for the folder that everything is in. */
    take(entry: TarEntry): Placed | undefined {
      const isFile = entry.type === '0';
      if (!isFile && entry.type !== '5') throw refused(entry.path, kinds[entry.type] ?? `is of the kind ${JSON.stringify(entry.type)}`);
      if ((entry.mode & 0o7000) !== 0) throw refused(entry.path, 'has a mode that changes who runs it');
      const [first, ...parts] = partsOf(entry.path);
      if (parts.length === 0 && isFile) throw refused(entry.path, 'is not in the folder of the package');
      top ??= first;
      if (first !== top) throw refused(entry.path, `is not in the folder ${JSON.stringify(top)} as what comes before it`);
      if (parts.length === 0) return undefined;
      const file = parts.join('/');
      const folders = (isFile ? parts.slice(0, -1) : parts).map((_, at) => parts.slice(0, at + 1).join('/'));
      const newFolders = folders.filter((folder) => claim(folder, false));
      if (isFile) claim(file, true);
      return { isFile, file, newFolders };
    },
  };
}

const kinds: Readonly<Record<string, string>> = {
  '1': 'is a link',
  '2': 'is a link',
  '3': 'is a device',
  '4': 'is a device',
  '6': 'is a pipe',
};

function partsOf(path: string): string[] {
  if (path === '') throw refused(path, 'is a name of nothing');
  if (Buffer.byteLength(path) > MAX_PATH) throw refused(path, `is longer than ${MAX_PATH} bytes`);
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) throw refused(path, 'is an absolute path');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\\\u0000-\u001f\u007f]/.test(path)) throw refused(path, 'has a character that no name should have');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0) throw refused(path, 'is a name of nothing');
  if (parts.includes('..')) throw refused(path, 'leads out of its folder');
  if (parts.some((part) => Buffer.byteLength(part) > MAX_PART)) throw refused(path, `has a part of more than ${MAX_PART} bytes`);
  if (parts.length > TREE_BOUNDS.depth) throw refused(path, `is nested deeper than ${TREE_BOUNDS.depth} folders`);
  return parts;
}

function refused(path: string, why: string): InstallError {
  const shown = path.length > 120 ? `${path.slice(0, 117)}…` : path;
  return new InstallError('REFUSED', `The archive cannot be unpacked: ${JSON.stringify(shown)} ${why}`);
}
