// What a plugin is given for as long as it is loaded. No call throws: bad input, a missing grant and a load that has ended
// give a value that says so. Liveness is looked at again after whatever was waited for.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ItemName, lateParams, RunStream, SessionKey, visible, matches, type PluginEvent, type Scope } from '@tenon/protocol';
import type { Enqueued, FlatRuntime, Logger, Refused, RuntimeApi } from '@tenon/plugin-sdk';
import { placed } from './call-plugin.ts';
import { Type } from 'typebox';
import { faultpoint } from '../kernel/fault.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { createWindow } from '../kernel/window.ts';
import { createActionCalls } from './action-required.ts';
import { groupApi } from './api-groups.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import { noteQueued } from './own-writes.ts';
import type { PluginLoad } from './plugin-load.ts';
import { takeJson } from './plugin-json.ts';
import { createRequestApproval, type QuestionDeps } from './plugin-questions.ts';
import { createPluginSchedules, type TurnSchedules } from './plugin-schedules.ts';
import { createUpdateAttachment } from './update-attachment.ts';
import { createSendAttachment, type SendDeps } from './send-attachment.ts';
import { createSecrets, type SecretDeps } from './plugin-secrets.ts';
import { type ChannelPressDeps, createPressButton } from './press-in-channel.ts';
import { createReceive, type ReceiveDeps } from './receive-message.ts';
import { runAsHost } from './plugin-scope.ts';
import type { RunContexts } from './run-context.ts';
import { createSessionState, type SessionStateDeps } from './session-state.ts';
import { traceLateCalls } from './trace-late-calls.ts';
import { sessionKeyIn, takeInjection } from './take-injection.ts';

/** An event of a plugin's own, on its way to clients. */
export interface OwnEvent {
  readonly name: string;
  readonly scope: Scope;
  readonly payload: PluginEvent;
}

export interface PluginApiDeps extends SessionStateDeps, QuestionDeps, SecretDeps, SendDeps, ReceiveDeps, ChannelPressDeps {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly runContexts: RunContexts;
  readonly publish: {
    readonly said: (said: RunStream) => void;
    readonly event: (event: OwnEvent) => void;
  };
  readonly schedules: TurnSchedules;
  readonly continueAgent: (request: {
    readonly plugin: string;
    readonly sessionKey: string;
    readonly force: boolean;
  }) => Promise<{ readonly ok: true; readonly runId?: string } | Refused>;
}

const closed = { additionalProperties: false };
const MAX_EMITTED_BYTES = 65_536;
const MAX_UNDO = 256;
const MAX_LOG_TEXT = 4_096;
const MAX_LOG_BYTES = 16_384;
const LOGGED = { limit: 1_000, windowMs: 10_000 } as const;
const SAID = { limit: 2_000, windowMs: 10_000 } as const;

const Continue = lateParams['session.workflow.continueAgent'];
const Emit = Type.Object(
  { runId: Type.String(), sessionKey: SessionKey, stream: Type.String({ maxLength: 128 }), data: Type.Unknown() },
  closed,
);
const OwnEmit = Type.Object({ name: ItemName, data: Type.Unknown(), sessionKey: Type.Optional(SessionKey) }, closed);
const RunPlace = Type.Object({ runId: Type.String({ minLength: 1, maxLength: 128 }), namespace: ItemName }, closed);
const RunPatch = Type.Object(
  { ...RunPlace.properties, value: Type.Optional(Type.Unknown()), unset: Type.Optional(Type.Boolean()) },
  closed,
);
const RunClear = Type.Object({ ...RunPlace.properties, namespace: Type.Optional(ItemName) }, closed);

