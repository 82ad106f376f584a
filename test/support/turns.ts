// Turns without a gateway around them: the real store (in memory unless an engine is asked for), the real hooks, queue and
// turn, a scripted model, and tools that only note what was asked of them.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry, JsonObject, Message, PermissionMode, QueueMode, RunEnd, RunStream, SandboxState, Settings } from '@tenon/protocol';
import { settingNames, settingRow } from '@tenon/protocol';
import { Type } from 'typebox';
import { createAgentBook } from '../../packages/gateway/src/agent/agents.ts';
import { createApprovals } from '../../packages/gateway/src/agent/approvals.ts';
import { messagesOf } from '../../packages/gateway/src/agent/prompt.ts';
import { createTurnQueue, type TurnQueue } from '../../packages/gateway/src/agent/queue.ts';
import type { ExecPolicy } from '../../packages/gateway/src/agent/tools/exec-policy.ts';
import type { PreparedCall, Tool, ToolIo } from '../../packages/gateway/src/agent/tools/tool.ts';
import { runTurn } from '../../packages/gateway/src/agent/turn.ts';
import type { TurnDeps } from '../../packages/gateway/src/agent/turn-context.ts';
import { createPluginCaller, type PluginFailure } from '../../packages/gateway/src/host/call-plugin.ts';
import { createHookRegistry, type HookRegistry } from '../../packages/gateway/src/host/hook-registry.ts';
import { createHookRunner } from '../../packages/gateway/src/host/run-hook.ts';
import { tellJobs } from '../../packages/gateway/src/agent/schedule-hooks.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import type { Log } from '../../packages/gateway/src/kernel/log.ts';
import { createMetrics } from '../../packages/gateway/src/kernel/metrics.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '../../packages/gateway/src/model/scripted.ts';
import type { Model } from '../../packages/gateway/src/model/types.ts';
import { openMemoryStore } from '../../packages/gateway/src/store/memory.ts';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import { createMemoryDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import type { Store, StoreListener } from '../../packages/gateway/src/store/store.ts';
import { createDatabase } from './postgres.ts';
import type { Keeping } from './stores.ts';

export const KEY = 'agent:main:test';

export interface NotedCall {
  readonly name: string;
  readonly callId: string;
  readonly args: JsonObject;
}

export interface TurnWorldOptions {
  readonly engine?: Keeping;
  readonly steps?: readonly ScriptedStep[];
  readonly model?: Partial<Model['info']>;
  /** Further models, by their own ids. */
  readonly others?: readonly Model[];
  readonly fallbacks?: readonly string[];
  readonly clock?: Clock;
  readonly tools?: readonly Tool[];
  /** Plugins that may inject. */
  readonly injectors?: readonly string[];
  readonly permissions?: PermissionMode;
  readonly bounds?: Partial<TurnDeps['bounds']>;
  readonly execPolicy?: Partial<ExecPolicy>;
  /** Wraps what the turns are given, so that a test can make any of it fail. */
  readonly wrap?: (deps: TurnDeps) => TurnDeps;
  /** Goes on with the store of another world, as a gateway that comes back does. */
  readonly after?: TurnWorld;
}

export interface TurnWorld extends AsyncDisposable {
  readonly store: Store;
  readonly deps: TurnDeps;
  readonly model: ScriptedModel;
  readonly hooks: HookRegistry;
  readonly turns: TurnQueue;
  readonly said: RunStream[];
  readonly failures: PluginFailure[];
  readonly calls: NotedCall[];
  readonly logged: { level: string; fields: unknown; message: string }[];
  readonly workspace: string;
  readonly home: string;
  readonly ended: { runId: string; end: RunEnd }[];
  send(
    text: string,
    more?: { runId?: string; mode?: QueueMode; trigger?: 'user' | 'api' | 'heartbeat'; key?: string; options?: JsonObject },
  ): Promise<string>;
  /** Waits for the end of a run. */
  end(runId: string): Promise<RunEnd>;
  /** Sends, waits, and gives the end. */
  say(text: string, more?: Parameters<TurnWorld['send']>[1]): Promise<RunEnd>;
  path(key?: string): Promise<Entry[]>;
  messages(key?: string): Promise<Message[]>;
  /** Lets the first pending approval be decided. */
  decide(decision: 'allow-once' | 'allow-always' | 'deny'): Promise<void>;
  /** Stops everything at once and leaves the store as it is, as a kill does; gives what a new world goes on from. */
  abandon(): Promise<void>;
}

let count = 0;

export async function openTurns(options: TurnWorldOptions = {}): Promise<TurnWorld> {
  const { engine = 'memory', clock = systemClock } = options;
  const home = options.after?.home ?? mkdtempSync(join(tmpdir(), 'tenon-turns-'));
  const database = engine === 'postgres' && !options.after ? await createDatabase() : undefined;
  const said: RunStream[] = [];
  const failures: PluginFailure[] = [];
  const logged: TurnWorld['logged'] = [];
  const calls: NotedCall[] = [];
  const ended: TurnWorld['ended'] = [];
  const listeners: ((batch: Parameters<TurnQueue['committed']>[0]) => void)[] = [];

  const memory = engine === 'memory' && !options.after ? createMemoryDatabase(clock.now()) : undefined;
  const store = options.after?.store ?? (await open());
  listenersOf(store).add((batch) => {
    for (const listener of listeners) listener(batch);
  });

  async function open(): Promise<Store> {
    const listener: StoreListener = {
      events(batch) {
        for (const { event, payload } of batch) {
          if (event !== 'chat') continue;
          const { kind, runId, end } = JSON.parse(payload) as { kind: string; runId: string; end: RunEnd };
          if (kind === 'ended') ended.push({ runId, end });
        }
        for (const listener of listenersOf(store)) listener(batch);
      },
      auditHead() {},
      health() {},
    };
    if (memory) return openMemoryStore(memory, listener);
    return openStore(
      { home, engine: engine === 'postgres' ? engine : 'sqlite', url: database?.url ?? '', maxBytes: 0, now: clock.now() },
      listener,
    );
  }

  const log = logInto(logged);
  const metrics = createMetrics();
  const registry = createHookRegistry();
  const caller = createPluginCaller({ clock, metrics, reportFailure: (failure) => failures.push(failure) });
  const hooks = createHookRunner({ registry, caller, clock, metrics });
  const model = createScriptedModel(options.steps ?? [], { clock, info: { id: 'scripted', ...options.model } });
  const models = new Map<string, Model>([[model.info.id, model], ...(options.others ?? []).map((each) => [each.info.id, each] as const)]);
  const settings = testSettings(home, options);
  const agents = createAgentBook(settings, home, model.info.id);
  const approvals = createApprovals({ store, clock, log });
  const sandbox: SandboxState = { kind: 'none', reason: 'a test has none' };
  const deps: TurnDeps = {
    store,
    clock,
    random: () => 0,
    log,
    hooks,
    models: { list: () => [...models.values()].map(({ info }) => info), defaultId: model.info.id, get: (id) => models.get(id) },
    agents,
    tools: options.tools ?? noteTools(calls),
    injectors: () => options.injectors ?? [],
    approvals,
    execPolicy: async () => ({ policy: 'ask', allow: [], sandboxed: true, unsandboxed: 'policy', ...options.execPolicy }),
    sandbox: async () => sandbox,
    bounds: { attempts: 3, maxSteps: 20, maxCostUsd: 0, approvalMs: 60_000, ...options.bounds },
    publish(each) {
      said.push(each);
      turns.said(each);
    },
  };
  const turnDeps = options.wrap?.(deps) ?? deps;
  const turns = createTurnQueue({
    store,
    clock,
    log,
    maxActive: 64,
    runTurn: (lead, others, control) => runTurn(lead, others, turnDeps, control),
  });
  listeners.push(approvals.committed, turns.committed, (batch) => tellJobs(batch, turnDeps.hooks));

  async function send(text: string, more: Parameters<TurnWorld['send']>[1] = {}): Promise<string> {
    const { runId = `run-${++count}`, mode = 'followup', trigger = 'user', key = KEY, options: runOptions = {} } = more;
    await store.write('runs.accept', {
      key,
      runId,
      content: [{ type: 'text', text }],
      mode,
      trigger,
      principal: 'token:test',
      options: runOptions,
      at: clock.now(),
    });
    turns.accepted(key);
    return runId;
  }

  async function end(runId: string): Promise<RunEnd> {
    const waited = await turns.wait(runId, 100_000_000);
    if (waited?.run.end) return waited.run.end;
    throw new Error(`run ${runId} has not ended: ${JSON.stringify(logged.slice(-5))}`);
  }

  async function path(key = KEY): Promise<Entry[]> {
    return (await store.read('entries.path', { key, limit: 10_000 })).entries;
  }

  async function close(): Promise<void> {
    approvals.close();
    await turns.park(0);
  }

  return {
    store,
    deps,
    model,
    hooks: registry,
    turns,
    said,
    failures,
    calls,
    logged,
    home,
    ended,
    get workspace() {
      return realpathSync(agents.openWorkspace(agents.get('main')!));
    },
    send,
    end,
    say: async (text, more) => end(await send(text, more)),
    path,
    messages: async (key) => messagesOf(await path(key)),
    async decide(decision) {
      const { approvals: pending } = await store.read('approvals.list', { state: 'pending', limit: 1 });
      await store.write('approvals.resolve', { id: pending[0]!.id, decision, by: 'token:operator', at: clock.now() });
    },
    abandon: close,
    async [Symbol.asyncDispose]() {
      await close();
      await store.close();
      memory?.close();
      await database?.drop();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Every world that uses a store hears of its commits. */
const storeListeners = new WeakMap<Store, Set<(batch: Parameters<TurnQueue['committed']>[0]) => void>>();

function listenersOf(store: Store) {
  const known = storeListeners.get(store) ?? new Set();
  storeListeners.set(store, known);
  return known;
}

function testSettings(home: string, options: TurnWorldOptions): Settings {
  const defaults = Object.fromEntries(settingNames.map((name) => [name, settingRow(name).default]));
  return {
    ...defaults,
    'agent.permissions': options.permissions ?? 'bypass',
    'model.fallbacks': [...(options.fallbacks ?? [])],
    agents: [{ id: 'main', workspace: join(home, 'workspace') }],
  } as unknown as Settings;
}

interface NoteToolOptions {
  readonly name: string;
  readonly risk?: Tool['risk'];
  readonly idempotent?: boolean;
  readonly parallelSafe?: boolean;
  readonly run?: (args: JsonObject, io: ToolIo, callId: string) => Promise<string> | string;
}

/** A tool that notes its calls and answers with what `run` gives. */
export function noteTool(
  calls: NotedCall[],
  { name, risk = 'read', idempotent = false, parallelSafe = false, run }: NoteToolOptions,
): Tool {
  return {
    name,
    label: name,
    description: `Notes ${name}`,
    parameters: Type.Object({ value: Type.Optional(Type.String()) }, { additionalProperties: false }),
    risk,
    tags: [],
    idempotent,
    parallelSafe,
    prepare: (args, { callId, workspace }): PreparedCall => ({
      subject: String(args.value ?? ''),
      question: `Run ${name}?`,
      risk,
      exact: { tool: name, ...args },
      ...(risk === 'exec' ? { exec: { argv: [name, String(args.value ?? '')], cwd: workspace, env: {}, sandboxed: true } } : {}),
      async run(io) {
        calls.push({ name, callId, args });
        const text = (await run?.(args, io, callId)) ?? `${name} did ${args.value ?? 'nothing'}`;
        return { content: [{ type: 'text', text }] };
      },
    }),
  };
}

function noteTools(calls: NotedCall[]): Tool[] {
  return [
    noteTool(calls, { name: 'look', parallelSafe: true, idempotent: true }),
    noteTool(calls, { name: 'change', risk: 'write' }),
    noteTool(calls, { name: 'again', risk: 'write', idempotent: true }),
  ];
}

/** A log that a test can read. */
function logInto(lines: TurnWorld['logged']): Log {
  const write = (level: string) => (fields: unknown, message?: string) =>
    void lines.push({
      level,
      fields: typeof fields === 'string' ? {} : fields,
      message: typeof fields === 'string' ? fields : (message ?? ''),
    });
  const log = {
    trace: write('trace'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
  };
  return log as unknown as Log;
}
