// The requests of the host, one function each. What an author's handler throws becomes an answer here: of a tool a result
// that is an error, of a hook or command an error of the protocol. A tool or command that is not there is answered as a
// result too, as hosts expect.
import { isFurtherHookName, methodOf, texts, type SepMethodName } from '@tenon/protocol/sep/wire';
import { commandResult, completionResult, completions, contentText, credentials, toolError, toolResult } from './answers.ts';
import { Call, type CallDeps, readContext, within } from './call.ts';
import type { CommandAnswer, CompletionRequest, Delta, ProviderDefinition, ToolAnswer, ToolContext } from './definitions.ts';
import { withoutUndefined } from './host.ts';
import type { HookName } from './names.ts';
import { type EventHandler, type HandlerContext, runFurtherHandlers, runHandlers } from './on.ts';
import { type ParsedArguments, parseArguments } from './parameters.ts';
import { type IncomingCall, isPromise, type Params, type Peer } from './peer.ts';
import type { AnyTool, Registry } from './registry.ts';
import { messageOf, RpcError } from './rpc-error.ts';
import type { SeamItems } from './seams.ts';
import { errorCode } from './wire.ts';

export interface DispatchDeps extends CallDeps {
  readonly registry: Registry;
  peer(): Peer;
  initialize(params: Params): Promise<unknown>;
  shutdown(): Promise<unknown>;
}

type Handler = (params: Params, call: IncomingCall) => unknown;

export function createDispatch(deps: DispatchDeps) {
  const { registry } = deps;
  const notify = (method: SepMethodName, params: Params) => deps.peer().notify(method, withoutUndefined(params));

  const handlers: Partial<Record<SepMethodName, Handler>> = {
    initialize: (params) => deps.initialize(params),
    shutdown: () => deps.shutdown(),
    ping: () => ({}),
    'tool/execute': ({ call_id, tool, arguments: args, context }, incoming) => {
      const found = registry.tools.get(String(tool));
      if (!found) return toolError(texts.unknownTool(String(tool)));
      const given = new ToolCall(String(call_id), notify, readContext(context), incoming, deps);
      return within(given.context, () => executeTool(found, args, given));
    },
    'command/execute': async ({ command, arguments: args, context }, incoming) => {
      const found = registry.commands.get(String(command));
      if (!found) return { content: texts.unknownCommand(String(command)) };
      const given = Object.assign(new Call(readContext(context), incoming, deps), { args: isFields(args) ? args : {} });
      return commandResult((await within(given.context, () => found.execute(given))) as CommandAnswer);
    },
    'command/complete': async ({ command, partial, context }, incoming) => {
      const found = registry.commands.get(String(command));
      if (!found?.complete) return { completions: [] };
      const given = new Call(readContext(context), incoming, deps);
      return {
        completions: completions(await within(given.context, () => found.complete?.(typeof partial === 'string' ? partial : '', given))),
      };
    },
    hook: ({ hook, input, context }, incoming) => {
      const given = Object.assign(new Call(readContext(context), incoming, deps), { kind: 'hook' as const });
      const found = registry.hooks.get(String(hook)) ?? [];
      const said = isFields(input) ? input : {};
      return within(given.context, () =>
        isFurtherHookName(String(hook))
          ? runFurtherHandlers(String(hook), found, said, given)
          : runHandlers(hook as HookName, found, said, given),
      );
    },
    'provider/complete': async (params, incoming) => {
      const provider = providerOf(params.provider);
      const given = Object.assign(new Call(readContext(params.context), incoming, deps), { delta });
      let hasText = false;
      function delta(piece: string | Delta): void {
        const event = typeof piece === 'string' ? ({ type: 'Delta', content: piece } as const) : piece;
        if (event.type === 'Delta') hasText = true;
        if (params.stream === true && !incoming.isCancelled) notify('provider/delta', { request_id: params.request_id, event });
      }
      const { context: _, ...request } = params;
      const result = completionResult(await within(given.context, () => provider.complete(request as unknown as CompletionRequest, given)));
      // A host that streams takes the text from the pieces alone.
      if (!hasText && result.content) delta(result.content);
      return result;
    },
    'provider/oauth_login': async (params, incoming) => {
      const { oauthLogin } = providerOf(params.provider);
      const given = new Call(readContext(params.context), incoming, deps);
      if (!oauthLogin) throw new RpcError(errorCode.InvalidParams, `Nobody can sign in at the provider "${String(params.provider)}"`);
      return credentials(await within(given.context, () => oauthLogin(given)));
    },
    'provider/oauth_refresh': async (params, incoming) => {
      const { oauthRefresh } = providerOf(params.provider);
      const given = new Call(readContext(params.context), incoming, deps);
      if (!oauthRefresh) throw new RpcError(errorCode.InvalidParams, `The provider "${String(params.provider)}" has nothing to refresh`);
      const token = typeof params.refresh_token === 'string' ? params.refresh_token : undefined;
      return credentials(await within(given.context, () => oauthRefresh(token, given)));
    },
    'action/execute': (params, incoming) => runAction('actions', params, incoming),
    'patch_action/execute': (params, incoming) => runAction('patch_actions', params, incoming),
    'interaction/press': (params, incoming) => runSeam('interactions', params.namespace, params, incoming),
    'policy/decide': (params, incoming) => runSeam('policies', params.policy, params, incoming),
    'schedule/due': (params, incoming) => runSeam('scheduled_turns', params.handler, params, incoming),
    'schedule/clean_up': (params, incoming) => runSeam('scheduler_jobs', params.job, params, incoming),
    'gateway_method/call': (params, incoming) => runSeam('gateway_methods', params.name, params, incoming),
    'startup_check/run': (params, incoming) => runSeam('startup_checks', params.check, params, incoming),
  };

  /** What it throws is its answer: that it was not done. */
  async function runAction(kind: 'actions' | 'patch_actions', params: Params, incoming: IncomingCall): Promise<unknown> {
    try {
      return await runSeam(kind, params.action, params, incoming);
    } catch (thrown) {
      return { ok: false, error: messageOf(thrown) || 'The action failed' };
    }
  }

  function runSeam(kind: keyof SeamItems, key: unknown, params: Params, incoming: IncomingCall): unknown {
    const handler = registry.seams.get(kind)?.get(String(key));
    if (!handler) throw new RpcError(errorCode.InvalidParams, `There is no "${String(key)}" among the ${kind}`);
    const given = new Call(readContext(params.context), incoming, deps);
    return within(given.context, () => handler(params, given));
  }

  function providerOf(name: unknown): ProviderDefinition {
    const found = registry.providers.get(String(name));
    if (!found) throw new RpcError(errorCode.InvalidParams, `There is no provider "${String(name)}"`);
    return found;
  }

  return {
    onRequest(method: string, params: Params, call: IncomingCall): unknown {
      const name = methodOf(method);
      const handler = name && handlers[name];
      if (!handler) throw new RpcError(errorCode.MethodNotFound, texts.methodNotFound(method));
      return handler(params, call);
    },
    onNotification(method: string, params: Params): void {
      if (method !== 'event' || typeof params.event !== 'string') return;
      const { event, payload, seq, context } = params;
      const given: HandlerContext = Object.assign(new Call(readContext(context), NEVER, deps), {
        kind: 'event' as const,
        ...(typeof seq === 'number' ? { seq } : {}),
      });
      for (const handler of registry.events.get(event as string) ?? []) {
        within(given.context, () => void observe(event as string, handler, isFields(payload) ? payload : {}, given));
      }
    },
  };

  async function observe(event: string, handler: EventHandler, payload: Params, context: HandlerContext): Promise<void> {
    try {
      await handler(payload, context);
    } catch (thrown) {
      deps.log('error', `The handler of ${event} failed: ${messageOf(thrown)}`, stackOf(thrown));
    }
  }
}

