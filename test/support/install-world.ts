// A home to install extensions into, and the functions that `tenon ext` calls, without a gateway and without a process.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readExtensionLock } from '../../packages/gateway/src/host/sep/find/extension-lock.ts';
import {
  type Agree,
  type Installed,
  installExtension,
  type Prepared,
  removeExtension,
  rollBackExtension,
  updateExtension,
} from '../../packages/gateway/src/install/install.ts';
import type { InstallDeps, Step } from '../../packages/gateway/src/install/install-deps.ts';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { cleanUp, removeFolder } from './clean-up.ts';

export interface InstallWorld {
  readonly home: string;
  readonly deps: InstallDeps;
  /** What was shown before it was agreed to. */
  readonly shown: Prepared[];
  readonly steps: Step[];
  install(source: string, more?: { readonly name?: string; readonly agree?: Agree }): Promise<Installed>;
  update(name: string, agree?: Agree): Promise<Installed>;
  rollBack(name: string): Promise<Installed>;
  remove(name: string): Promise<unknown>;
  lock(): ReturnType<typeof readExtensionLock>;
  /** Of the version in use. */
  text(name: string, file: string): string;
  /** Everything below the store but the lock of the system. */
  stored(): string[];
}

export function installWorld(t: TestContext, more: Partial<InstallDeps> = {}): InstallWorld {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-install-')));
  cleanUp(t, () => removeFolder(home));
  const shown: Prepared[] = [];
  const steps: Step[] = [];
  const agree: Agree = async (prepared) => void shown.push(prepared);
  const deps: InstallDeps = {
    home,
    cwd: home,
    uid: process.getuid?.(),
    env: process.env,
    clock: systemClock,
    fetch: globalThis.fetch,
    spawn,
    registry: '',
    signal: new AbortController().signal,
    report: (step) => void steps.push(step),
    ...more,
  };
  const store = join(home, 'extension-store');
  return {
    home,
    deps,
    shown,
    steps,
    install: (source, options = {}) => installExtension({ source, agree, name: undefined, ...options }, deps),
    update: (name, given = agree) => updateExtension(name, given, deps),
    rollBack: (name) => rollBackExtension(name, agree, deps),
    remove: (name) => removeExtension(name, async () => {}, home),
    lock: () => readExtensionLock(home),
    text(name, file) {
      const { current } = readExtensionLock(home).extensions[name]!;
      return readFileSync(join(store, name, current.folder, file), 'utf8');
    },
    stored: () => readdirSync(store).filter((name) => name !== '.busy'),
  };
}
