// `extensions.lock` of the home: which extensions were installed, from where, and in which folder of the store each version is.
// A version is in use because this file says so: to replace the file, in one step, is to install, to update or to roll back.
import { join } from 'node:path';
import { explain, OwnerId, parseJson } from '@tenon/protocol';
import { Type, type Static } from 'typebox';
import { readIfThere, writeFileDurably } from '../../../kernel/durable-file.ts';

export const EXTENSION_LOCK_FILE = 'extensions.lock';
export const EXTENSION_STORE_FOLDER = 'extension-store';

const closed = { additionalProperties: false };
const Text = Type.String({ minLength: 1, maxLength: 4_096 });

const InstalledVersion = Type.Object(
  {
    /** As it was typed: a folder, `npm:…` or `git:…`. */
    source: Text,
    version: Type.String({ minLength: 1, maxLength: 64 }),
    /** The address that the files came from. */
    resolved: Type.Optional(Text),
    /** Of the archive, as registries write it. */
    integrity: Type.Optional(Text),
    commit: Type.Optional(Type.String({ pattern: '^[0-9a-f]{40,64}$' })),
    /** Of the files, as trust is bound to it. */
    treeHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** In the store, below the folder of the extension. */
    folder: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,95}$' }),
    at: Type.Integer({ minimum: 0 }),
  },
  closed,
);
export type InstalledVersion = Static<typeof InstalledVersion>;

const LockedExtension = Type.Object({ current: InstalledVersion, previous: Type.Optional(InstalledVersion) }, closed);
export type LockedExtension = Static<typeof LockedExtension>;

const MAX_LOCKED = 1_024;
const ExtensionLock = Type.Object(
  {
    version: Type.Literal(1),
    extensions: Type.Unsafe<Readonly<Record<string, LockedExtension>>>({
      type: 'object',
      maxProperties: MAX_LOCKED,
      propertyNames: OwnerId,
      additionalProperties: LockedExtension,
    }),
  },
  closed,
);
export type ExtensionLock = Static<typeof ExtensionLock>;

/** Without a file, nothing is installed. Throws an error that says what is wrong with the file. */
export function readExtensionLock(home: string): ExtensionLock {
  const text = readIfThere(join(home, EXTENSION_LOCK_FILE));
  if (text === undefined) return { version: 1, extensions: {} };
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`${EXTENSION_LOCK_FILE} is not JSON that can be read: ${parsed.fault.reason}`);
  const fault = explain(ExtensionLock, parsed.value, EXTENSION_LOCK_FILE);
  if (fault !== undefined) throw new Error(fault);
  return parsed.value as ExtensionLock;
}

export function writeExtensionLock(home: string, { extensions }: ExtensionLock): void {
  const sorted = Object.fromEntries(Object.entries(extensions).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileDurably(join(home, EXTENSION_LOCK_FILE), `${JSON.stringify({ version: 1, extensions: sorted }, undefined, 2)}\n`);
}

/** Where the files of a version are. */
export function installedFolder(home: string, name: string, { folder }: Pick<InstalledVersion, 'folder'>): string {
  return join(home, EXTENSION_STORE_FOLDER, name, folder);
}
