// The plugin host without a gateway around it: a real store, real plugin folders in a temporary home, the real loader. What
// a plugin of a test notes, the test reads: both sides know the same list.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OutgoingDelivery, RegisterApi } from '@tenon/plugin-sdk';
import { DEFAULT_CHANNEL, type EventPayload, GatewayError, type RunStream } from '@tenon/protocol';
import { pino } from 'pino';
import { createCallCounts } from '../../packages/gateway/src/host/call-counts.ts';
import { createPluginCaller, type PluginFailure } from '../../packages/gateway/src/host/call-plugin.ts';
import { createHookRegistry, type HookRegistry } from '../../packages/gateway/src/host/hook-registry.ts';
import { openPlugins } from '../../packages/gateway/src/host/open-plugins.ts';
import type { OwnEvent } from '../../packages/gateway/src/host/plugin-api.ts';
import type { PluginHost, PluginHostOptions } from '../../packages/gateway/src/host/plugin-host.ts';
import type { PersonQuestion } from '../../packages/gateway/src/host/plugin-questions.ts';
import { createTurnSchedules } from '../../packages/gateway/src/agent/turn-schedules.ts';
import { createHookRunner, type HookRunner } from '../../packages/gateway/src/host/run-hook.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { createMetrics, type Metrics } from '../../packages/gateway/src/kernel/metrics.ts';
import { type AttachmentFiles, openAttachmentFiles } from '../../packages/gateway/src/store/attachment-files.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { openWorld } from './stores.ts';

export const SESSION = 'agent:main:one';
/** In `register`: state of its own. */
export const EXTENSION = `api.registerSessionExtension({ namespace: 'box', description: 'A box' });`;
/** In `register`: hands the api to the test, see `lastApi`. */
export const KEEP = `note(api);`;

export interface PluginSource {
  readonly id: string;
  readonly grants?: readonly string[];
  /** The body of `register(api)`. `note(value)` tells the test something. */
  readonly register?: string;
  /** In place of the whole module. */
  readonly module?: string;
  /** Further fields of the default export. */
  readonly more?: string;
  /** Over the fields of the manifest. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly entry?: string;
}

/** Writes the folder of a plugin, or writes it anew. */
export function writePlugin(place: string, source: PluginSource): string {
  const folder = join(place, source.id);
  const manifest = { id: source.id, name: `The ${source.id}`, version: '1.0.0', api: 1, grants: source.grants ?? [], ...source.manifest };
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755);
  put(join(folder, 'tenon.plugin.json'), JSON.stringify(manifest));
  put(join(folder, source.entry ?? 'index.js'), source.module ?? moduleOf(source));
  return folder;
}

/** A file as plugins must have them, whatever the mask of whoever runs the tests. */
export function put(file: string, content: string): void {
  writeFileSync(file, content);
  chmodSync(file, 0o644);
}

function moduleOf({ id, register = '', more = '' }: PluginSource): string {
  return `import { definePluginEntry } from '@tenon/plugin-sdk';
const note = (value) => globalThis[Symbol.for('tenon.test.notes')]?.push(value);
export default definePluginEntry({ id: '${id}', register(api) { ${register} }, ${more} });
`;
}

/** Enough for what tests keep, and little enough to reach. */
const QUOTAS = { sessionBytes: 40_000_000, totalBytes: 60_000_000 };

/** The api that a plugin of the test noted last. */
export function lastApi({ notes }: Pick<HostWorld, 'notes'>): RegisterApi {
  return notes.findLast((note) => typeof note === 'object' && note !== null && 'lifecycle' in note) as RegisterApi;
}

/** For `assert.rejects`. */
export function isGatewayError(code: string, text: RegExp) {
  return (error: unknown) => error instanceof GatewayError && error.code === code && text.test(error.message);
}

