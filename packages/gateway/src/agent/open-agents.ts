// Builds everything that turns need, from the hooks to the queue, over one store.
import { join } from 'node:path';
import { hookNames, isPluginPlace, pluginPlaceNames, type RunStream, type SandboxState, type Settings } from '@tenon/protocol';
import { createCallCounts } from '../host/call-counts.ts';
import { createCallTimeouts } from '../host/call-timeouts.ts';
import { createPluginCaller, type PluginFailure } from '../host/call-plugin.ts';
import { createConflictReport } from '../host/conflicts.ts';
import { createHookRegistry, type HookRegistry } from '../host/hook-registry.ts';
import { createPluginActivity } from '../host/plugin-activity.ts';
import type { PluginHostOptions } from '../host/plugin-host.ts';
import { createHookRunner, type HookRunner } from '../host/run-hook.ts';
import { createTrace, type Trace, type TraceDeps } from '../host/trace.ts';
import type { Clock } from '../kernel/clock.ts';
import { createLanes, type Lanes } from '../kernel/lane.ts';
import type { Log } from '../kernel/log.ts';
import { didYouMean } from '../kernel/nearest.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { readSecretFile, removeSecretFile, writeSecretFile } from '../kernel/secret-files.ts';
import { demoKinds } from '../model/demo-kinds.ts';
import { demoTasks } from '../model/demo-tasks.ts';
import { readKeyFile } from '../model/key-file.ts';
import { createModels, keyEnvNames } from '../model/models.ts';
import type { Models } from '../model/types.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';
import { type AgentBook, agentIdOf, createAgentBook } from './agents.ts';
import { createApprovals } from './approvals.ts';
import type { CommandDeps } from './commands.ts';
import { pressInChannel } from './channel-press.ts';
import { type Composer, createComposer } from './composer.ts';
import { continueAgent } from './continue-agent.ts';
import { createSessionDesk } from './extension-desk.ts';
import { createEventFollowers, type EventFollowers } from './follow-events.ts';
import { createHeartbeat, type Heartbeat } from './heartbeat.ts';
import { withPluginModels } from './plugin-models.ts';
import { injectorsOf, type PluginParts, pluginTools } from './plugin-tools.ts';
import { askPerson } from './plugin-questions.ts';
import { createSignIns, type ProviderSignIns } from './provider-sign-in.ts';
import { tellJobs } from './schedule-hooks.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { receiveMessage } from './receive-message.ts';
import { createPrograms } from './run-program.ts';
import { createTurnQueue, type TurnQueue } from './queue.ts';
import { attachmentTool } from './tools/attachment-tool.ts';
import type { ExecPolicy } from './tools/exec-policy.ts';
import { scheduleTool } from './tools/schedule-tool.ts';
import type { Tool } from './tools/tool.ts';
import { openTools, type Tools } from './tools/tools.ts';
import { createTranscripts, type Transcripts } from './transcripts.ts';
import { runTurn } from './turn.ts';
import type { Turn, TurnDeps } from './turn-context.ts';
import { createTurnSchedules } from './turn-schedules.ts';
import { createUiRelay, type UiRelay, type UiRelayDeps } from './ui-relay.ts';
import { createWake, type Wake } from './wake.ts';

export interface AgentOptions {
  readonly home: string;
  readonly settings: Settings;
  readonly configFile: string;
  readonly version: string;
  readonly startedAt: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: Store;
  readonly files: AttachmentFiles;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** To every client that may see it. */
  readonly publish: (said: RunStream) => void;
  readonly traced: TraceDeps['tell'];
  /** The people who watch the sessions. */
  readonly people: Pick<UiRelayDeps, 'isWatched' | 'shown' | 'notified'>;
  /** Values that nobody may find in what is kept for people to read. */
  readonly secrets: () => readonly string[];
  readonly gatewayUrl: () => string;
  readonly gatewayPort: () => number | undefined;
  readonly health: () => readonly string[];
  /** In place of those that the settings name. */
  readonly models?: Models;
  /** In place of those that work on files and programs. */
  readonly tools?: Tools;
}

