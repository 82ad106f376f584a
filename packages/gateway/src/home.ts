// The home folder and the secrets that are made on first start.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere, writeFileDurably } from './kernel/durable-file.ts';
import { randomId } from './kernel/ids.ts';
import { weakParentOf, type Weakness, weaknessOf } from './kernel/others.ts';
import { SECRETS_FOLDER } from './kernel/secret-files.ts';

export const CONFIG_FILE = 'tenon.toml';
export const TOKEN_FILE = 'token';
export const HOME_KEY_FILE = 'home.key';
export const LOG_FOLDER = 'logs';
/** Says where the running gateway is; written when it is ready, removed when it stops. */
export const RUNNING_FILE = 'gateway.json';

/** Says who keeps the gateway from doing anything, while that lasts. */
export const BLOCKED_FILE = 'blocked.json';

interface HomeFile {
  readonly name: string;
  /** Nobody but its owner may read it. */
  readonly private: boolean;
  readonly inBackup: boolean;
}

/** Everything of a fixed name in the home folder. The store itself is in a backup as its rows. */
export const homeFiles = [
  { name: CONFIG_FILE, private: true, inBackup: true },
  { name: TOKEN_FILE, private: true, inBackup: true },
  { name: HOME_KEY_FILE, private: true, inBackup: true },
  { name: 'audit-head.json', private: true, inBackup: true },
  /** Not in a backup: it tells of the store that is here. */
  { name: 'stream-head.json', private: true, inBackup: false },
  { name: 'tenon.db', private: true, inBackup: false },
  { name: 'tenon.db-wal', private: true, inBackup: false },
  { name: 'tenon.db-shm', private: true, inBackup: false },
  { name: LOG_FOLDER, private: true, inBackup: false },
  { name: SECRETS_FOLDER, private: true, inBackup: false },
  /** In a backup as the files that its rows need. */
  { name: 'attachments', private: true, inBackup: false },
  { name: RUNNING_FILE, private: true, inBackup: false },
  { name: BLOCKED_FILE, private: true, inBackup: false },
  /** Which extensions were installed. Not in a backup: the files that it names are not in one. */
  { name: 'extensions.lock', private: true, inBackup: false },
  { name: 'extension-store', private: true, inBackup: false },
  { name: 'chat-history', private: true, inBackup: false },
  { name: 'gateway.lock', private: false, inBackup: false },
  { name: 'gateway.pid', private: false, inBackup: false },
] as const satisfies readonly HomeFile[];

/** Stores that were kept before an update, a restore or a salvage changed them. */
const KEPT_COPY =
  /^(tenon\.db\.(schema|before-restore|corrupt)-|audit-head\.json\.corrupt-|.*\.before-new-store-|postgres\.(schema|before-restore)-.*\.db|attachments\.before-restore-)/;

export function keptCopies(home: string): string[] {
  return readdirSync(home)
    .filter((name) => KEPT_COPY.test(name))
    .map((name) => join(home, name));
}

export interface HomeSecrets {
  readonly token: string;
  readonly tokenFile: string;
  readonly key: Buffer;
}

/** Others could change what is in the home folder: nothing in it is used. */
export class HomeError extends Error {
  override readonly name = 'HomeError';
  readonly code = 'UNSAFE_HOME';
  readonly exitCode = 1;
  readonly hint: string;

  constructor({ path, fault, remedy }: Weakness) {
    super(`${path} ${fault}, so others could change how Tenon runs`);
    this.hint = `look at what is in it, then ${/^(sudo|chmod|chown) /.test(remedy) ? 'run: ' : ''}${remedy}`;
  }
}

/** Everything that decides what the gateway does and who may speak to it. */
const GUARDED_FILES = [CONFIG_FILE, TOKEN_FILE, HOME_KEY_FILE];

/** Which of the folder, the folders above it and the files that decide could be changed by others. */
export function weaknessesOf(home: string): Weakness[] {
  const files = GUARDED_FILES.map((name) => join(home, name));
  // A file that is a link is as safe as the folders that it leads through.
  const parents = [home, ...files.filter(isLink)].map((path) => weakParentOf(path));
  return [...parents, ...[home, ...files].map((path) => weaknessOf(path))].filter((weakness) => weakness !== undefined);
}

/** Throws HomeError. A home that is not there yet is fine. */
export function checkHome(home: string): void {
  const [weakness] = weaknessesOf(home);
  if (weakness) throw new HomeError(weakness);
}

export function prepareHome(home: string): void {
  // Whatever this process makes from here on, store and write-ahead log included, is for its owner only.
  process.umask(0o077);
  makeFolder(home);
  checkHome(home);
}

/**
 * What others can read and should not is made private: a folder that was made by hand, or a key that was copied. What was done, for the
 * operator: who read it before still knows it.
 */
export function closeHome(home: string): string[] {
  if (process.getuid === undefined) return [];
  return [[home, 0o700] as const, ...[TOKEN_FILE, HOME_KEY_FILE].map((name) => [join(home, name), 0o600] as const)].flatMap(
    ([path, wanted]) => {
      const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
      if ((mode & 0o077) === 0) return [];
      const was = `${path} could be read by others (mode ${(mode & 0o777).toString(8)})`;
      try {
        chmodSync(path, wanted);
        return [`${was}; it is private now${wanted === 0o600 ? ', but whoever read it before still knows it' : ''}`];
      } catch (error) {
        return [`${was}, and cannot be made private: ${(error as Error).message}`];
      }
    },
  );
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

// Level by level: where nothing can be made, as in /proc, Node's own `recursive` never returns.
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (code !== 'ENOENT') throw error;
    const above = dirname(folder);
    if (existsSync(above)) throw new Error(`the folder ${folder} cannot be made in ${above}; choose another with --home`, { cause: error });
    makeFolder(above);
    mkdirSync(folder, { mode: 0o700 });
  }
}

export function openHomeSecrets(home: string): HomeSecrets {
  const tokenFile = join(home, TOKEN_FILE);
  const token = readOrMake(tokenFile, newToken);
  const key = readOrMake(join(home, HOME_KEY_FILE), () => randomBytes(32).toString('base64url'));
  return { token, tokenFile, key: Buffer.from(key, 'base64url') };
}

/** In place of a token that was revoked. */
export function renewToken(home: string): string {
  const token = newToken();
  writeFileDurably(join(home, TOKEN_FILE), `${token}\n`);
  return token;
}

function newToken(): string {
  return `tenon_${randomId(32)}`;
}

function readOrMake(file: string, make: () => string): string {
  const found = readIfThere(file)?.trim();
  if (found !== undefined) {
    // An empty or cut file must not become a credential that everybody can guess.
    if (found.length < 16 || found.length > 512) throw new Error(`${file} does not hold a secret; remove it to have a new one made`);
    return found;
  }
  const made = make();
  writeFileDurably(file, `${made}\n`);
  return made;
}
