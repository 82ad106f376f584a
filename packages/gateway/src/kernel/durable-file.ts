// Files that are whole or not there: written beside their place, synced, moved.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { faultpoint } from './fault.ts';

/** Replaces the file in one step, readable by its owner only. */
export function writeFileDurably(file: string, content: string | Uint8Array): void {
  const draft = `${file}.new`;
  const bytes = Buffer.from(content as string);
  // Made anew: a link that somebody left under this name is not followed.
  rmSync(draft, { force: true });
  const handle = openSync(draft, 'wx', 0o600);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(handle, bytes, written);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  faultpoint('file.before-rename');
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/**
 * Replaces the file in one step without keeping the event loop waiting. After a power loss it may be the one from before: its place in
 * the folder is not waited for.
 */
export async function replaceDurably(file: string, content: string): Promise<void> {
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

/** A file that was written elsewhere is whole on the disk, and then in its place, in one step. Does not keep the event loop waiting. */
export async function moveDurably(draft: string, file: string): Promise<void> {
  const handle = await open(draft, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  syncFolder(dirname(file));
}

/** The text of the file; undefined when there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes the entries of a folder durable. */
export function syncFolder(folder: string): void {
  sync(folder, 'r');
}

/** Makes what somebody else wrote into a file durable. */
export function syncFile(file: string): void {
  sync(file, 'r+');
}

function sync(path: string, flags: 'r' | 'r+'): void {
  const handle = openSync(path, flags);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
