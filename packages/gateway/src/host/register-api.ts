// What a plugin is given inside `register`. Every registration is taken or refused with a code that stays on record; none of
// these methods throws, whatever it is given. When `register` has returned, they only record that it is too late.
import {
  absentHooks,
  type ContributionKind,
  contributionRow,
  GatewayError,
  grantedFields,
  type HookName,
  hookNeeds,
  hookNames,
  isHookName,
} from '@tenon/protocol';
import type { HookHandler, HookOptions, RegisterApi, RuntimeApi, SchedulerJobHandle } from '@tenon/plugin-sdk';
import { didYouMean } from '../kernel/nearest.ts';
import { groupApi } from './api-groups.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import type { HookRegistry } from './hook-registry.ts';
import { missingGrant } from './missing-grant.ts';
import type { PluginLoad } from './plugin-load.ts';
import { MAX_REGISTRATIONS } from './plugin-load.ts';

export interface RegisterDeps {
  readonly registry: ContributionRegistry;
  readonly hookRegistry: HookRegistry;
}

export interface Registering {
  readonly api: RegisterApi;
  /** Registers outside of the api, by the same rules. */
  add(kind: ContributionKind, given: unknown): string | undefined;
  /** Takes what had to wait for the rest, and closes. */
  close(): void;
}

/** The methods of the api and the kinds that they register. */
export const registerMethods = {
  registerSessionExtension: 'sessionExtension',
  registerSessionAction: 'sessionAction',
  registerControlUiDescriptor: 'uiDescriptor',
  registerTrustedToolPolicy: 'toolPolicy',
  registerTool: 'tool',
  registerToolResultMiddleware: 'toolResultMiddleware',
  registerToolMetadata: 'toolMetadata',
  registerCommand: 'command',
  registerAgentEventSubscription: 'eventSubscription',
  registerRuntimeLifecycle: 'lifecycle',
  registerSessionSchedulerJob: 'schedulerJob',
  registerScheduledTurnHandler: 'scheduledTurn',
  registerService: 'service',
  registerGatewayMethod: 'gatewayMethod',
  registerGatewayEvent: 'gatewayEvent',
  registerInteractiveHandler: 'interactiveHandler',
  registerChannel: 'channel',
  registerHttpRoute: 'httpRoute',
  registerModelProvider: 'modelProvider',
  registerStartupCheck: 'startupCheck',
} as const satisfies Partial<Record<keyof RegisterApi, ContributionKind>>;

const MAX_KEY = 128;

