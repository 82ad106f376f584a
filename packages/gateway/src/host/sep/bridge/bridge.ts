// An extension as a plugin: what its process has registered is registered with the api that plugins have, and each handler is a
// request to the process. Rights, deadlines, order, traces and counts are those of plugins; nothing here is an exception.
import type { RegisterApi, RuntimeApi } from '@tenon/plugin-sdk';
import {
  type ExtensionLogLine,
  type HookName,
  type HookResult,
  hookRow,
  isHookName,
  type JsonObject,
  type RunStream,
  visible,
} from '@tenon/protocol';
import {
  type ExtensionManifest,
  hookTimeoutOf,
  type LeftOut,
  readRegistrations,
  readResult,
  type Registrations,
} from '@tenon/protocol/sep';
import {
  errors,
  groups,
  hooks,
  isEventName,
  isFurtherHookName,
  isHookName as isSepHookName,
  limits,
  methodRow,
  methods,
  registrations as kinds,
  type SepFurtherHookName,
  type SepGroup,
  texts,
  type ToolWorld,
} from '@tenon/protocol/sep/wire';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import { hideHandedOut, hideHandedOutIn } from '../../../kernel/redact.ts';
import type { Store } from '../../../store/store.ts';
import type { RunProgram } from '../../plugin-programs.ts';
import type { ActiveTools } from '../../active-tools.ts';
import { hooksFor, isBridgedEvent, isSaidEvent, payloadOf, saidPayload, streamsFor } from './events.ts';
import { furtherHookInput, furtherHookResult, hookInputs, hookResult, isBridged } from './hooks.ts';
import { createProviders, type ProviderDeps } from './providers.ts';
import { type Ask, patchActions, registerSeams, takenSeams, toolFacts } from './seams.ts';
import { createDispatches, type DispatchContext, type DispatchPlace } from '../serve/dispatches.ts';
import { hookOf, hooksIn } from '../find/find-extensions.ts';
import type { Params, RequestOptions } from '../connection/peer.ts';
import type { People } from '../serve/people.ts';
import { shownBy } from './renderers.ts';
import { RpcError } from '../connection/rpc-error.ts';
import { createServer, type Served, type Server } from '../serve/serve.ts';
import { serveExec } from '../serve/exec.ts';
import { serveActive } from '../serve/active-tools.ts';
import { serveKv } from '../serve/kv.ts';
import { serveUi } from '../serve/ui.ts';
import { serveSession } from '../serve/session.ts';
import type { SessionDesk } from '../serve/session-desk.ts';
import { seamsServed } from '../serve/seams.ts';
import { isOn } from '../serve/group-grants.ts';
import { agentTool } from './tool-names.ts';

export interface Introduced {
  readonly version: string;
  readonly registrations: Registrations;
  readonly leftOut: readonly LeftOut[];
}

export interface Bridge extends Server {
  /**
   * What stands for the module of a plugin that is loaded with these rights. When the load ends: what its scheduler jobs stand for is
   * still to be ended, which `cleaned` waits for.
   */
  moduleOf(introduced: Introduced, granted: ReadonlySet<string>, ended: (cleaned: Promise<void>) => void): object;
  /** The context of an event. */
  told(place: DispatchPlace): DispatchContext;
  /** Of what was registered last: events that are told of, and what nothing was made of. */
  readonly follows: readonly string[];
  readonly leftOut: readonly Omitted[];
}

/** Shown to people, so the kind is whatever it calls it. */
type Omitted = Readonly<Record<'kind' | 'key' | 'message', string>>;

export interface BridgeDeps {
  readonly name: string;
  readonly manifest: () => ExtensionManifest;
  readonly log: Log;
  readonly store: Pick<Store, 'read' | 'write'>;
  readonly clock: Clock;
  readonly request: (method: string, params: Params, options: RequestOptions) => Promise<unknown>;
  readonly event: (params: Params) => void;
  /** Undefined where the process is loaded as what it is; see `ServeDeps`. */
  readonly placed: (generation: number) => Promise<void> | undefined;
  /** Of the process that is at work now. */
  readonly generation: () => number | undefined;
  /** Without it, there are no sessions here. */
  readonly desk: SessionDesk | undefined;
  readonly activeTools: ActiveTools;
  /** Whether the operator has granted it, now. */
  readonly holds: (grant: string) => boolean;
  /** Tells every other extension that follows the bus. */
  readonly publish: (topic: string, payload: unknown) => void;
  /** Without them nobody is there. */
  readonly people: People | undefined;
  /** Runs programs as the agent does; without it, nobody does. */
  readonly runProgram: RunProgram | undefined;
  /** The time of what was begun with this signal stands still until what it gives is called. */
  readonly hold: (signal: AbortSignal) => () => void;
  /** What it said was not taken. */
  readonly dropped: ProviderDeps['dropped'];
  /** It wants something kept in its log. */
  readonly said: (level: LogLevel, message: string) => void;
  /** What a process has registered beside what it said at first. */
  readonly registered: (generation: number, more: Pick<Introduced, 'registrations' | 'leftOut'>) => void;
}