export function createRuntimeApi(load: PluginLoad, deps: PluginApiDeps): RuntimeApi {
  const { plugin, pluginName, version, description, source, rootDir, config } = load.facts;
  const { store, clock, runContexts, publish, registry } = deps;
  const said = createWindow({ ...SAID, clock });

  async function enqueueNextTurnInjection(given: unknown): Promise<Enqueued> {
    const call = 'session.workflow.enqueueNextTurnInjection';
    const sessionKey = sessionKeyIn(given);
    const no = (refused: Pick<Refused, 'reason' | 'message'>, id = ''): Enqueued =>
      Object.freeze({ enqueued: false, id, sessionKey, reason: `${refused.reason}: ${refused.message}` });
    const blocked = barrier(load, call);
    if (blocked) return no(blocked);
    const taken = takeInjection(given, 'call', 'injection');
    if ('refused' in taken) return no(taken.refused);
    const { id } = taken.value;
    try {
      const { reason } = await store.write('injections.enqueue', { ...taken.value, key: sessionKey, pluginId: plugin, at: clock.now() });
      faultpoint('injection.enqueued');
      if (reason === undefined) noteQueued(plugin, sessionKey);
      if (reason === undefined) return Object.freeze({ enqueued: true, id, sessionKey });
      return Object.freeze({ enqueued: false, id, sessionKey, reason: `${reason}: ${NOT_ENQUEUED[reason]}` });
    } catch (error) {
      return no(refusalOf(error));
    }
  }

  async function continueAgent(given: unknown): Promise<{ readonly ok: true; readonly runId?: string } | Refused> {
    const blocked = barrier(load, 'session.workflow.continueAgent');
    if (blocked) return blocked;
    const taken = take(Continue, given, 'request');
    if ('refused' in taken) return taken.refused;
    try {
      return await deps.continueAgent({ plugin, sessionKey: taken.value.sessionKey, force: taken.value.force ?? false });
    } catch (error) {
      return refusalOf(error);
    }
  }

  function emitAgentEvent(given: unknown): ReturnType<RuntimeApi['agent']['events']['emitAgentEvent']> {
    const no = ({ reason, message }: Refused) => Object.freeze({ emitted: false as const, reason: `${reason}: ${message}` });
    const blocked = barrier(load, 'agent.events.emitAgentEvent');
    if (blocked) return no(blocked);
    const taken = take(Emit, given, 'event');
    if ('refused' in taken) return no(taken.refused);
    const { runId, sessionKey, stream } = taken.value;
    if (stream !== plugin && !stream.startsWith(`${plugin}.`)) {
      return no(refuse('invalid', `the stream of plugin ${plugin} is "${plugin}" or begins with "${plugin}."`));
    }
    const data = takeJson(taken.value.data, { bytes: MAX_EMITTED_BYTES });
    if ('wrong' in data) return no(refuse('invalid', `the data cannot be sent: ${data.wrong}`));
    const event = { stream: 'plugin', plugin, name: stream, data: data.value, runId, sessionKey, seq: 0, ts: clock.now() };
    if (!matches(RunStream, event)) return no(refuse('invalid', 'runId is not the id of a run'));
    if (isTooMuch()) return no(refuse('limit', TOO_MUCH));
    publish.said(event);
    return Object.freeze({ emitted: true, stream });
  }

  function emit(given: unknown): { readonly ok: true } | Refused {
    const blocked = barrier(load, 'gateway.emit');
    if (blocked) return blocked;
    const taken = take(OwnEmit, given, 'event');
    if ('refused' in taken) return taken.refused;
    const { name, sessionKey } = taken.value;
    const registered = registry.find('gatewayEvent', plugin, name);
    if (!registered) return refuse('invalid', `plugin ${plugin} has not registered an event "${name}"`);
    const data = takeJson(taken.value.data, { bytes: MAX_EMITTED_BYTES });
    if ('wrong' in data) return refuse('invalid', `the data cannot be sent: ${data.wrong}`);
    if (isTooMuch()) return refuse('limit', TOO_MUCH);
    publish.event({
      name: `plugin.${plugin}.${name}`,
      // Closed by default, as methods are.
      scope: (registered.item.scope ?? 'operator.admin') as Scope,
      payload: { pluginId: plugin, ...(sessionKey === undefined ? {} : { sessionKey }), data: data.value },
    });
    return Object.freeze({ ok: true });
  }

  function isTooMuch(): boolean {
    if (said.waitMs(plugin) > 0) {
      deps.metrics.count('tenon_plugin_events_dropped_total', { plugin });
      return true;
    }
    said.hit(plugin);
    return false;
  }

  const runContext: RuntimeApi['runContext'] = {
    setRunContext(given) {
      if (barrier(load)) return false;
      const taken = take(RunPatch, given, 'patch');
      if ('refused' in taken) return false;
      const { runId, namespace, value, unset } = taken.value;
      // A value that was left out by mistake never removes anything.
      if ((unset === true) === (value !== undefined)) return false;
      if (unset === true) runContexts.clear(plugin, runId, namespace);
      return unset === true || runContexts.set(plugin, runId, namespace, value);
    },
    getRunContext(given) {
      if (barrier(load)) return undefined;
      const taken = take(RunPlace, given, 'place');
      return 'refused' in taken ? undefined : runContexts.get(plugin, taken.value.runId, taken.value.namespace);
    },
    clearRunContext(given) {
      if (barrier(load)) return;
      const taken = take(RunClear, given, 'place');
      if (!('refused' in taken)) runContexts.clear(plugin, taken.value.runId, taken.value.namespace);
    },
  };

  const undos = new Set<() => void>();
  function onDispose(undo: unknown): () => void {
    if (typeof undo !== 'function' || !load.isLive || undos.size >= MAX_UNDO) {
      deps.log.warn({ plugin }, 'a plugin wanted something undone at its end that is no function, comes too late, or is too much');
      return () => {};
    }
    const undoIt = () =>
      void deps.caller.call(
        placed(plugin, 'dispose'),
        () => undo() as unknown,
        undefined,
        () => ({ value: undefined }),
      );
    undos.add(undoIt);
    load.signal.addEventListener('abort', undoIt, { once: true });
    return () => {
      undos.delete(undoIt);
      load.signal.removeEventListener('abort', undoIt);
    };
  }

  const api = {
    id: plugin,
    name: pluginName,
    version,
    ...(description === undefined ? {} : { description }),
    source,
    rootDir,
    now: () => clock.now(),
    resolvePath: (path: unknown) => resolvePath(path, rootDir),
    pluginConfig: config,
    logger: createLogger(load, deps),
    session: {
      state: createSessionState(load, deps),
      workflow: {
        enqueueNextTurnInjection,
        continueAgent,
        ...createActionCalls(load, deps, () => (isTooMuch() ? refuse('limit', TOO_MUCH) : undefined)),
        sendSessionAttachment: createSendAttachment(load, deps),
        updateSessionAttachment: createUpdateAttachment(load, deps),
        requestApproval: createRequestApproval(load, deps),
        ...createPluginSchedules(load, deps),
      },
    },
    agent: { events: { emitAgentEvent } },
    gateway: { emit },
    channels: { receive: createReceive(load, deps), pressButton: createPressButton(load, deps) },
    secrets: createSecrets(load, deps),
    runContext,
    lifecycle: { signal: load.signal, onDispose },
  } satisfies Omit<RuntimeApi, keyof FlatRuntime>;
  return groupApi<RuntimeApi>(asHost(traceLateCalls(api, plugin, deps.caller.trace, clock)));
}