type Notify = (method: SepMethodName, params: Params) => void;

class ToolCall extends Call implements ToolContext {
  readonly callId: string;
  readonly onUpdate: ToolContext['onUpdate'];

  constructor(callId: string, notify: Notify, ...call: ConstructorParameters<typeof Call>) {
    super(...call);
    this.callId = callId;
    this.onUpdate = ({ message, progress, details }) =>
      notify('tool/update', { call_id: callId, message, progress: part(progress), details });
  }
}

/** Nobody waits for what is done with an event, so nobody cancels it. */
const NEVER = {
  get signal() {
    return new AbortController().signal;
  },
};

function executeTool(tool: AnyTool, args: unknown, context: ToolContext): unknown {
  const parsed = parseArguments(tool.parameters, args ?? {});
  return isPromise(parsed) ? parsed.then((each) => executeParsed(tool, each, context)) : executeParsed(tool, parsed, context);
}

function executeParsed(tool: AnyTool, parsed: ParsedArguments, context: ToolContext): unknown {
  if (parsed.kind === 'refused') return toolError(`Invalid arguments for "${tool.name}": ${parsed.reason}`);
  const failed = (thrown: unknown) => toolError(messageOf(thrown));
  try {
    const answer = run(tool, parsed.value, context);
    return isPromise(answer) ? answer.then(toolResult).then(undefined, failed) : toolResult(answer);
  } catch (thrown) {
    return failed(thrown);
  }
}

function run(tool: AnyTool, args: unknown, context: ToolContext): ToolAnswer | Promise<ToolAnswer> {
  if (tool.label === undefined) return tool.execute(args as never, context);
  // pi's updates are whole partial results.
  const onUpdate = ({ content, details }: { content?: string | readonly { type: string; text?: string }[]; details?: unknown }) => {
    const message = contentText(content);
    context.onUpdate({ ...(message === undefined ? {} : { message }), ...(details === undefined ? {} : { details }) });
  };
  return tool.execute(context.callId, args as never, context.signal, onUpdate, context);
}

function part(progress: number | undefined): number | undefined {
  return progress === undefined || !Number.isFinite(progress) ? undefined : Math.min(1, Math.max(0, progress));
}

function isFields(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stackOf(thrown: unknown): { readonly stack?: string } {
  return thrown instanceof Error && thrown.stack !== undefined ? { stack: thrown.stack } : {};
}