export interface HostWorld extends AsyncDisposable {
  readonly home: string;
  /** The setting `plugins.paths` has this folder. */
  readonly place: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly hookRegistry: HookRegistry;
  readonly hooks: HookRunner;
  readonly metrics: Metrics;
  readonly failures: PluginFailure[];
  readonly changed: EventPayload<'plugins.changed'>[];
  readonly required: EventPayload<'action.required'>[];
  readonly said: RunStream[];
  readonly files: AttachmentFiles;
  /** Of every agent. */
  readonly workspace: string;
  readonly emitted: OwnEvent[];
  readonly questions: PersonQuestion[];
  /** What the operator keeps. */
  readonly secrets: Map<string, string>;
  readonly logged: Record<string, unknown>[];
  /** What plugins noted. */
  readonly notes: unknown[];
  readonly continued: unknown[];
  /** Opens the host; the one before is closed. */
  open(options?: Partial<PluginHostOptions>): Promise<PluginHost>;
}

export async function openHostWorld(clock: Clock = systemClock): Promise<HostWorld> {
  const stores = await openWorld('memory');
  const { store, home } = stores;
  await store.write('sessions.create', { key: SESSION, fields: {}, at: 1 });
  const place = join(home, 'plugins');
  mkdirSync(place, { mode: 0o755 });
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { mode: 0o700 });
  const notes: unknown[] = [];
  Object.defineProperty(globalThis, Symbol.for('tenon.test.notes'), { value: notes, configurable: true });
  const failures: PluginFailure[] = [];
  const changed: EventPayload<'plugins.changed'>[] = [];
  const said: RunStream[] = [];
  const emitted: OwnEvent[] = [];
  const questions: PersonQuestion[] = [];
  const secrets = new Map<string, string>();
  const logged: Record<string, unknown>[] = [];
  const continued: unknown[] = [];
  const log = pino({ level: 'debug', base: null, messageKey: 'message' }, { write: (text: string) => logged.push(JSON.parse(text)) });
  const metrics = createMetrics();
  const counts = createCallCounts(clock);
  const caller = createPluginCaller({ clock, metrics, counts, reportFailure: (failure) => failures.push(failure) });
  const hookRegistry = createHookRegistry();
  let host: PluginHost | undefined;
  const files = openAttachmentFiles({ home, store, clock, log, quotas: QUOTAS, unusedMs: 86_400_000 });
  const stateOf: PluginHost['stateOf'] = (plugin, sessionKey) => host?.stateOf(plugin, sessionKey);
  const hooks = createHookRunner({ registry: hookRegistry, caller, clock, metrics, stateOf });
  return {
    home,
    place,
    store,
    clock,
    hookRegistry,
    hooks,
    metrics,
    failures,
    changed,
    get required() {
      const told = stores.told.events.filter(({ event }) => event === 'action.required');
      return told.map(({ payload }) => JSON.parse(payload) as EventPayload<'action.required'>);
    },
    said,
    files,
    workspace,
    emitted,
    questions,
    secrets,
    logged,
    notes,
    continued,
    async open(options = {}) {
      await host?.close();
      host = await openPlugins({
        home,
        paths: ['plugins'],
        store,
        clock,
        log,
        metrics,
        hookRegistry,
        caller,
        counts,
        publish: {
          changed: (payload) => changed.push(payload),
          said: (event) => said.push(event),
          event: (event) => emitted.push(event),
        },
        files,
        sendRoots: [],
        workspaceOf: () => workspace,
        receive: ({ channel, from }) => Promise.resolve({ sessionKey: `agent:main:${channel}:${from}`, runId: 'run-run-run-run-run' }),
        press: () => Promise.resolve({ pluginId: 'one' }),
        readSecret: (name) => secrets.get(name),
        askPerson: (question) => {
          questions.push(question);
          return Promise.resolve({ kind: 'decided', decision: 'allow-once', by: 'person' });
        },
        schedules: createTurnSchedules({ store, clock }),
        continueAgent: (request) => {
          continued.push(request);
          return Promise.resolve({ ok: true, runId: 'run-run-run-run-run' });
        },
        ...options,
      });
      // The page, the terminal and programs.
      const webchat = { id: DEFAULT_CHANNEL, label: 'Webchat', send: ({ entryId }: OutgoingDelivery) => ({ id: entryId }) };
      host.registry.add({ plugin: DEFAULT_CHANNEL, pluginName: 'Webchat', generation: 0 }, 'channel', webchat);
      return host;
    },
    async [Symbol.asyncDispose]() {
      await host?.close();
      await files.close();
      await stores[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