/** What a plugin asks for is done as the gateway's own work: a turn that it starts is not its code. */
function asHost<Part extends object>(part: Part): Part {
  const made = Object.entries(part).map(([name, inner]: [string, unknown]) => {
    if (typeof inner === 'function') return [name, (...given: unknown[]): unknown => runAsHost(inner as () => unknown, ...(given as []))];
    const isGroup = typeof inner === 'object' && inner !== null && Object.getPrototypeOf(inner) === Object.prototype;
    return [name, isGroup && !Object.isFrozen(inner) ? asHost(inner) : inner];
  });
  return Object.fromEntries(made) as Part;
}

/** Contract: does not throw; what is no path is the folder itself. */
function resolvePath(path: unknown, rootDir: string): string {
  if (typeof path !== 'string') return rootDir;
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? path : join(rootDir, path);
}

const TOO_MUCH = 'the plugin says too much in too short a time';

const NOT_ENQUEUED = {
  duplicate: 'one with this key waits already',
  full: 'as many as can wait in a session wait already',
  'no-session': 'there is no such session',
} as const;

/** The name of the plugin stands in every record, and no plugin can fill the log faster than it is read. */
function createLogger(load: PluginLoad, { log, clock, metrics }: PluginApiDeps): Logger {
  const { plugin } = load.facts;
  const own = log.child({ plugin });
  const window = createWindow({ ...LOGGED, clock });
  const write = (level: keyof Logger) => (message: unknown, fields?: unknown) => {
    if (window.waitMs(plugin) > 0) {
      metrics.count('tenon_plugin_log_dropped_total', { plugin });
      return;
    }
    window.hit(plugin);
    const text = typeof message === 'string' ? visible(message.slice(0, MAX_LOG_TEXT)) : 'a message that is no text';
    const taken = fields === undefined ? undefined : takeJson(fields, { bytes: MAX_LOG_BYTES });
    if (!taken) own[level](text);
    else own[level]('wrong' in taken ? { fieldsLeftOut: taken.wrong } : { fields: taken.value }, text);
    if (window.waitMs(plugin) > 0) own.warn('the plugin logs too much; its records are left out for a while');
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