/** Of calls under way, by their ids. */
const MAX_UPDATED = limits.toExtensionInFlight.value;
const MAX_REPLY_CHARS = 65_536;
/** Runs whose contexts are known. */
const MAX_SAID = 64;
const MAX_OMITTED = 128;
type LogLevel = ExtensionLogLine['level'];

export function createBridge(deps: BridgeDeps): Bridge {
  const { name: extension, manifest, log, request, event: tell, registered, holds, publish, people, dropped, said } = deps;
  const updates = new Map<string, (text: string) => void>();
  const dispatches = createDispatches(deps.generation, deps.hold);
  const providers = createProviders({ dispatches, request, dropped });
  const saidIn = new Map<string, DispatchContext>();
  let loaded: RuntimeApi | undefined;
  let follows: readonly string[] = [];
  let omitted: Omitted[] = [];
  let renderers: NonNullable<Registrations['message_renderers']> = [];

  /** By which names it knows the tools of the agent. */
  const worldNow = (): ToolWorld => manifest().tool_names ?? 'sep';

  function leaveOut(kind: string, key: string, message: string): void {
    if (omitted.length < MAX_OMITTED) omitted.push({ kind, key, message });
    log.warn({ plugin: extension, kind, key, reason: message }, 'a registration was left out');
  }

  function registerTool(api: RegisterApi, { name, description, parameters, deferred }: Item<'tools'>, facts: object): void {
    api.registerTool({
      name: agentTool(extension, name),
      label: `${extension}.${name}`,
      description,
      parameters: parameters as JsonObject,
      // What a process can do is not known from what it says of itself: whoever is careful is asked.
      risk: 'network',
      ...(deferred ? { optional: true } : {}),
      ...facts,
      async execute(args, call) {
        const { callId, signal } = call;
        if (updates.size < MAX_UPDATED) updates.set(callId, call.onUpdate);
        try {
          const answer = await dispatches.during('command', call, signal, (context) =>
            request(
              'tool/execute',
              { call_id: callId, tool: name, arguments: args, context },
              { timeoutMs: timeoutOf('tool/execute'), signal, over: () => updates.delete(callId) },
            ),
          );
          const read = readResult('tool/execute', answer);
          if (!read.ok) throw new Error(texts.noContent);
          const { content, is_error: isError, details } = hideHandedOutIn(read.value);
          return {
            content,
            ...(isError === undefined ? {} : { isError }),
            ...(details === undefined ? {} : { details: isObject(details) ? details : { value: details as JsonObject } }),
          };
        } finally {
          updates.delete(callId);
        }
      },
    });
  }

  function registerCommand(api: RegisterApi, { name, description }: Item<'commands'>): void {
    api.registerCommand({
      name,
      description,
      timeoutMs: timeoutOf('command/execute'),
      orQualified: true,
      async handler(call) {
        const { args, signal } = call;
        try {
          const answer = await dispatches.during('command', { ...call, asked: true }, signal, (context) =>
            request(
              'command/execute',
              { command: name, context, arguments: { args: args.trim() } },
              { timeoutMs: timeoutOf('command/execute'), signal },
            ),
          );
          const read = readResult('command/execute', answer);
          if (!read.ok) throw new RpcError(errors.Internal.code, read.message);
          return { text: hideHandedOut(read.value.content ?? texts.commandDone(name)).slice(0, MAX_REPLY_CHARS) };
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          return { text: hideHandedOut(texts.commandFailed(name, error.message)) };
        }
      },
      async complete(partial, call) {
        const { signal } = call;
        const answer = await dispatches
          .during('command', call, signal, (context) =>
            request('command/complete', { command: name, context, partial }, { timeoutMs: timeoutOf('command/complete'), signal }),
          )
          .catch(() => ({}));
        const read = readResult('command/complete', answer);
        return (read.ok ? (read.value.completions ?? []) : []).map(({ value: text, description }) => ({
          text,
          ...(description === undefined ? {} : { description }),
        }));
      },
    });
  }

  function registerHook(api: RegisterApi, sepName: string, owns: (agentName: string) => boolean): void {
    const name = hookOf(sepName);
    if (isFurtherHookName(sepName)) return registerFurtherHook(api, sepName);
    if (!isSepHookName(sepName) || name === undefined || !isBridged(name)) {
      // By a name that there is not, so that the refusal stands with the other registrations.
      if (!isHookName(sepName)) return void api.on(sepName as HookName, () => undefined);
      return leaveOut('hooks', sepName, 'extensions cannot take part in this hook here');
    }
    const timeoutMs = hookTimeoutOf(manifest(), hooks[sepName].timeoutMs);
    api.on(
      name,
      async (event, { signal }) => {
        let result: HookResult<HookName> | undefined;
        const world = worldNow();
        for (const input of hookInputs(name, event, world)) {
          const answer = await dispatches.during('command', event, signal, (context) =>
            request('hook', { hook: sepName, context, input }, { timeoutMs, signal }),
          );
          const read = readResult('hook', answer);
          if (!read.ok) throw new Error(`its answer to ${sepName} cannot be read: ${read.message}`);
          result = hookResult(sepName, name, read.value, event, { world, owns }, input) ?? result;
          if (read.value.action === 'block') break;
        }
        return result as never;
      },
      { timeoutMs },
    );
  }

  function registerFurtherHook(api: RegisterApi, name: SepFurtherHookName): void {
    const timeoutMs = hookTimeoutOf(manifest(), hookRow(name).timeoutMs);
    api.on(
      name,
      async (event, { signal }) => {
        const answer = await dispatches.during('command', event as DispatchPlace, signal, (context) =>
          request('hook', { hook: name, context, input: furtherHookInput(name, event) }, { timeoutMs, signal }),
        );
        const read = readResult('hook', answer);
        if (!read.ok) throw new Error(`its answer to ${name} cannot be read: ${read.message}`);
        return furtherHookResult(name, read.value) as never;
      },
      { timeoutMs },
    );
  }

  const ask: Ask = async (method, place, signal, params) => {
    const { tier = 'command', timeoutMs = 0 } = methodRow(method);
    const answer = await dispatches.during(tier, place, signal, (context) =>
      request(method, { ...params, context }, { timeoutMs, signal }),
    );
    const read = readResult(method, answer);
    if (!read.ok) throw new RpcError(errors.Internal.code, `its answer to ${method} cannot be read: ${read.message}`);
    return read.value;
  };

  /** Without those of a group that is off and that the registry knows no right for: what lacks one of its rights, it refuses itself. */
  function allowed(registrations: Registrations, granted: ReadonlySet<string>): Registrations {
    const rows: Readonly<Record<string, { readonly summary: string; readonly group?: SepGroup; readonly beyond?: true }>> = kinds;
    const kept = Object.entries(registrations).filter(([kind, items]) => {
      const { group, beyond } = rows[kind] ?? {};
      if (!beyond || group === undefined || items.length === 0 || groups[group].grants.length > 0) return true;
      if (isOn(group, manifest(), (grant) => granted.has(grant))) return true;
      leaveOut(kind, '', texts.disabled(group));
      return false;
    });
    return Object.fromEntries(kept) as Registrations;
  }

  function follow(api: RegisterApi, subscriptions: readonly string[]): void {
    const { events: wanted = [] } = manifest().capabilities ?? {};
    const followed = subscriptions.filter((each) => wanted.length === 0 || wanted.includes(each));
    for (const [name, events] of hooksFor(followed.filter(isBridgedEvent))) {
      api.on(name, (event) => {
        for (const each of events) {
          const payload = payloadOf(each, event, worldNow());
          if (payload) tell({ event: each, context: dispatches.told(event as DispatchPlace), payload });
        }
        return undefined as never;
      });
    }
    const said = followed.filter(isSaidEvent);
    if (said.length > 0) {
      api.agent.events.registerAgentEventSubscription({
        id: 'events',
        streams: [...streamsFor(said)],
        handle(each) {
          for (const name of said) {
            const payload = saidPayload(name, each, worldNow());
            if (payload) tell({ event: name, context: contextOfRun(each), payload });
          }
        },
      });
    }
    const isTold = (each: string) => isBridgedEvent(each) || isSaidEvent(each) || each === 'bus/event';
    follows = followed.filter(isTold);
    for (const each of subscriptions) {
      if (!followed.includes(each)) leaveOut('subscriptions', each, 'its manifest does not name this event in capabilities.events');
      else if (!isTold(each)) leaveOut('subscriptions', each, 'this gateway never tells of this event');
    }
  }

  /** The same for all that one run says: it says much, and every context that is given out takes the place of an older one. */
  function contextOfRun(said: RunStream): DispatchContext {
    const known = saidIn.get(said.runId);
    if (known && dispatches.find(known.token)) return known;
    const context = dispatches.told(said);
    saidIn.set(said.runId, context);
    if (saidIn.size > MAX_SAID) saidIn.delete(saidIn.keys().next().value as string);
    return context;
  }

  function moduleOf(
    { registrations: all, leftOut }: Introduced,
    granted: ReadonlySet<string>,
    ended: (cleaned: Promise<void>) => void,
  ): object {
    omitted = [];
    const registrations = allowed(all, granted);
    const jobs = new Set((registrations.scheduler_jobs ?? []).map(({ id }) => id));
    const { promise: allCleaned, resolve } = Promise.withResolvers<void>();
    const cleaned = (job?: string) => {
      if (job !== undefined) jobs.delete(job);
      if (jobs.size === 0) resolve();
    };
    cleaned();
    const seams = { extension, ask, cleaned };
    return {
      id: extension,
      sessionsPatchExtensions: patchActions(registrations, seams),
      register(api: RegisterApi): void {
        loaded = api;
        api.lifecycle.signal.addEventListener('abort', () => ended(allCleaned), { once: true });
        const { tools = [], commands = [], flags = [], hooks: said = [], subscriptions = [], providers: served = [] } = registrations;
        for (const { kind, key, message } of leftOut) leaveOut(kind, key, message);
        for (const [kind, items] of Object.entries(registrations))
          if (!TAKEN.has(kind) && items.length > 0) leaveOut(kind, '', 'this gateway makes nothing of this kind');
        const undeclared = Object.keys(api.pluginConfig).filter((flag) => !flags.includes(flag));
        if (undeclared.length > 0) log.warn({ plugin: extension, flags: undeclared }, 'flags are set that the extension does not declare');
        for (const { key, command } of registrations.shortcuts ?? [])
          leaveOut('shortcuts', key, `no front end of this gateway has keys for extensions; type /${extension}:${command}`);
        renderers = registrations.message_renderers ?? [];
        const own = new Set(tools.map(({ name }) => agentTool(extension, name)));
        for (const each of tools) registerTool(api, each, toolFacts(registrations, each.name));
        for (const each of commands) registerCommand(api, each);
        for (const each of served) providers.register(api, each);
        // Of one that says nothing of hooks, what is also an event is meant as that.
        const taken = said.length > 0 ? said : (manifest().capabilities?.hooks ?? hooksIn(manifest()).filter((each) => !isEventName(each)));
        for (const each of new Set(taken)) registerHook(api, each, (agentName) => own.has(agentName));
        registerSeams(api, registrations, seams);
        follow(api, subscriptions);
      },
    };
  }

  const served: Served = {
    ...seamsServed,
    'tool/update'({ call_id: callId, message, progress }) {
      const text = message ?? (progress === undefined ? undefined : `${Math.round(progress * 100)} %`);
      if (text !== undefined) updates.get(callId)?.(visible(hideHandedOut(text)));
    },
    log({ level, message, fields }) {
      said(level, fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
      loaded?.logger[level === 'trace' ? 'debug' : level](message, fields as JsonObject | undefined);
    },
    'registry/update'(params, { generation }) {
      const { taken, leftOut } = readRegistrations(params);
      registered(generation, { registrations: taken, leftOut });
    },
    'bus/publish': ({ topic, payload }) => publish(topic, payload),
    ...serveKv({ ...deps, extension }),
    ...serveUi({ extension, dispatches, people }),
    ...serveSession({ ...deps, extension, shown: (entry) => shownBy(renderers, entry) }),
    ...serveExec({ ...deps, extension }),
    ...serveActive({ ...deps, extension, dispatches, world: worldNow }),
    ...providers.served,
  };

  return {
    moduleOf,
    told: dispatches.told,
    get follows() {
      return follows;
    },
    get leftOut() {
      return omitted;
    },
    ...createServer({ served, dispatches, manifest, holds, api: () => loaded, placed: deps.placed }),
  };
}

/** Kinds of registrations that are made something of here. */
const TAKEN: ReadonlySet<string> = new Set<keyof Registrations>([
  'tools',
  'commands',
  'flags',
  'hooks',
  'subscriptions',
  'providers',
  'shortcuts',
  'message_renderers',
  ...takenSeams,
]);

type Item<Kind extends keyof Registrations> = NonNullable<Registrations[Kind]>[number];

function timeoutOf(method: 'tool/execute' | 'command/execute' | 'command/complete'): number {
  return methods[method].timeoutMs;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
