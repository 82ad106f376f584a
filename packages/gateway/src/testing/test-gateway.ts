// A gateway without sockets and files around one plugin that is given: the real store code in memory, the real turns, host and
// dispatch, over a clock that is moved by hand. `open` again on the same database is a restart.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DEFAULT_CHANNEL, GatewayError, type Scope, settingNames, settingRow, type Settings } from '@tenon/protocol';
import type { OutgoingDelivery } from '@tenon/plugin-sdk';
import { openAgents } from '../agent/open-agents.ts';
import type { Tools } from '../agent/tools/tools.ts';
import type { Found } from '../host/discover.ts';
import { openPlugins } from '../host/open-plugins.ts';
import type { PluginHost } from '../host/plugin-host.ts';
import type { Clock } from '../kernel/clock.ts';
import { createLogBook } from '../kernel/log.ts';
import { createMetrics } from '../kernel/metrics.ts';
import type { Models } from '../model/types.ts';
import { createConfigService } from '../rpc/config-service.ts';
import { createConnections, type Connection } from '../rpc/connections.ts';
import { createDispatch } from '../rpc/dispatch.ts';
import { createDoctor } from '../rpc/doctor.ts';
import { createEventHub } from '../rpc/events.ts';
import { handlers } from '../rpc/handlers.ts';
import { createHealthBoard } from '../rpc/health.ts';
import { tellClients } from '../rpc/plugin-events.ts';
import { createPrincipal } from '../rpc/principal.ts';
import { createSignIn } from '../rpc/signin.ts';
import { createTokenMint } from '../rpc/token-mint.ts';
import { openAttachmentFiles } from '../store/attachment-files.ts';
import { openMemoryStore } from '../store/memory.ts';
import type { StoredEvent } from '../store/stream.ts';

export interface TestGatewayOptions {
  readonly database: DatabaseSync;
  /** For what is kept as files; made when something is. */
  readonly filesHome: string;
  readonly clock: Clock;
  readonly plugin: Found;
  readonly models: Models;
  readonly tools: Tools;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly heard: (event: string, payload: never) => void;
  readonly logged: (line: string) => void;
}

export interface TestGateway {
  readonly plugins: PluginHost;
  /** The payload of the answer. Rejects with GatewayError. */
  call(method: string, params: object, scopes: readonly Scope[]): Promise<unknown>;
  /** Turns that run, and how much was written so far: when both stand still, nothing is under way. */
  readonly busy: { readonly turns: number; readonly commits: number };
  /** When a job is due next. */
  nextDue(): Promise<number | undefined>;
  close(): Promise<void>;
}

const VERSION = '0.0.0-test';
const NO_URL = () => '';

