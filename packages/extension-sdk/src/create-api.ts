// The extension object over one connection.
import type { ExtensionApi } from './api.ts';
import { contentText } from './answers.ts';
import { aboutCurrent, currentContext, type CallDeps } from './call.ts';
import type { CommandDefinition, FlagDefinition, PiCommandOptions, ProviderDefinition, ShortcutDefinition } from './definitions.ts';
import { isFurtherHookName } from '@tenon/protocol/sep/wire';
import type { EventHandler, HookHandler } from './on.ts';
import { createProgramRuns } from './programs.ts';
import { type AnySeamHandler, type AnyTool, isHook, type Registry } from './registry.ts';
import { messageOf, RpcError } from './rpc-error.ts';
import { createSeamGroups, type SeamCall } from './seam-groups.ts';
import type { SeamCalls } from './seams.ts';
import { createKeyValues, createSession } from './session.ts';
import { createUi } from './ui.ts';
import { errorCode } from './wire.ts';

interface ApiDeps extends CallDeps {
  readonly registry: Registry;
  flag(name: string): unknown;
  onShutdown(handler: () => unknown): void;
}

export function createApi(deps: ApiDeps): ExtensionApi {
  const { ask, registry, shown, hasUI, log } = deps;
  const warn = (message: string) => log('warn', message);
  const session = createSession(ask, currentContext);
  const text = (content: Parameters<ExtensionApi['sendUserMessage']>[0]) => contentText(content) ?? '';

  /** With the context of the call in which it is used, where the method takes one and no session is named. */
  const call = (async (method: keyof SeamCalls, params: Readonly<Record<string, unknown>>) => {
    const isPlaced = unplaced.has(method) || 'session_key' in params || 'context' in params;
    return ask(method, isPlaced ? params : { ...params, context: currentContext() });
  }) as SeamCall;

  return {
    name: 'extension',
    version: '0.0.0',
    registerTool: (tool: unknown) => registry.addTool(tool as AnyTool),
    registerCommand(given: string | CommandDefinition, options?: PiCommandOptions) {
      registry.addCommand(typeof given === 'string' ? piCommand(given, options!) : given);
    },
    registerFlag(given: string | FlagDefinition, options: Omit<FlagDefinition, 'name'> = {}) {
      registry.addFlag(typeof given === 'string' ? { ...options, name: given } : given);
    },
    registerShortcut(given: string | ShortcutDefinition, options?: { description?: string; handler: CommandDefinition['execute'] }) {
      if (typeof given !== 'string') return registry.addShortcut(given);
      const { description = given, handler } = options!;
      const command = `key-${given.replaceAll(/[^A-Za-z0-9]+/g, '-')}`;
      registry.addCommand({ name: command, description, execute: handler });
      registry.addShortcut({ key: given, command, description });
    },
    registerProvider(given: string | ProviderDefinition, options?: Omit<ProviderDefinition, 'name'>) {
      registry.addProvider(typeof given === 'string' ? { ...options!, name: given } : given);
    },
    registerMessageRenderer: (tag, template) => registry.addMessageRenderer(tag, template),

    on(name: string, handler: HookHandler<never> | EventHandler) {
      if (isFurtherHookName(name)) return registry.addHook(name, handler as HookHandler);
      if (!isHook(name)) return registry.addEvent(name, handler as EventHandler);
      const stop = [registry.addHook(name, handler as HookHandler)];
      // Hosts that have no such hook tell it as an event.
      if (name === 'message_end' || name.startsWith('session_before_')) stop.push(registry.addEvent(name, handler as EventHandler));
      return () => {
        for (const each of stop) each();
      };
    },

    events: {
      async publish(topic, payload = {}) {
        await ask('bus/publish', { topic, payload });
      },
      emit(topic, payload = {}) {
        ask('bus/publish', { topic, payload }).catch((thrown) => warn(`"${topic}" was not published: ${messageOf(thrown)}`));
      },
      on: (topic, handler) =>
        registry.addEvent('bus/event', (event) => {
          if (event.topic === topic) return handler((event.payload ?? {}) as Readonly<Record<string, unknown>>, String(event.from));
        }),
    },
    kv: createKeyValues(ask),
    ui: createUi({ ask, shown, hasUI, warn, about: () => aboutCurrent(deps.host()) }),
    session,
    exec: createProgramRuns(ask, currentContext),
    hasUI,
    log,
    getFlag: (name) => deps.flag(name) ?? registry.flags.get(name)?.default,
    get host() {
      return deps.host();
    },
    async ping() {
      await ask('ping', {});
    },

    async sendMessage(given, { triggerTurn, deliverAs } = {}) {
      const message = typeof given === 'string' ? { content: given } : given;
      const { content, customType, display, details } = message;
      if (customType !== undefined)
        await session.appendEntry({ tag: customType, data: { content, ...(details === undefined ? {} : { details }) } });
      if (display === false) return;
      if (triggerTurn) await session.sendUserMessage(text(content), deliverAs === undefined ? {} : { deliverAs });
      else await session.sendMessage(text(content));
    },
    sendUserMessage: (content, options) => session.sendUserMessage(text(content), options),
    appendEntry: (customType, data) => session.appendEntry({ tag: customType, ...(data === undefined ? {} : { data }) }),
    async setModel(model) {
      const { id, provider } = typeof model === 'string' ? { id: model } : model;
      try {
        await session.setModel(id, provider === undefined ? {} : { provider });
        return true;
      } catch (thrown) {
        if (thrown instanceof RpcError && thrown.code === errorCode.InvalidParams) return false;
        throw thrown;
      }
    },
    setActiveTools: async (names) =>
      (await ask<{ active: readonly string[] }>('tools/set_active', { ...aboutCurrent(deps.host()), tools: names })).active,
    onShutdown: deps.onShutdown,

    call,
    ...createSeamGroups(call),
    registerToolFacts: (facts) => registry.addSeam('tool_facts', facts),
    registerState: (state) => registry.addSeam('state', state),
    registerDescriptor: (descriptor) => registry.addSeam('descriptors', descriptor),
    registerAction: (action, handler) => registry.addSeam('actions', action, handler as AnySeamHandler),
    registerPatchAction: (action, handler) => registry.addSeam('patch_actions', action, handler as AnySeamHandler),
    registerInteraction: (interaction, handler) => registry.addSeam('interactions', interaction, handler as AnySeamHandler),
    registerPolicy: (policy, handler) => registry.addSeam('policies', policy, handler as AnySeamHandler),
    registerScheduledTurn: (turn, handler) => registry.addSeam('scheduled_turns', turn, handler as AnySeamHandler),
    registerSchedulerJob(job, cleanUp) {
      registry.addSeam('scheduler_jobs', job, async (request) => {
        await cleanUp(request as never);
        return {};
      });
    },
    registerGatewayMethod(method, handler) {
      registry.addSeam('gateway_methods', method, async (request, context) => ({
        result: (await handler(request.params, request as never, context)) ?? null,
      }));
    },
    registerGatewayEvent: (event) => registry.addSeam('gateway_events', event),
    registerStartupCheck: (check, handler) => registry.addSeam('startup_checks', check, handler as AnySeamHandler),
  } satisfies ExtensionApi as ExtensionApi;
}

/** They are about no session. */
const unplaced: ReadonlySet<string> = new Set<keyof SeamCalls>(['state/list', 'kv/compare_and_set', 'gateway_event/emit']);

function piCommand(name: string, { description = name, handler, getArgumentCompletions }: PiCommandOptions): CommandDefinition {
  return {
    name,
    description,
    execute: (context) => handler(typeof context.args.args === 'string' ? context.args.args : '', context),
    ...(getArgumentCompletions ? { complete: (partial: string) => getArgumentCompletions(partial) } : {}),
  };
}
