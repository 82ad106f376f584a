// The home folder and the secrets that are made on first start.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writeFileDurably } from './kernel/durable-file.ts';
import { randomId } from './kernel/ids.ts';

export const TOKEN_FILE = 'token';
export const HOME_KEY_FILE = 'home.key';
/** Says where the running gateway is; written when it is ready, removed when it stops. */
export const RUNNING_FILE = 'gateway.json';

export interface HomeSecrets {
  readonly token: string;
  readonly tokenFile: string;
  readonly key: Buffer;
}

export function prepareHome(home: string): void {
  // Whatever this process makes from here on, store and write-ahead log included, is for its owner only.
  process.umask(0o077);
  mkdirSync(home, { recursive: true, mode: 0o700 });
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
