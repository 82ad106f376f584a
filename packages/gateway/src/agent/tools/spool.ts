// Output that is too long to tell the model at once waits here in files, and is read on by its handle. The folder has a
// bound on files and on bytes; the oldest go first.
import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from './tool.ts';

export const MAX_SHOWN_BYTES = 50_000;
export const MAX_SHOWN_LINES = 2_000;
/** Of one output; what comes after is counted and dropped. */
export const MAX_KEPT_BYTES = 10_000_000;
const MAX_FILES = 256;
const MAX_ALL_BYTES = 200_000_000;
const SUFFIX = '.txt';
const HANDLE = /^[A-Za-z0-9_-]{16,64}$/;

export interface Spool {
  /** Keeps a whole text; the handle finds it again. `provenance` says where foreign text came from. */
  keep(text: string, provenance?: string): string;
  /** An output that grows. */
  begin(): SpoolWriter;
  /** Contract: throws ToolError when the handle is unknown or its output was removed. */
  read(handle: string, offset: number): SpoolPage;
}

export interface SpoolWriter {
  readonly handle: string;
  readonly bytes: number;
  readonly dropped: number;
  write(chunk: Uint8Array): void;
  close(): void;
}

export interface SpoolPage {
  readonly text: string;
  /** Where to read on; undefined at the end of what is there now. */
  readonly next: number | undefined;
  readonly total: number;
  readonly provenance?: string;
}

/** Of output that another run of the gateway kept, nobody knows any more whose words it holds. */
const UNKNOWN_PROVENANCE = 'output kept before the gateway was restarted';

export function createSpool(folder: string, newId: () => string): Spool {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const open = new Set<string>();
  const provenances = new Map<string, string | undefined>();
  const fileOf = (handle: string) => join(folder, `${handle}${SUFFIX}`);

  function makeRoom(): void {
    const files = readdirSync(folder)
      .filter((name) => name.endsWith(SUFFIX))
      .flatMap((name) => {
        const found = statSync(join(folder, name), { throwIfNoEntry: false });
        return found ? [{ name, bytes: found.size, at: found.mtimeMs }] : [];
      })
      .sort((a, b) => b.at - a.at);
    let bytes = 0;
    files.forEach((file, index) => {
      bytes += file.bytes;
      const over = index >= MAX_FILES - 1 || bytes > MAX_ALL_BYTES - MAX_KEPT_BYTES;
      if (over && !open.has(file.name)) rmSync(join(folder, file.name), { force: true });
    });
  }

  function begin(): SpoolWriter {
    const handle = newId();
    const name = `${handle}${SUFFIX}`;
    let file: number;
    try {
      makeRoom();
      file = openSync(fileOf(handle), 'wx', 0o600);
    } catch (error) {
      throw new ToolError('SPOOL', `Long output cannot be kept (${(error as NodeJS.ErrnoException).code})`);
    }
    open.add(name);
    provenances.set(handle, undefined);
    if (provenances.size > MAX_FILES * 2) provenances.delete(provenances.keys().next().value!);
    let bytes = 0;
    let dropped = 0;
    let closed = false;
    return {
      handle,
      get bytes() {
        return bytes;
      },
      get dropped() {
        return dropped;
      },
      write(chunk) {
        const part = closed ? chunk.subarray(0, 0) : chunk.subarray(0, MAX_KEPT_BYTES - bytes);
        let written = 0;
        try {
          while (written < part.length) written += writeSync(file, part, written);
        } catch {
          // A full disk costs the rest of this output, which counts as dropped, and nothing else.
          this.close();
        }
        bytes += written;
        dropped += chunk.length - written;
      },
      close() {
        if (closed) return;
        closed = true;
        closeSync(file);
        open.delete(name);
      },
    };
  }

  return {
    begin,
    keep(text, provenance) {
      const writer = begin();
      provenances.set(writer.handle, provenance);
      try {
        writer.write(Buffer.from(text));
      } finally {
        writer.close();
      }
      return writer.handle;
    },
    read(handle, offset) {
      const gone = new ToolError('NOT_FOUND', 'There is no output under this handle; old output is removed. Run the call again');
      if (!HANDLE.test(handle)) throw gone;
      let file: number;
      try {
        file = openSync(fileOf(handle), 'r');
      } catch {
        throw gone;
      }
      try {
        const total = statSync(fileOf(handle)).size;
        const bytes = Buffer.alloc(MAX_SHOWN_BYTES);
        const length = offset >= total ? 0 : readSync(file, bytes, 0, bytes.length, offset);
        const page = headOf(bytes.subarray(0, length), offset + length >= total);
        const provenance = provenances.has(handle) ? provenances.get(handle) : UNKNOWN_PROVENANCE;
        const next = offset + page.length < total ? offset + page.length : undefined;
        return { text: page.toString('utf8'), next, total, ...(provenance === undefined ? {} : { provenance }) };
      } finally {
        closeSync(file);
      }
    },
  };
}

/** The first lines that fit. A cut falls after a line, and never into a character. */
export function headOf(bytes: Buffer, isWhole: boolean): Buffer {
  let end = Math.min(bytes.length, MAX_SHOWN_BYTES);
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0 && at < end; at = bytes.indexOf(10, at + 1)) {
    if (++lines === MAX_SHOWN_LINES) return bytes.subarray(0, at + 1);
  }
  if (isWhole && end === bytes.length) return bytes;
  const lastLine = bytes.lastIndexOf(10, end - 1);
  if (lastLine > 0) return bytes.subarray(0, lastLine + 1);
  while (end > 1 && (bytes[end - 1]! & 0b1100_0000) === 0b1000_0000) end--;
  if (end > 1 && bytes[end - 1]! >= 0b1100_0000) end--;
  return bytes.subarray(0, end);
}

/** The last lines that fit. */
export function tailOf(bytes: Buffer): Buffer {
  let start = Math.max(0, bytes.length - MAX_SHOWN_BYTES);
  let lines = 0;
  for (let at = bytes.length - 2; at >= start; at--) {
    if (bytes[at] !== 10 || ++lines < MAX_SHOWN_LINES) continue;
    return bytes.subarray(at + 1);
  }
  if (start === 0) return bytes;
  const nextLine = bytes.indexOf(10, start);
  if (nextLine >= 0 && nextLine < bytes.length - 1) return bytes.subarray(nextLine + 1);
  while (start < bytes.length && (bytes[start]! & 0b1100_0000) === 0b1000_0000) start++;
  return bytes.subarray(start);
}

/** The text as the model gets it: whole, or its first lines and the handle to the rest. */
export function firstPage(text: string, spool: Spool, provenance?: string): { text: string; handle?: string } {
  const bytes = Buffer.from(text);
  const page = headOf(bytes, true);
  if (page.length === bytes.length) return { text };
  let handle: string;
  try {
    handle = spool.keep(text, provenance);
  } catch (error) {
    return { text: `${page.toString('utf8')}\n[Cut at byte ${page.length} of ${bytes.length}. ${(error as Error).message}]` };
  }
  const kept = Math.min(bytes.length, MAX_KEPT_BYTES);
  const lost = bytes.length > kept ? ` Only the first ${kept} bytes are kept.` : '';
  const note = `[Cut at byte ${page.length} of ${bytes.length}.${lost} Go on with read_more {"handle":"${handle}","offset":${page.length}}]`;
  return { text: `${page.toString('utf8')}\n${note}`, handle };
}
