// The extension of a folder while its author works on it: one process at a time, started as the gateway would start it. The next one
// takes over when it has introduced itself; if it does not, the one before goes on.
import type { RunningExtension, UiAnswer, UiRequest } from '@tenon/extension-sdk/testing';
import type { ExtensionManifest, Registrations } from '@tenon/protocol/sep';
import type { SepGroup } from '@tenon/protocol/sep/wire';
import type { CheckedFolder, Lack } from '../../extension-folder.ts';
import type { Direction } from './traffic.ts';

export interface GenerationDeps {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly node: string;
  readonly version: string;
  /** Where the agent would work. */
  readonly workspace: string;
  check(): Promise<CheckedFolder>;
  /** What it may do; undefined: everything that its manifest asks for. */
  grantsOf(manifest: ExtensionManifest): Promise<ReadonlySet<string> | undefined>;
  ask(request: UiRequest): Promise<UiAnswer | undefined>;
  readonly tell: {
    traffic(direction: Direction, line: string): void;
    stderr(text: string): void;
    fault(text: string): void;
    lack(lack: Lack, name: string): void;
    /** The folder cannot be used, or notes about it. */
    checked(checked: CheckedFolder): void;
    ready(registrations: Registrations, manifest: ExtensionManifest, ms: number): void;
    failed(reason: string, goesOn: boolean): void;
    ended(how: number | string): void;
  };
}

export interface Generations {
  /** Starts it anew. Never rejects. */
  renew(): Promise<void>;
  readonly current: { readonly running: RunningExtension; readonly registrations: Registrations } | undefined;
  /** Asks it to end, and ends it and all that it has started. */
  close(): Promise<void>;
  /** At once, without asking. */
  kill(): void;
}

interface Current {
  readonly running: RunningExtension;
  readonly registrations: Registrations;
}

const SHUTDOWN_MS = 5_000;

export function createGenerations(deps: GenerationDeps): Generations {
  const { tell } = deps;
  let current: Current | undefined;
  let last: Promise<void> = Promise.resolve();
  const leaving = new AbortController();

  async function start(): Promise<void> {
    const checked = await deps.check();
    tell.checked(checked);
    const { manifest } = checked;
    if (!manifest || leaving.signal.aborted) return;
    const [{ extensionCommand, extensionEnvironment, groupsOn, lackOf, lacksOf }, { startExtension }, wire] = await Promise.all([
      import('../../extension-folder.ts'),
      import('@tenon/extension-sdk/testing'),
      import('@tenon/protocol/sep/wire'),
    ]);
    const granted = await deps.grantsOf(manifest);
    const holds = (grant: string) => granted?.has(grant) ?? true;
    const told = new Set<string>();
    const tellOnce = (lack: Lack | undefined) => {
      if (!lack || told.has(lack.what)) return;
      told.add(lack.what);
      tell.lack(lack, manifest.name);
    };
    const startedAt = performance.now();
    const [command = '', ...args] = extensionCommand(manifest, deps.node);
    // Its folder stays as it is, so that running it is no change of it.
    const env = { ...extensionEnvironment(manifest, deps.env, holds), PYTHONDONTWRITEBYTECODE: '1' };
    const running = startExtension(
      { command, args, cwd: checked.folder, env },
      {
        signal: leaving.signal,
        seams: true,
        onTraffic: tell.traffic,
        onStderr: tell.stderr,
        onFault: tell.fault,
        onDisabled: (method, group) => tellOnce(lackOf(method, group as SepGroup, manifest, holds)),
        onUiRequest: (request) => deps.ask(request),
        initialize: {
          host: { name: 'tenon', version: deps.version },
          workspace: { root: deps.workspace, trusted: true },
          mode: 'cli',
          ui_capabilities: [...wire.uiKinds],
          capabilities_enabled: groupsOn(manifest, holds),
        },
      },
    );
    try {
      const { registrations = {} } = await running.host.initialize();
      const own: Current = { running, registrations: registrations as Registrations };
      const before = current;
      for (const [key, value] of before?.running.host.kv ?? []) running.host.kv.set(key, value);
      current = own;
      tell.ready(own.registrations, manifest, Math.round(performance.now() - startedAt));
      for (const lack of lacksOf(own.registrations, manifest, holds)) tellOnce(lack);
      void running.exited.then((how) => {
        if (current !== own) return;
        current = undefined;
        if (!leaving.signal.aborted) tell.ended(how);
      });
      if (before) await end(before.running);
    } catch (error) {
      const wasClosed = running.host.isClosed;
      if (!wasClosed) await running.stop();
      const how = await running.exited;
      await running.stop();
      const why = wasClosed ? `it has ended with ${how} before it introduced itself` : (error as Error).message;
      if (!leaving.signal.aborted) tell.failed(why, current !== undefined);
    }
  }

  async function end(running: RunningExtension): Promise<void> {
    await running.host.shutdown({ timeoutMs: SHUTDOWN_MS }).catch(() => {});
    const patience = AbortSignal.timeout(SHUTDOWN_MS);
    await Promise.race([running.exited, new Promise((resolve) => patience.addEventListener('abort', resolve, { once: true }))]);
    await running.stop();
  }

  return {
    renew() {
      last = last.then(start);
      return last;
    },
    get current() {
      return current;
    },
    async close() {
      const own = current;
      current = undefined;
      if (own) await end(own.running);
      leaving.abort();
      await last;
    },
    kill: () => leaving.abort(),
  };
}
