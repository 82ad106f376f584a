// For tests of this folder: the server with everything real but the turns, which a test writes the script of.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentInfo, ModelInfo, Run, RunEnd, RunStream, Scope } from '@tenon/protocol';
import { pino } from 'pino';
import type { Turns } from '../agent/service.ts';
import { createPluginCaller } from '../host/call-plugin.ts';
import { createContributionRegistry } from '../host/contribution-registry.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import { createMetrics, type Metrics } from '../kernel/metrics.ts';
import { createConnections, type Connections } from '../rpc/connections.ts';
import { createEventHub } from '../rpc/events.ts';
import { createHealthBoard } from '../rpc/health.ts';
import { createSignIn, type SignIn } from '../rpc/signin.ts';
import { createTokenMint, digestOf } from '../rpc/token-mint.ts';
import { openAttachmentFiles } from '../store/attachment-files.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createAuthenticator } from './auth.ts';
import { createPageFiles } from './page-files.ts';
import type { FindUid } from './peer-uid.ts';
import type { RoutePlugins } from './route.ts';
import { type NetServer, openNetServer } from './server.ts';

/** What a run says, and how it ends. Nothing: it goes on until it is stopped. */
export type Script = (run: { say(said: Said): void; run: Run }) => RunEnd | undefined | Promise<RunEnd | undefined>;

type Said = RunStream extends infer Each ? (Each extends RunStream ? Omit<Each, 'runId' | 'sessionKey' | 'seq' | 'ts'> : never) : never;

export interface TestServer extends AsyncDisposable {
  readonly net: NetServer;
  readonly store: Store;
  readonly connections: Connections;
  readonly signIn: SignIn;
  readonly metrics: Metrics;
  /** What was refused, by kind. */
  readonly refused: string[];
  /** Runs that were stopped. */
  readonly aborted: string[];
  readonly token: string;
  mint(scopes: readonly Scope[], sessionKey?: string): Promise<{ token: string; id: string }>;
  script: Script;
}

const models: ModelInfo[] = ['demo', 'gpt-x', 'away'].map((id) => ({
  id,
  provider: 'test',
  name: id,
  contextWindow: 100_000,
  images: true,
  thinking: true,
  usable: id !== 'away',
  isDefault: id === 'demo',
}));

const agents: AgentInfo[] = ['main', 'coder'].map((id) => ({
  id,
  name: id,
  workspace: '/nowhere',
  model: 'demo',
  fallbacks: [],
  thinking: 'off',
  permissions: 'ask',
  queue: 'collect',
  isDefault: id === 'main',
}));