export interface AgentParts {
  readonly hookRegistry: HookRegistry;
  readonly hooks: HookRunner;
  readonly trace: Trace;
  readonly models: Models;
  readonly signIns: ProviderSignIns;
  readonly agents: AgentBook;
  /** Those of the gateway and of the plugins that are loaded now. */
  readonly allTools: () => readonly Tool[];
  readonly turns: TurnQueue;
  /** For work of plugins in a session that must not overtake itself. */
  readonly lanes: Lanes;
  readonly wake: Wake;
  readonly scheduler: Scheduler;
  readonly heartbeat: Heartbeat;
  readonly composer: Composer;
  /** What extensions ask and show people. */
  readonly ui: UiRelay;
  readonly transcripts: Transcripts;
  readonly commands: CommandDeps;
  readonly sandbox: () => Promise<SandboxState>;
  readonly execPolicy: () => Promise<ExecPolicy>;
  /** Ends the background jobs of a session. */
  readonly endJobs: (sessionKey: string) => void;
  /** What the host of the plugins is made with. */
  readonly forPlugins: Pick<
    PluginHostOptions,
    | 'hookRegistry'
    | 'hooks'
    | 'caller'
    | 'counts'
    | 'activity'
    | 'reservedTools'
    | 'reservedModels'
    | 'continueAgent'
    | 'askPerson'
    | 'runProgram'
    | 'schedules'
    | 'workspaceOf'
    | 'receive'
    | 'press'
    | 'people'
    | 'desk'
  >;
  /** From now on turns use what they have registered. */
  usePlugins(plugins: PluginParts): void;
  /** What a plugin says in a stream of its own: to whoever watches. */
  said(said: RunStream): void;
  /** From the store, after the commit. */
  committed(batch: readonly StoredEvent[]): void;
  close(): Promise<void>;
}

/** Turns at the same time, over all sessions. */
const MAX_TURNS = 256;
const OUTPUT_FOLDER = 'output';
const CLOSE_BUDGET_MS = 2_000;