export async function openTestGateway({
  database,
  clock,
  plugin,
  models,
  tools,
  filesHome,
  secrets = {},
  heard,
  logged,
}: TestGatewayOptions): Promise<TestGateway> {
  const settings = testSettings();
  const home = tmpdir();
  const startedAt = clock.now();
  const logBook = createLogBook({ file: '', level: 'info', maxBytes: 0, files: 0 }, { write: logged, lost: 0, close: () => {} });
  const { log } = logBook;
  const metrics = createMetrics();
  const listeners: ((batch: readonly StoredEvent[]) => void)[] = [];
  const health = createHealthBoard({ clock, startedAt: clock.monotonic(), onChange: () => {} });
  const store = openMemoryStore(database, {
    events: (batch) => {
      for (const listener of listeners) listener(batch);
    },
    auditHead: () => {},
    health: (state) => health.set('store', state.ok ? undefined : state.reason),
  });
  const files = openAttachmentFiles({
    home: filesHome,
    store,
    clock,
    log,
    quotas: { sessionBytes: settings['attachments.maxSessionBytes'], totalBytes: settings['attachments.maxBytes'] },
    unusedMs: settings['attachments.unusedMs'],
  });
  const hub = createEventHub({
    stream: store.stream,
    readStream: (after, limit) => store.read('stream.read', { after, limit }),
    clock,
    log,
    metrics,
  });
  hub.join(sinkOf(heard), { names: undefined, resume: undefined });
  const agents = openAgents({
    home,
    settings,
    configFile: '',
    version: VERSION,
    startedAt,
    env: {},
    store,
    files,
    clock,
    log,
    metrics,
    publish: (said) => hub.publish('agent', said),
    traced: (more) => hub.publish('hooks.traced', more),
    people: {
      isWatched: (key) => hub.isHeard('ui.requested', key, { capability: 'ui', scope: 'operator.write' }),
      shown: (shown) => hub.publish('ui.shown', shown),
      notified: (notice) => hub.publish('ui.notified', notice),
    },
    secrets: () => [],
    gatewayUrl: NO_URL,
    gatewayPort: () => undefined,
    health: () => [],
    models,
    tools,
  });
  listeners.push(hub.committed, agents.committed);
  const plugins = await openPlugins({
    ...agents.forPlugins,
    home: filesHome,
    files,
    sendRoots: [],
    paths: [],
    given: [plugin],
    readSecret: (name) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined),
    store,
    clock,
    log,
    metrics,
    publish: tellClients(hub, agents.said),
  });
  const webchat = { id: DEFAULT_CHANNEL, label: 'Webchat', send: ({ entryId }: OutgoingDelivery) => ({ id: entryId }) };
  plugins.registry.add({ plugin: DEFAULT_CHANNEL, pluginName: 'Webchat', generation: 0 }, 'channel', webchat);
  listeners.push(plugins.committed);
  agents.usePlugins(plugins);
  const sources = Object.fromEntries(settingNames.map((name) => [name, 'default' as const])) as Parameters<
    typeof createConfigService
  >[0]['sources'];
  const config = createConfigService({ home, file: '', settings, sources }, () => {});
  const auditChain = async () => ({ ok: true, checked: 0 });
  const dispatch = createDispatch(
    handlers,
    {
      ...agents,
      store,
      files,
      clock,
      log,
      logBook,
      health,
      connections: createConnections({ clock, announce: () => {} }),
      events: hub,
      config: { ...config, patch: () => Promise.reject(new GatewayError('UNAVAILABLE', 'A test host has no settings file')) },
      doctor: createDoctor({ home, filesHome, store, logBook, warnings: [], auditChain, plugins: () => plugins }),
      mint: createTokenMint(Buffer.alloc(32)),
      signIn: createSignIn({ clock, gatewayUrl: NO_URL }),
      about: { version: VERSION, startedAt, url: NO_URL, warnings: [], auditChain },
      shutdown: () => {},
      plugins: () => plugins,
    },
    metrics,
  );
  await agents.heartbeat.resume();
  await agents.turns.resume();
  agents.scheduler.start();
  agents.hooks.run('gateway_start', { port: 0 });
  let requests = 0;

  return {
    plugins,
    async call(method, params, scopes) {
      const id = `t${++requests}`;
      const { text } = await dispatch({ type: 'req', id, method, params: params as never }, connectionOf(scopes, startedAt));
      const answer = JSON.parse(text) as { ok: boolean; payload?: unknown; error?: { code: never; message: string; details?: never } };
      if (answer.ok) return answer.payload;
      const { code, message, details } = answer.error!;
      throw new GatewayError(code, message, details === undefined ? {} : { details });
    },
    get busy() {
      return { turns: agents.turns.active, commits: store.stats.commits };
    },
    nextDue: async () => (await store.read('jobs.nextDue', {})).at,
    async close() {
      await agents.scheduler.stop();
      agents.hooks.run('gateway_stop', { reason: 'the test host is closed' });
      await plugins.close();
      await agents.close();
      hub.close();
      await files.close();
      await store.close();
    },
  };
}

/** The defaults, but for what would make a test wait: a model that fails is not asked again. */
function testSettings(): Settings {
  const defaults = Object.fromEntries(settingNames.map((name) => [name, settingRow(name).default]));
  return { ...defaults, 'model.attempts': 1, 'exec.sandbox': 'off', agents: [{ id: 'main', workspace: tmpdir() }] } as unknown as Settings;
}

function principalOf(scopes: readonly Scope[]) {
  return createPrincipal({ id: 'token:test', method: 'token', scopes });
}

function connectionOf(scopes: readonly Scope[], connectedAt: number): Connection {
  return {
    id: 'test',
    principal: principalOf(scopes),
    client: { id: 'test', version: VERSION, platform: process.platform, mode: 'test' } as unknown as Connection['client'],
    connectedAt,
    address: join('test', 'host'),
    subscription: undefined,
    revoked: false,
    close: () => {},
  };
}

function sinkOf(heard: TestGatewayOptions['heard']): Parameters<ReturnType<typeof createEventHub>['join']>[0] {
  return {
    principal: principalOf(['operator.admin']),
    resumes: false,
    send(frame) {
      const { event, payload } = JSON.parse(frame.toString()) as { event: string; payload: never };
      heard(event, payload);
    },
    bufferedBytes: () => 0,
    close: () => {},
  };
}
