// An extension as a plugin: what its process has registered is registered with the api that plugins have, and each handler is a
// request to the process. Rights, deadlines, order, traces and counts are those of plugins; nothing here is an exception.
import type { RegisterApi } from '@tenon/plugin-sdk';
import { type HookName, isHookName, type JsonObject, visible } from '@tenon/protocol';
import {
  type ExtensionManifest,
  hookTimeoutOf,
  type LeftOut,
  readParams,
  readRegistrations,
  readResult,
  type Registrations,
} from '@tenon/protocol/sep';
import {
  errors,
  hooks,
  isHookName as isSepHookName,
  limits,
  methodOf,
  methodRow,
  methods,
  type SepGroup,
  type SepTier,
  texts,
} from '@tenon/protocol/sep/wire';
import { randomId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { hooksFor, isBridgedEvent, payloadOf } from './bridge-events.ts';
import { hookInput, hookResult, isBridged } from './bridge-hooks.ts';
import { hookOf } from './find-extensions.ts';
import type { Params, PeerHandler, RequestOptions } from './peer.ts';
import { RpcError } from './rpc-error.ts';
import { isOn } from './served-groups.ts';
import { agentTool } from './tool-names.ts';

export interface Introduced {
  readonly version: string;
  readonly registrations: Registrations;
  readonly leftOut: readonly LeftOut[];
}

export interface Bridge {
  /** What stands for the module of a plugin. */
  moduleOf(introduced: Introduced, ended: () => void): object;
  request(method: string, generation: number): PeerHandler | undefined;
  notification(method: string, generation: number): ((params: Params) => void) | undefined;
}

export interface BridgeDeps {
  readonly name: string;
  readonly manifest: () => ExtensionManifest;
  readonly log: Log;
  readonly request: (method: string, params: Params, options: RequestOptions) => Promise<unknown>;
  readonly event: (params: Params) => void;
  /** What a process has registered beside what it said at first. */
  /** Whether the operator has granted it, now. */
  readonly holds: (grant: string) => boolean;
  /** Tells every other extension that follows the bus. */
  readonly publish: (topic: string, payload: unknown) => void;
  readonly registered: (generation: number, more: Pick<Introduced, 'registrations' | 'leftOut'>) => void;
}

/** Good for one dispatch: nothing here is allowed by it yet but to be told apart. */
export function contextOf(tier: SepTier): { readonly token: string; readonly tier: SepTier } {
  return { token: randomId(), tier };
}

/** Of calls under way, by their ids. */
const MAX_UPDATED = limits.toExtensionInFlight.value;
const MAX_REPLY_CHARS = 65_536;

export function createBridge({ name: extension, manifest, log, request, event: tell, registered, holds, publish }: BridgeDeps): Bridge {
  const updates = new Map<string, (text: string) => void>();
  let logger: RegisterApi['logger'] | undefined;

  function registerTool(api: RegisterApi, { name, description, parameters, deferred }: Item<'tools'>): void {
    api.registerTool({
      name: agentTool(extension, name),
      label: `${extension}.${name}`,
      description,
      parameters: parameters as JsonObject,
      // What a process can do is not known from what it says of itself: whoever is careful is asked.
      risk: 'network',
      ...(deferred ? { optional: true } : {}),
      async execute(args, call) {
        const { callId, signal } = call;
        if (updates.size < MAX_UPDATED) updates.set(callId, call.onUpdate);
        try {
          const params = { call_id: callId, tool: name, arguments: args, context: contextOf('command') };
          const read = readResult('tool/execute', await request('tool/execute', params, { timeoutMs: timeoutOf('tool/execute'), signal }));
          if (!read.ok) throw new Error(texts.noContent);
          const { content, is_error: isError, details } = read.value;
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
      async handler({ args, signal }) {
        const params = { command: name, context: contextOf('command'), arguments: { args: args.trim() } };
        try {
          const read = readResult(
            'command/execute',
            await request('command/execute', params, { timeoutMs: timeoutOf('command/execute'), signal }),
          );
          if (!read.ok) throw new RpcError(errors.Internal.code, read.message);
          return { text: (read.value.content ?? texts.commandDone(name)).slice(0, MAX_REPLY_CHARS) };
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          return { text: texts.commandFailed(name, error.message) };
        }
      },
      async complete(partial, { signal }) {
        const params = { command: name, context: contextOf('command'), partial };
        const answer = await request('command/complete', params, { timeoutMs: timeoutOf('command/complete'), signal }).catch(() => ({}));
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
    if (!isSepHookName(sepName) || name === undefined || !isBridged(name)) {
      // By a name that there is not, so that the refusal stands with the other registrations.
      if (!isHookName(sepName)) api.on(sepName as HookName, () => undefined);
      return log.warn({ plugin: extension, hook: sepName }, 'an extension wants a hook that extensions cannot take part in here');
    }
    const timeoutMs = hookTimeoutOf(manifest(), hooks[sepName].timeoutMs);
    api.on(
      name,
      async (event, { signal }) => {
        const params = { hook: sepName, context: contextOf('command'), input: hookInput(name, event) };
        const read = readResult('hook', await request('hook', params, { timeoutMs, signal }));
        if (!read.ok) throw new Error(`its answer to ${sepName} cannot be read: ${read.message}`);
        return hookResult(sepName, name, read.value, event, owns) as never;
      },
      { timeoutMs },
    );
  }

  function follow(api: RegisterApi, subscriptions: readonly string[]): void {
    const { events: wanted = [] } = manifest().capabilities ?? {};
    const followed = subscriptions.filter((each) => wanted.length === 0 || wanted.includes(each));
    for (const [name, events] of hooksFor(followed.filter(isBridgedEvent))) {
      api.on(name, (event) => {
        for (const each of events) tell({ event: each, context: contextOf('event'), payload: payloadOf(each, event) });
        return undefined as never;
      });
    }
    const unknown = followed.filter((each) => !isBridgedEvent(each) && each !== 'bus/event');
    if (unknown.length > 0)
      log.info({ plugin: extension, events: unknown }, 'an extension follows events that this gateway never tells of');
  }

  function moduleOf({ registrations, leftOut }: Introduced, ended: () => void): object {
    return {
      id: extension,
      register(api: RegisterApi): void {
        logger = api.logger;
        api.lifecycle.signal.addEventListener('abort', ended, { once: true });
        const { tools = [], commands = [], hooks: said = [], subscriptions = [] } = registrations;
        for (const { kind, key, message } of leftOut)
          log.warn({ plugin: extension, kind, key, reason: message }, 'a registration was left out');
        const unused = Object.entries(registrations).flatMap(([kind, items]) => (TAKEN.has(kind) || items.length === 0 ? [] : [kind]));
        if (unused.length > 0)
          log.info({ plugin: extension, kinds: unused }, 'an extension registers kinds that this gateway does not take');
        const own = new Set(tools.map(({ name }) => agentTool(extension, name)));
        for (const each of tools) registerTool(api, each);
        for (const each of commands) registerCommand(api, each);
        const taken = said.length > 0 ? said : (manifest().capabilities?.hooks ?? []);
        for (const each of new Set(taken)) registerHook(api, each, (agentName) => own.has(agentName));
        follow(api, subscriptions);
      },
    };
  }

  const notifications: Readonly<Record<string, (params: Params) => void>> = {
    'tool/update'(params) {
      const read = readParams('tool/update', params);
      if (!read.ok) return;
      const { call_id: callId, message, progress } = read.value;
      const text = message ?? (progress === undefined ? undefined : `${Math.round(progress * 100)} %`);
      if (text !== undefined) updates.get(callId)?.(visible(text));
    },
    log(params) {
      const read = readParams('log', params);
      if (!read.ok) return;
      const { level, message, fields } = read.value;
      logger?.[level === 'trace' ? 'debug' : level](message, fields as JsonObject | undefined);
    },
  };

  /** Throws where it cannot be read. */
  function update(spelling: string, params: Params, generation: number): void {
    const read = readParams('registry/update', params, spelling);
    if (!read.ok) throw new RpcError(errors.InvalidParams.code, read.message);
    const { taken, leftOut } = readRegistrations(read.value);
    registered(generation, { registrations: taken, leftOut });
  }

  /** Both forms: who waits is told that it was refused, who does not finds it in the counts. */
  function publishOn(params: Params): void {
    if (!isOn('bus', manifest(), holds)) throw disabled('bus');
    const read = readParams('bus/publish', params);
    if (!read.ok) throw new RpcError(errors.InvalidParams.code, read.message);
    publish(read.value.topic, read.value.payload);
  }

  const served: Readonly<Record<string, (spelling: string, params: Params, generation: number) => void>> = {
    'registry/update': update,
    'bus/publish': (_spelling, params) => publishOn(params),
  };

  return {
    moduleOf,
    /** A method of a group that is off is refused by the name of the group; what there is not, there is not. */
    request(method, generation) {
      const name = methodOf(method);
      const serve = name && served[name];
      if (serve) return (params) => serve(method, params, generation);
      const row = name && methodRow(name);
      const group: SepGroup | undefined = row?.direction === 'to-host' ? row.group : undefined;
      if (group === undefined) return undefined;
      return () => {
        throw disabled(group);
      };
    },
    notification(method, generation) {
      const name = methodOf(method);
      const serve = name && served[name];
      if (serve) return (params) => serve(method, params, generation);
      return name !== undefined && Object.hasOwn(notifications, name) ? notifications[name] : undefined;
    },
  };
}

function disabled(group: SepGroup): RpcError {
  return new RpcError(errors.CapabilityDisabled.code, texts.disabled(group));
}

/** Kinds of registrations that are made something of here. */
const TAKEN: ReadonlySet<string> = new Set<keyof Registrations>(['tools', 'commands', 'hooks', 'subscriptions']);

type Item<Kind extends keyof Registrations> = NonNullable<Registrations[Kind]>[number];

function timeoutOf(method: 'tool/execute' | 'command/execute' | 'command/complete'): number {
  return methods[method].timeoutMs;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
