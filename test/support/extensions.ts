// Folders of extensions for tests: the one that is made with the SDK and does what it is told (test/fixtures/extensions/desk.mjs).
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { removeFolder } from './clean-up.ts';
import { put } from './plugins.ts';

const repository = join(import.meta.dirname, '../..');
const SDK = pathToFileURL(join(repository, 'packages/extension-sdk/src/index.ts')).href;
const fixture = join(import.meta.dirname, '../fixtures/extensions/desk.mjs');

export interface DeskOptions {
  /** Lines below `[capabilities]`. */
  readonly capabilities?: string;
  readonly flags?: readonly { readonly name: string; readonly default?: unknown }[];
  /** What it does when it is asked about these. */
  readonly hooks?: Readonly<Record<string, readonly DeskStep[]>>;
  readonly events?: readonly string[];
  /** What it answers when it is asked about these. */
  readonly answers?: Readonly<Record<string, object | null>>;
  /** Namespaces that it keeps state in. */
  readonly state?: readonly string[];
  /** Actions: each takes the `steps` of its payload, and adds `answer` of it to what it answers. */
  readonly actions?: readonly string[];
  /** Scheduler jobs; it notes what it is told to end. */
  readonly jobs?: readonly { readonly id: string; readonly session_key: string; readonly kind: string }[];
  /** Other registrations by their kinds; `decision` is what its policies say. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** A member of the extension object, of `session` or of `kv`, and what it is called with. */
export type DeskStep = readonly [call: string, ...args: unknown[]];

/** In `extensions` of the home. */
export function writeDesk(home: string, { capabilities = '', ...told }: DeskOptions = {}, name = 'desk'): string {
  const folder = join(home, 'extensions', name);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const path of [join(home, 'extensions'), folder]) chmodSync(path, 0o755);
  put(
    join(folder, 'extension.toml'),
    `name = "${name}"\nversion = "1.0.0"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\nenv = { SDK = ${JSON.stringify(SDK)} }\n` +
      // The sources of the SDK, which it has no copy of, are seen in no sandbox without this.
      `[capabilities]\ntools = true\ncommands = true\nfs = { read = [${JSON.stringify(repository)}] }\n${capabilities}\n`,
  );
  copyFileSync(fixture, join(folder, 'main.mjs'));
  chmodSync(join(folder, 'main.mjs'), 0o644);
  put(join(folder, 'desk.json'), JSON.stringify(told));
  return folder;
}

/** A home in which extensions were started: what they were started from cannot be written, and stays where a gateway was killed. */
export function removeHome(home: string): void {
  const copies = join(home, 'extension-copies');
  if (existsSync(copies)) {
    for (const each of readdirSync(copies, { recursive: true, withFileTypes: true }))
      if (each.isDirectory()) chmodSync(join(each.parentPath, each.name), 0o700);
  }
  removeFolder(home);
}
