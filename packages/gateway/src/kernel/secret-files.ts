// Small secrets by name: a file each, in a folder that nobody but its owner can look into, or a variable of the environment,
// which stands above the file. They are read when they are asked for, so one that is replaced holds from then on.
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileDurably } from './durable-file.ts';

export const SECRETS_FOLDER = 'secrets';
/** More than this is some other file. */
export const MAX_SECRET_BYTES = 8_192;
const NAME = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;

type Env = Readonly<Record<string, string | undefined>>;

export interface KeptSecret {
  readonly name: string;
  readonly from: 'file' | 'environment';
}

/** Lower-case words with dashes: then no two names are one variable. */
export function isSecretFileName(name: string): boolean {
  return NAME.test(name);
}

export function variableOf(name: string): string {
  return `TENON_SECRET_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** Undefined where there is none. Throws an error that says what is wrong, never what is in it. */
export function readSecretFile(home: string, env: Env, name: string): string | undefined {
  if (!isSecretFileName(name)) return undefined;
  const given = env[variableOf(name)];
  return given === undefined || given === '' ? readFile(join(home, SECRETS_FOLDER, name), name) : checked(given, name);
}

/** Replaces what there was. */
export function writeSecretFile(home: string, name: string, value: string): void {
  mkdirSync(join(home, SECRETS_FOLDER), { recursive: true, mode: 0o700 });
  writeFileDurably(join(home, SECRETS_FOLDER, name), checked(value, name));
}

/** Whether there was one. */
export function removeSecretFile(home: string, name: string): boolean {
  const file = join(home, SECRETS_FOLDER, name);
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  rmSync(file, { force: true });
  return isThere;
}

/** By name; never what is in them. */
export function listSecrets(home: string, env: Env): KeptSecret[] {
  const found = new Map<string, KeptSecret>();
  for (const name of namesIn(join(home, SECRETS_FOLDER))) found.set(name, { name, from: 'file' });
  for (const [variable, value] of Object.entries(env)) {
    const [, tail] = /^TENON_SECRET_([A-Z0-9_]+)$/.exec(variable) ?? [];
    const name = tail?.toLowerCase().replaceAll('_', '-');
    if (name !== undefined && value !== '' && isSecretFileName(name)) found.set(name, { name, from: 'environment' });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isSecretFileName);
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return [];
    throw error;
  }
}

function readFile(file: string, name: string): string | undefined {
  let handle: number;
  try {
    // Neither a link is followed nor a pipe waited for.
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ENOENT') return undefined;
    throw new Error(`the secret "${name}" cannot be read: ${code === 'ELOOP' ? 'it is a link' : code}`);
  }
  try {
    const facts = fstatSync(handle);
    if (!facts.isFile()) throw new Error(`the secret "${name}" is not a regular file`);
    const uid = process.getuid?.();
    if (uid !== undefined && facts.uid !== uid && facts.uid !== 0)
      throw new Error(`the secret "${name}" belongs to another user (${facts.uid}); chown ${uid} its file`);
    if ((facts.mode & 0o077) !== 0) throw new Error(`the secret "${name}" can be read by others; chmod 600 its file`);
    const bytes = Buffer.alloc(MAX_SECRET_BYTES + 2);
    const length = readSync(handle, bytes, 0, bytes.length, 0);
    return checked(bytes.toString('utf8', 0, length), name);
  } finally {
    closeSync(handle);
  }
}

/** Without the line end that editors and shells leave. */
function checked(text: string, name: string): string {
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw new Error(`the secret "${name}" is empty`);
  if (Buffer.byteLength(value) > MAX_SECRET_BYTES) throw new Error(`the secret "${name}" has more than ${MAX_SECRET_BYTES} bytes`);
  if (value.includes('\0')) throw new Error(`the secret "${name}" is no text`);
  return value;
}
