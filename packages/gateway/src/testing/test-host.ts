// `createTestHost` of `@tenon/plugin-sdk/testing`: one plugin in a gateway that lives in memory, and what a test does with it.
// Everything goes through the methods that clients call, so that a test sees what they would see.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Approval,
  type Entry,
  GatewayError,
  type JsonObject,
  type JsonValue,
  PLUGIN_API_LEVEL,
  type PluginDetails,
  type Scope,
  type Session,
} from '@tenon/protocol';
import type { PluginEntry } from '@tenon/plugin-sdk';
import type { CallOptions, ShownDescriptor, TestHost, TestHostOptions, TurnOutcome } from '@tenon/plugin-sdk/testing';
import { checkManifest, type Found } from '../host/discover.ts';
import { randomId } from '../kernel/ids.ts';
import { createMemoryDatabase } from '../store/sqlite-file.ts';
import { createManualClock } from './manual-clock.ts';
import { createStandInModel, createStandInTools } from './stand-ins.ts';
import { openTestGateway } from './test-gateway.ts';

const ALL: readonly Scope[] = ['operator.admin'];
const START_AT = 1_700_000_000_000;
const PATIENCE_MS = 10_000;
const MAX_KEPT = 10_000;
/** Turns of the event loop in which nothing happens before it counts as quiet. */
const QUIET = 4;
const HISTORY = 200;

