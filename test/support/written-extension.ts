// An extension in a temporary home, from one of the fixtures, as the host of plugins finds it there.
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type HostWorld, put, SESSION } from './plugins.ts';

/** What the host of plugins is opened with, to have extensions. */
export const withExtensions = { extensions: { version: '0.0.1', env: process.env, node: process.execPath, spawn, random: () => 0.5 } };

export interface WrittenExtension {
  /** In place of the folder of the home. */
  readonly place?: string;
  /** A file of test/fixtures/extensions. */
  readonly fixture: string;
  /** Lines of the manifest before `[run]`. */
  readonly manifest?: string;
  /** Lines below `[run]`. */
  readonly run?: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** The folder. */
export function writeExtension({ home }: Pick<HostWorld, 'home'>, name: string, written: WrittenExtension): string {
  const place = written.place ?? join(home, 'extensions');
  const folder = join(place, name);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  for (const path of [place, folder]) chmodSync(path, 0o755);
  put(
    join(folder, 'extension.toml'),
    `name = "${name}"\nversion = "1.0.0"\n${written.manifest ?? ''}\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n${written.run ?? ''}\n`,
  );
  copyFileSync(join(import.meta.dirname, '../fixtures/extensions', written.fixture), join(folder, 'main.mjs'));
  chmodSync(join(folder, 'main.mjs'), 0o644);
  for (const [file, content] of Object.entries(written.files ?? {})) put(join(folder, file), content);
  return folder;
}

/** Fails after a time that no machine needs, so that a test that went wrong does not hang. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const overdue = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > overdue) throw new Error(`what was waited for did not come: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What a tool of a plugin is called with. */
export function toolCall(signal = new AbortController().signal) {
  return {
    sessionKey: SESSION,
    agentId: 'main',
    runId: 'r1',
    callId: 'c1',
    state: () => undefined,
    getSessionExtension: () => undefined,
    signal,
    onUpdate: () => {},
    openChildRuns: async () => [],
  };
}