export function createRegisterApi(load: PluginLoad, runtime: RuntimeApi, { registry, hookRegistry }: RegisterDeps): Registering {
  const { plugin, pluginName, generation, asked } = load.facts;
  /** They are about tools of the same plugin, which may be registered after them. */
  const metadata: unknown[] = [];

  function mayRegister(kind: ContributionKind | 'hook', key: string, needs: readonly string[]): boolean {
    if (!load.isOpen) load.reject(kind, key, 'CLOSED', 'register has returned; whatever is registered is registered inside it');
    else if (load.isFull) load.reject(kind, key, 'TOO_MANY', `a plugin registers up to ${MAX_REGISTRATIONS} things`);
    else {
      const undeclared = needs.find((need) => !asked.has(need));
      const missing = needs.find((need) => !load.holds(need));
      if (undeclared !== undefined) load.reject(kind, key, 'NOT_DECLARED', `the manifest does not ask for the grant ${undeclared}`);
      else if (missing !== undefined) load.reject(kind, key, 'NOT_GRANTED', missingGrant(plugin, missing));
      else return true;
    }
    return false;
  }

  /** The name under which it was taken. */
  function add(kind: ContributionKind, given: unknown): string | undefined {
    const { grant, key: field } = contributionRow(kind);
    const needs = grant === undefined ? [] : [grant];
    if (!mayRegister(kind, keyIn(given, field), needs)) return undefined;
    if (kind === 'toolMetadata' && !ownsTool(given)) {
      load.reject(kind, keyIn(given, field), 'NOT_OWN', 'the plugin has no tool of this name');
      return undefined;
    }
    const added = registry.add({ plugin, pluginName, generation }, kind, given);
    if (added.ok) load.accept(kind, added.key, needs, added.dispose, shortcoming(kind, added.key));
    else load.reject(kind, added.key, added.code, added.message, added.holder);
    return added.ok ? added.key : undefined;
  }

  function handleOf(id: string): SchedulerJobHandle | undefined {
    const job = registry.find('schedulerJob', plugin, id)?.item;
    return job && Object.freeze({ id, pluginId: plugin, sessionKey: job.sessionKey, kind: job.kind });
  }

  /** What of an item that was taken stays without effect. */
  function shortcoming(kind: ContributionKind, key: string): string | undefined {
    if (
      kind !== 'command' ||
      !registry.find('command', plugin, key)?.item.agentPromptGuidance ||
      load.holds(grantedFields.agentPromptGuidance.grant)
    )
      return undefined;
    return `the agent is not told its guidance: ${missingGrant(plugin, grantedFields.agentPromptGuidance.grant, asked)}`;
  }

  function ownsTool(given: unknown): boolean {
    const name = keyIn(given, 'toolName');
    // A name that cannot be one is told by the schema, in better words.
    return name === '' || [registry.find('tool', plugin, name), registry.find('toolFactory', plugin, name)].some(Boolean);
  }

  function on<Name extends HookName>(name: Name, handler: HookHandler<Name>, options?: HookOptions): void {
    const key = typeof name === 'string' ? (name as string).slice(0, MAX_KEY) : '';
    if (!isHookName(key)) {
      if (!mayRegister('hook', key, [])) return;
      const reason = Object.hasOwn(absentHooks, key) ? absentHooks[key] : `there is no hook of this name${didYouMean(key, hookNames)}`;
      load.reject('hook', key, 'UNKNOWN_HOOK', reason ?? '');
      return;
    }
    const needs = hookNeeds(key);
    if (!mayRegister('hook', key, needs)) return;
    try {
      const { priority, timeoutMs, matcher } = options ?? {};
      const undo = hookRegistry.add(name, {
        plugin,
        handler,
        ...(priority === undefined ? {} : { priority }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(matcher === undefined ? {} : { matcher: Array.from(matcher) }),
      });
      load.accept('hook', key, needs, undo);
    } catch (error) {
      load.reject('hook', key, 'INVALID', error instanceof GatewayError ? error.message : 'its options cannot be read');
    }
  }

  const methods = Object.fromEntries(
    Object.entries(registerMethods).map(([method, kind]) => [
      method,
      (given: unknown, options?: unknown) => {
        // A function is a tool that is made for each session.
        if (kind === 'tool' && typeof given === 'function') add('toolFactory', factoryOf(given, options));
        else if (kind === 'toolMetadata' && load.isOpen && metadata.length < MAX_REGISTRATIONS) metadata.push(given);
        else {
          const key = add(kind, given);
          return kind === 'schedulerJob' && key !== undefined ? handleOf(key) : undefined;
        }
        return undefined;
      },
    ]),
  );

  return {
    api: groupApi<RegisterApi>(runtime, methods, { on }),
    add,
    close() {
      for (const given of metadata.splice(0)) add('toolMetadata', given);
      load.isOpen = false;
    },
  };
}

function factoryOf(create: unknown, options: unknown): unknown {
  try {
    return typeof options === 'object' && options !== null ? { ...options, create } : { create };
  } catch {
    return { create };
  }
}

/** The name of it, as far as it can be read. */
function keyIn(given: unknown, field: string): string {
  try {
    const key = (given as Record<string, unknown> | null | undefined)?.[field];
    return typeof key === 'string' ? key.slice(0, MAX_KEY) : '';
  } catch {
    return '';
  }
}