export async function openTestServer({
  clock = systemClock,
  page,
  warnings = [],
  plugins = noPlugins,
  trustedProxies = [],
  findUid,
}: {
  trustedProxies?: readonly string[];
  findUid?: FindUid;
  clock?: Clock;
  plugins?: () => RoutePlugins;
  page?: string;
  warnings?: readonly string[];
} = {}): Promise<TestServer> {
  const home = mkdtempSync(join(tmpdir(), 'tenon-net-'));
  const quiet = { events: () => {}, auditHead: () => {}, health: () => {} };
  const store = await openSqliteStore({ file: join(home, 'tenon.db'), maxBytes: 0, now: clock.now() }, quiet);
  const log = pino({ enabled: false });
  const metrics = createMetrics();
  const refused: string[] = [];
  const incidents = { record: (kind: string) => void refused.push(kind), close() {} };
  const connections = createConnections({ clock, announce: () => {} });
  const events = createEventHub({ stream: store.stream, readStream: async () => [], clock, log, metrics });
  const mint = createTokenMint(Buffer.alloc(32, 7));
  let net: NetServer | undefined;
  const signIn = createSignIn({ clock, gatewayUrl: () => net?.url ?? '' });
  const token = 'tenon_the-shared-token';
  await store.write('tokens.putShared', { digest: digestOf(token), scopes: ['operator.admin'], at: clock.now() });

  const aborted: string[] = [];
  const turns = createScriptedTurns(store, clock, aborted, (run) => world.script(run));
  net = await openNetServer(
    { bind: '127.0.0.1', port: 0, allowedHosts: [], allowedOrigins: [], trustedProxies, ...(findUid ? { findUid } : {}) },
    {
      auth: createAuthenticator({ mode: 'token', store, clock, log, incidents }),
      clock,
      log,
      metrics,
      incidents,
      dispatch: () => ({ text: '', refused: true }),
      events,
      connections,
      health: createHealthBoard({ clock, startedAt: 0, onChange: () => {} }),
      ready: () => ({ ok: true }),
      plugins,
      extensions: () => ({ ...noPlugins(), list: () => [], get: () => undefined, reload: () => Promise.resolve([]) }),
      version: '0.0.0',
      warnings,
      bootId: randomId(),
      store,
      files: openAttachmentFiles({ home, store, clock, log, quotas: { sessionBytes: 1e9, totalBytes: 1e9 }, unusedMs: 1e9 }),
      mint,
      signIn,
      page: createPageFiles(page, () => {}),
      turns,
      agents: { list: () => agents, get: (id) => agents.find((agent) => agent.id === id) },
      ui: { request: () => Promise.resolve({ cancelled: true }), answered: () => {} },
      composer: { mayBeClosed: () => false, requireOpen: () => Promise.resolve() },
      models: { list: () => models, defaultId: 'demo', get: () => undefined },
    },
  );
  const opened = net;
  const world: TestServer = {
    net: opened,
    store,
    connections,
    signIn,
    metrics,
    refused,
    aborted,
    token,
    script: () => ({ kind: 'completed' }),
    async mint(scopes, sessionKey) {
      const id = randomId();
      const secret = mint.strike(id);
      const record = { id, name: 'test', scopes, sessionKey: sessionKey ?? null, expiresAt: null, limit: 100 };
      await store.write('tokens.create', { ...record, ...secret, actor: 'test', at: clock.now(), held: scopes });
      return { token: mint.reveal(id, secret.salt), id };
    },
    async [Symbol.asyncDispose]() {
      connections.closeAll(1012, 'test over');
      await opened.close();
      events.close();
      await store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return world;
}

function noPlugins(): RoutePlugins {
  const caller = createPluginCaller({ clock: systemClock, metrics: createMetrics(), reportFailure: () => {} });
  return { registry: createContributionRegistry(), caller, holds: () => false };
}

/** Real runs in a real store; what happens in between is the script. */
function createScriptedTurns(store: Store, clock: Clock, aborted: string[], script: Script): Turns {
  const watchers = new Map<string, Set<(said: RunStream) => void>>();
  const started = new Set<string>();
  const texts = new Map<string, string>();
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (runId: string) => {
    const known = ends.get(runId) ?? Promise.withResolvers<void>();
    ends.set(runId, known);
    return known;
  };

  async function end(run: Run, how: RunEnd): Promise<void> {
    await store.write('runs.end', { key: run.sessionKey, runId: run.runId, end: how, at: clock.now() });
    endOf(run.runId).resolve();
  }

  async function play(run: Run): Promise<void> {
    let seq = 0;
    const say = (said: Said) => {
      if (said.stream === 'assistant') texts.set(run.runId, (texts.get(run.runId) ?? '') + said.delta);
      if (said.stream === 'tool' || (said.stream === 'lifecycle' && said.phase === 'discarded')) texts.delete(run.runId);
      const whole = { runId: run.runId, sessionKey: run.sessionKey, seq: seq++, ts: clock.now(), ...said } as RunStream;
      for (const listener of watchers.get(run.runId) ?? []) listener(whole);
    };
    const how = await script({ say, run });
    if (how) await end(run, how);
  }

  return {
    running: () => undefined,
    accepted(sessionKey) {
      void store.read('runs.queued', { key: sessionKey }).then(({ runs }) => {
        for (const { run } of runs) {
          if (started.has(run.runId)) continue;
          started.add(run.runId);
          void play(run);
        }
      });
    },
    stopFor() {},
    async abort(sessionKey, runId) {
      const { run } = await store.read('runs.get', { runId: runId ?? '' });
      aborted.push(`${sessionKey} ${run.runId}`);
      await end(run, { kind: 'aborted' });
      return [run.runId];
    },
    async wait(runId) {
      if ((await store.read('runs.get', { runId })).run.state !== 'ended') await endOf(runId).promise;
      const text = texts.get(runId);
      return { run: (await store.read('runs.get', { runId })).run, ...(text === undefined ? {} : { text }) };
    },
    watch(runId, listener) {
      const listeners = watchers.get(runId) ?? new Set();
      watchers.set(runId, listeners.add(listener));
      return () => void listeners.delete(listener);
    },
  };
}