export async function createTestHost(plugin: PluginEntry, options: TestHostOptions = {}): Promise<TestHost> {
  const { sessionKey: main = 'agent:main:test', patienceMs = PATIENCE_MS, approve = 'deny', startAt = START_AT } = options;
  const clock = createManualClock(startAt);
  const found = foundOf(plugin, options);
  const id = found.manifest.id;
  const database = createMemoryDatabase(startAt);
  const filesHome = join(tmpdir(), `tenon-test-${randomId()}`);
  const model = createStandInModel(options.model, clock);
  const events: { event: string; payload: JsonObject }[] = [];
  const warnings: JsonObject[] = [];
  const sessions = new Set<string>();
  let runs = 0;
  let isClosed = false;

  const open = () =>
    openTestGateway({
      database,
      filesHome,
      clock,
      plugin: found,
      models: model.models,
      tools: createStandInTools(options.tools),
      secrets: options.secrets ?? {},
      heard,
      logged,
    });
  let gateway = await open();

  function heard(event: string, payload: JsonObject): void {
    keep(events, { event, payload });
    if (event === 'approval.requested') void answer(payload.approval as unknown as Approval);
  }

  function logged(line: string): void {
    const record = JSON.parse(line) as JsonObject;
    if (record.level !== 'info') keep(warnings, record);
  }

  /** Whoever asked is told; a test that is over has nobody who asks. */
  async function answer({ id: approvalId, title, toolName }: Approval): Promise<void> {
    const decision = typeof approve === 'function' ? approve({ title, ...(toolName === undefined ? {} : { tool: toolName }) }) : approve;
    await call('approvals.resolve', { id: approvalId, decision }).catch((error: Error) => keep(warnings, { message: error.message }));
  }

  function call(method: string, params: object = {}, { scopes = ALL }: Pick<CallOptions, 'scopes'> = {}): Promise<unknown> {
    if (isClosed) return Promise.reject(new GatewayError('UNAVAILABLE', 'The test host is closed'));
    return patiently(gateway.call(method, params, scopes), method);
  }

  async function patiently<Value>(work: Promise<Value>, what: string): Promise<Value> {
    const overdue = Promise.withResolvers<never>();
    const timer = setTimeout(() => overdue.reject(new Error(`${what} is not done after ${patienceMs} ms${hint()}`)), patienceMs);
    try {
      return await Promise.race([work, overdue.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  const hint = () => (clock.pending > 0 ? '; what waits for time to pass goes on with advance(ms)' : '');

  async function inSession(key: string = main): Promise<string> {
    if (sessions.has(key)) return key;
    sessions.add(key);
    await call('sessions.create', { key }).catch((error: { code?: string }) => {
      if (error.code !== 'CONFLICT') throw error;
    });
    await call('hooks.trace.record', { sessionKey: key });
    return key;
  }

  async function history(sessionKey: string): Promise<Entry[]> {
    return ((await call('chat.history', { sessionKey, limit: HISTORY })) as { entries: Entry[] }).entries;
  }

  async function settled(): Promise<void> {
    const until = performance.now() + patienceMs;
    let before = -1;
    for (let quiet = 0; quiet < QUIET; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const { turns, commits } = gateway.busy;
      quiet = turns === 0 && commits === before ? quiet + 1 : 0;
      before = commits;
      if (performance.now() > until) throw new Error(`${turns} turns are under way after ${patienceMs} ms${hint()}`);
    }
    await gateway.plugins.settled();
  }

  async function send(
    text: string,
    { sessionKey, override, ...rest }: CallOptions & { readonly override?: boolean } = {},
  ): Promise<TurnOutcome> {
    const key = await inSession(sessionKey);
    const last = (await history(key)).at(-1)?.id;
    const params = { sessionKey: key, message: text, idempotencyKey: `test-run-${++runs}-${id}`, ...(override ? { override } : {}) };
    const { runId, status, reply } = (await call('chat.send', params, rest)) as { runId: string; status: string; reply?: string };
    if (status === 'handled') throw new Error(`"${text}" is a command, which answers "${reply}"; use command()`);
    const waited = (await call('agent.wait', { runId, timeoutMs: patienceMs })) as { end: TurnOutcome['end']; text?: string };
    await settled();
    const entries = await history(key);
    return { runId, end: waited.end, reply: waited.text, entries: entries.slice(entries.findIndex((entry) => entry.id === last) + 1) };
  }

  async function plugins(): Promise<PluginDetails> {
    return ((await call('plugins.get', { id })) as { plugin: PluginDetails }).plugin;
  }

  async function requireLoaded(): Promise<void> {
    const { state, reason } = await plugins();
    if (state !== 'loaded') throw new Error(`Plugin "${id}" is not loaded: ${reason ?? state}`);
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    await gateway.close();
    database.close();
    rmSync(filesHome, { recursive: true, force: true });
  }

  try {
    if (options.config !== undefined) await call('plugins.config', { id, config: options.config });
    await call('plugins.enable', { id, ...(options.grants === undefined ? {} : { grants: options.grants }) });
    await requireLoaded();
    await inSession();
  } catch (error) {
    await close();
    throw error;
  }

  return {
    sessionKey: main,
    send,
    async command(text, { sessionKey, ...rest } = {}) {
      const { reply } = (await call('commands.invoke', { sessionKey: await inSession(sessionKey), text }, rest)) as { reply: string };
      await settled();
      return reply;
    },
    async press(actionId, payload, { sessionKey, ...rest } = {}) {
      const params = { pluginId: id, actionId, sessionKey: await inSession(sessionKey), ...(payload === undefined ? {} : { payload }) };
      const answered = await call('plugins.sessionAction', params, rest);
      await settled();
      return answered as Awaited<ReturnType<TestHost['press']>>;
    },
    async patch(action, payload, { sessionKey, fields = {}, ...rest } = {}) {
      const extension = { plugin: id, action, ...(payload === undefined ? {} : { payload }) };
      const { session } = (await call('sessions.patch', { key: await inSession(sessionKey), ...fields, extension }, rest)) as {
        session: Session;
      };
      await settled();
      return session;
    },
    call: <Answer = JsonValue>(method: string, params?: JsonObject, rest?: CallOptions) => call(method, params, rest) as Promise<Answer>,
    async state(namespace, sessionKey) {
      const states = await gateway.plugins.stateOf(id, await inSession(sessionKey));
      return states?.(namespace);
    },
    async shown(namespace, sessionKey) {
      const { session } = (await call('sessions.get', { key: await inSession(sessionKey) })) as { session: Session };
      return session.pluginExtensions?.find((each) => each.pluginId === id && each.namespace === namespace)?.value as JsonValue | undefined;
    },
    async advance(ms) {
      const until = clock.now() + ms;
      do {
        // From one time at which a job is due to the next: each begins at its time.
        const due = await gateway.nextDue();
        clock.advance(Math.max(0, Math.min(until, due ?? until) - clock.now()));
        await settled();
        // The scheduler may have looked while time went by; now it stands.
        clock.advance(0);
        await settled();
      } while (clock.now() < until);
    },
    settled,
    now: () => clock.now(),
    events,
    requests: model.requests,
    warnings,
    registrations: () => [...(gateway.plugins.get(id)?.registrations ?? [])],
    plugin: plugins,
    async descriptors(scopes) {
      return ((await call('plugins.uiDescriptors', {}, scopes)) as { descriptors: ShownDescriptor[] }).descriptors;
    },
    async trace(sessionKey) {
      return ((await call('hooks.trace', { sessionKey: await inSession(sessionKey) })) as { records: never[] }).records;
    },
    grant: async (...grants) => void (await call('plugins.grant', { id, grants })),
    revoke: async (...grants) => void (await call('plugins.revoke', { id, grants })),
    async reload() {
      await call('plugins.reload', { id });
      await requireLoaded();
    },
    async restart({ downMs = 0 } = {}) {
      await gateway.close();
      clock.advance(downMs);
      sessions.clear();
      gateway = await open();
      await requireLoaded();
      await inSession();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function foundOf(plugin: PluginEntry, { manifest, grants, config }: TestHostOptions): Found {
  const assumed = {
    id: plugin.id,
    name: plugin.name ?? plugin.id,
    version: '0.0.0',
    api: PLUGIN_API_LEVEL,
    grants: grants ?? [],
    ...(config === undefined ? {} : { configSchema: { type: 'object' } }),
  };
  return {
    origin: 'bundled',
    folder: process.cwd(),
    entry: '',
    manifest: checkManifest(JSON.stringify(manifest ?? assumed)),
    exported: plugin,
  };
}

/** Of a test that goes on for ever, the latest. */
function keep<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length > MAX_KEPT) list.shift();
}