export function openAgents(options: AgentOptions): AgentParts {
  const { home, settings, store, clock, log, metrics } = options;
  const hookRegistry = createHookRegistry();
  const lanes = createLanes();
  // Not under `message`: that is the text of the record itself, and the later one of two is all that a reader gets.
  const reportFailure = ({ message: reason, ...failure }: PluginFailure) => log.warn({ ...failure, reason }, 'a plugin failed');
  let plugins: PluginParts | undefined;
  const reportConflict = createConflictReport({ log, metrics });
  const counts = createCallCounts(clock);
  const activity = createPluginActivity(clock);
  const timeouts = createCallTimeouts(settings['plugins.timeouts']);
  for (const { place } of settings['plugins.timeouts']) {
    if (place === undefined || isPluginPlace(place)) continue;
    log.warn(
      { place },
      `plugins.timeouts names a place that there is not${didYouMean(place, [...hookNames, ...pluginPlaceNames])}; it has no effect`,
    );
  }
  const trace = createTrace({ clock, tell: options.traced, secrets: () => [...options.secrets(), ...modelKeys(options)] });
  const caller = createPluginCaller({ clock, metrics, reportFailure, counts, trace, activity, timeouts });
  const hooks = createHookRunner({
    registry: hookRegistry,
    caller,
    clock,
    metrics,
    stateOf: (plugin, sessionKey) => plugins?.stateOf(plugin, sessionKey),
    missingGuard: (name) => plugins?.missingGuard(name),
    reportConflict,
  });
  let followers: EventFollowers | undefined;
  const tools =
    options.tools ??
    openTools({
      clock,
      settings,
      env: options.env,
      home,
      outputFolder: join(home, OUTPUT_FOLDER),
      gatewayPort: options.gatewayPort,
      keyNames: () => keyEnvNames(settings.models),
    });
  // Those that work on the store.
  const ownTools = options.tools
    ? tools.tools
    : [...tools.tools, scheduleTool({ store, clock }), attachmentTool({ store, files: options.files })];
  const { sandbox } = tools;
  const execPolicy = async (): Promise<ExecPolicy> => ({
    policy: settings['exec.policy'],
    allow: settings['exec.allow'],
    sandboxed: (await sandbox()).kind !== 'none',
    unsandboxed: settings['exec.unsandboxed'],
  });
  const idleTimeoutMs = settings['model.idleTimeoutMs'];
  const ownModels =
    options.models ??
    createModels({
      configs: settings.models,
      defaultId: settings['model.default'],
      env: options.env,
      clock,
      idleTimeoutMs,
      readSecretFile: (file) => readKeyFile(file, home),
      demoFacts,
    });
  const signIns = createSignIns({
    ...{ plugins: () => plugins, store, clock, log },
    readSecret: (name) => readSecretFile(home, options.env, name),
    writeSecret: (name, value) => writeSecretFile(home, name, value),
    removeSecret: (name) => removeSecretFile(home, name),
  });
  const models = withPluginModels(ownModels, { plugins: () => plugins, clock, metrics, idleTimeoutMs, ready: signIns.ready });
  const agents = createAgentBook(settings, home, models.defaultId);
  const approvals = createApprovals({ store, clock, log });
  const turns = createTurnQueue({
    store,
    clock,
    log,
    maxActive: MAX_TURNS,
    async runTurn(lead, others, control) {
      // It had the tools and the models of extensions, whose processes are being started beside everything else.
      if (lead.run.state === 'running') await Promise.race([plugins?.started, aborted(control.waits)]);
      await runTurn(lead, others, turnDeps, control);
    },
  });
  const allTools = (): readonly Tool[] => (plugins ? [...ownTools, ...pluginTools(plugins)] : ownTools);
  const publish = (said: RunStream): void => {
    options.publish(said);
    turns.said(said);
    followers?.said(said);
  };
  const wake = createWake({
    store,
    clock,
    log,
    isOn: settings['plugins.wake'],
    plugins: () => plugins,
    accepted: (key) => turns.accepted(key),
  });
  const scheduler = createScheduler({
    ...{ store, clock, log, metrics },
    accepted: (key) => turns.accepted(key),
    reconciled: (facts) => hooks.run('cron_reconciled', facts),
  });
  const heartbeat = createHeartbeat({ store, clock, log, agents, turns, settings, home });
  const turnDeps = {
    store,
    clock,
    random: Math.random,
    log,
    hooks,
    hookBudget: { limitMs: settings['plugins.turnBudgetMs'], clock, log, metrics, counts },
    models,
    agents,
    get tools() {
      return allTools();
    },
    get plugins() {
      return plugins;
    },
    injectors: () => (plugins ? injectorsOf(plugins) : []),
    reportConflict,
    wake: wake.afterTurn,
    approvals,
    execPolicy,
    sandbox,
    bounds: {
      attempts: settings['model.attempts'],
      maxSteps: settings['agent.maxSteps'],
      maxCostUsd: settings['agent.maxTurnCostUsd'],
      approvalMs: settings['approvals.expireMs'],
    },
    publish,
    live: new Map<string, Turn>(),
  } satisfies TurnDeps;
  const programs = createPrograms(turnDeps);
  const ui = createUiRelay({
    ...{ store, clock, log, metrics, ...options.people },
    channels: () => plugins?.questions,
    answerMs: settings['extensions.answerMs'],
    autoConfirm: settings['extensions.autoConfirm'],
  });
  const composer = createComposer({ store, plugins: () => plugins });
  const transcripts = createTranscripts({ store, clock, hooks, models, agents });

  async function demoFacts() {
    const { sessions, nextCursor } = await store.read('sessions.list', { limit: 10 });
    const { approvals: pending } = await store.read('approvals.list', { state: 'pending', limit: 20 });
    const { kind, reason } = await sandbox();
    return {
      version: options.version,
      startedAt: options.startedAt,
      address: options.gatewayUrl(),
      configFile: options.configFile,
      store: store.engine,
      sessions,
      moreSessions: nextCursor !== undefined,
      pendingApprovals: pending.length,
      permissions: settings['agent.permissions'],
      sandbox: kind === 'none' ? `Programs run without a sandbox: ${reason}.` : `Programs run in a sandbox (${kind}).`,
    };
  }

  return {
    hookRegistry,
    hooks,
    trace,
    models,
    signIns,
    agents,
    allTools,
    turns,
    lanes,
    wake,
    scheduler,
    heartbeat,
    composer,
    ui,
    transcripts,
    commands: {
      store,
      clock,
      hooks,
      models,
      agents,
      turns,
      wake,
      transcripts,
      endJobs: tools.endJobs,
      plugins: () => plugins,
      gatewayStatus: () => [
        `Gateway: Tenon ${options.version} at ${options.gatewayUrl()}, running turns: ${turns.active}`,
        ...options.health(),
      ],
      demoExamples: [...demoKinds, ...demoTasks].map(({ example }) => example),
    },
    sandbox,
    execPolicy,
    endJobs: tools.endJobs,
    forPlugins: {
      hookRegistry,
      caller,
      hooks,
      counts,
      activity,
      reservedTools: ownTools.map(({ name }) => name),
      reservedModels: ownModels.list().map(({ id }) => id),
      receive: (message, takeFiles) =>
        receiveMessage(message, takeFiles, { store, clock, files: options.files, agents, composer, turns, hooks }),
      press: (request) => pressInChannel(request, { store, clock, lanes, plugins, turns, wake, answered: ui.answered }),
      people: ui,
      desk: createSessionDesk({
        ...{ store, clock, agents, models, hooks, composer, transcripts, turns, allTools },
        isActive: (tool, sessionKey) => plugins?.isActive(tool, sessionKey) ?? true,
        nameOf: (id) => plugins?.get(id)?.name ?? id,
      }),
      workspaceOf: (sessionKey) => {
        const agent = agents.get(agentIdOf(sessionKey));
        return agent && agents.openWorkspace(agent);
      },
      askPerson: (question, signal) => askPerson(question, signal, { store, clock, approvals, maxWaitMs: settings['approvals.expireMs'] }),
      runProgram: programs.run,
      schedules: createTurnSchedules({ store, clock }),
      continueAgent: (request) => continueAgent(request, { store, clock, log, turns, nameOf: (id) => plugins?.get(id)?.name ?? id }),
    },
    usePlugins(opened) {
      plugins = opened;
      followers = createEventFollowers({ clock, metrics, plugins: opened });
    },
    said: publish,
    committed(batch) {
      approvals.committed(batch);
      ui.committed(batch);
      turns.committed(batch);
      trace.committed(batch);
      scheduler.committed(batch);
      tellJobs(batch, hooks);
      heartbeat.committed(batch);
    },
    async close() {
      approvals.close();
      heartbeat.stop();
      await scheduler.stop();
      await heartbeat.settled();
      // Turns that the stop has no time for are cut off before their programs are: they leave behind that they were at work.
      const overdue = Promise.withResolvers<void>();
      const timer = clock.after(CLOSE_BUDGET_MS, overdue.resolve);
      await Promise.race([turns.park(0), overdue.promise]);
      timer.cancel();
      await tools.close();
      await ui.close();
      await Promise.all([hooks.drain(CLOSE_BUDGET_MS), followers?.drain(CLOSE_BUDGET_MS)]);
    },
  };
}

/** The keys of the models, as far as they can be read now. */
function modelKeys({ settings, env, home }: Pick<AgentOptions, 'settings' | 'env' | 'home'>): string[] {
  const named = keyEnvNames(settings.models).map((name) => env[name]);
  const kept = settings.models.map(({ keyFile }) => {
    try {
      return keyFile === undefined ? undefined : readKeyFile(keyFile, home).trim();
    } catch {
      // A key that cannot be read is known to nobody.
      return undefined;
    }
  });
  return [...named, ...kept].filter((key) => key !== undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
