// What a plugin is given. `RegisterApi` works inside `register` and nowhere else; `RuntimeApi` works as long as the plugin
// is loaded, and says why not when it is not. Names follow those that plugin authors know; the grouped facades are the same
// functions as the flat ones.
import type {
  Contribution,
  HookEvent,
  HookName,
  HookResult,
  JsonObject,
  JsonValue,
  RunStream,
  Scope,
  Session,
  TextBlock,
  ImageBlock,
} from '@tenon/protocol';

/** What a late call gives when it was not done. */
export interface Refused {
  readonly ok: false;
  /** A stable code. */
  readonly reason: 'not-loaded' | 'not-granted' | 'invalid' | 'no-session' | 'conflict' | 'limit' | 'unavailable';
  readonly message: string;
}

export interface Logger {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
}

/** Passed to every handler. */
export interface CallContext {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export type HookHandler<Name extends HookName> = (
  event: HookEvent<Name>,
  context: CallContext,
) => HookResult<Name> | undefined | Promise<HookResult<Name> | undefined>;

export interface HookOptions {
  /** A whole number from -1000 to 1000; a higher one is asked earlier. */
  readonly priority?: number;
  readonly timeoutMs?: number;
}

/** State of the plugin in one session. */
export interface StateValue {
  readonly value: JsonValue;
  readonly revision: number;
}

export interface SessionState {
  get(sessionKey: string, namespace: string): Promise<StateValue | undefined>;
  /** One after another for each session and namespace, on the freshest value; null removes it. Safe from inside any handler of the plugin. */
  update(
    sessionKey: string,
    namespace: string,
    change: (current: JsonValue | undefined) => JsonValue | null | Promise<JsonValue | null>,
  ): Promise<{ readonly ok: true; readonly revision: number } | Refused>;
  /** Only if nobody changed it meanwhile, where a revision is given. */
  patch(
    sessionKey: string,
    namespace: string,
    value: JsonValue | null,
    options?: { readonly ifRevision?: number },
  ): Promise<{ readonly ok: true; readonly revision: number } | Refused>;
  /** Sessions that have a value there. Needs the grant `sessions.list`. */
  list(
    namespace: string,
  ): Promise<readonly { readonly sessionKey: string; readonly value: JsonValue; readonly revision: number }[] | Refused>;
}

export interface Injection {
  readonly sessionKey: string;
  readonly text: string;
  readonly idempotencyKey?: string;
  readonly placement?: 'prepend_context' | 'append_context';
  readonly ttlMs?: number;
  readonly priority?: number;
  readonly metadata?: JsonValue;
}

/** One that goes with a result, into the session of the call. */
export type ResultInjection = Omit<Injection, 'sessionKey'>;

export type Enqueued =
  | { readonly enqueued: true; readonly id: string; readonly sessionKey: string }
  | { readonly enqueued: false; readonly id: string; readonly sessionKey: string; readonly reason: string };

export interface SessionExtension extends Contribution<'sessionExtension'> {
  /** What clients see of the state; without it, nothing. Synchronous and pure. */
  readonly project?: (context: { readonly sessionKey: string; readonly state: JsonValue }) => JsonValue | undefined;
  readonly cleanup?: (context: { readonly reason: CleanupReason; readonly sessionKey?: string }) => void | Promise<void>;
}

export type CleanupReason = 'reset' | 'delete' | 'disable' | 'restart';

export interface ActionCall extends CallContext {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly payload: JsonValue | undefined;
  readonly client: { readonly scopes: readonly Scope[] };
  /** The state of the plugin in this session, fresh. */
  readonly state: (namespace: string) => JsonValue | undefined;
}

export type ActionResult =
  | {
      readonly ok?: true;
      readonly result?: JsonValue;
      /** Shown in the conversation as said by the plugin. */
      readonly reply?: string;
      /**
       * The agent goes on: one turn without a message. Needs the grant `turns.start`. False: what is queued waits for the
       * next turn, whenever that is.
       */
      readonly continueAgent?: boolean;
      /**
       * Committed together with the answer; null removes a namespace. If what the handler has read was changed by somebody
       * else meanwhile, nothing is committed and the handler is asked again.
       */
      readonly statePatch?: Readonly<Record<string, JsonValue | null>>;
      /** Told to the agent with the next turn; queued together with the answer. Needs the grant `prompt.inject`. */
      readonly inject?: readonly ResultInjection[];
    }
  | { readonly ok: false; readonly error: string; readonly code?: string; readonly details?: JsonValue };

export interface SessionAction extends Contribution<'sessionAction'> {
  readonly handler: (call: ActionCall) => ActionResult | undefined | Promise<ActionResult | undefined>;
}

/** Called by `sessions.patch` with `extension: {plugin, action, payload}`. */
export type SessionsPatchExtensionHandler = (
  input: SessionsPatchExtensionCall,
) => SessionsPatchExtensionResult | Promise<SessionsPatchExtensionResult>;

export interface SessionsPatchExtensionCall extends CallContext {
  readonly key: string;
  readonly agentId: string;
  /** The session after the other fields of the same patch. */
  readonly entry: Session;
  readonly payload: unknown;
  readonly client: { readonly scopes: readonly Scope[] };
  /** The state of the plugin in this session, fresh. */
  readonly state: (namespace: string) => JsonValue | undefined;
  /** The same function. */
  readonly getSessionExtension: (namespace: string) => JsonValue | undefined;
}

/** A handler that asks for more than `operator.write`. */
export interface SessionsPatchExtension {
  readonly handler: SessionsPatchExtensionHandler;
  readonly requiredScopes?: readonly Scope[];
}

export type SessionsPatchExtensionResult =
  | {
      readonly ok: true;
      /** Fields that `sessions.patch` itself may set, and the plugin's own slots: what is put there becomes its state. */
      readonly entryPatch?: Partial<Pick<Session, 'title' | 'label' | 'pinned' | 'archived' | 'model' | 'thinking' | 'queue'>> & {
        readonly [slot: string]: JsonValue | undefined;
      };
      /** The plugin's own state in this session; as with an action. */
      readonly statePatch?: Readonly<Record<string, JsonValue | null>>;
      /** Told to the agent with the next turn; queued together with the patch. Needs the grant `prompt.inject`. */
      readonly inject?: readonly ResultInjection[];
      /** As with an action. */
      readonly continueAgent?: boolean;
    }
  | { readonly ok: false; readonly error: string };

export interface ToolCall extends CallContext {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly runId: string;
  readonly callId: string;
  readonly onUpdate: (text: string) => void;
  readonly state: (namespace: string) => JsonValue | undefined;
}

export interface ToolOutput {
  readonly content: string | readonly (TextBlock | ImageBlock)[];
  readonly isError?: boolean;
  readonly details?: JsonObject;
}

export interface PluginTool extends Contribution<'tool'> {
  readonly execute: (args: JsonObject, call: ToolCall) => ToolOutput | Promise<ToolOutput>;
}

export type PolicyDecision =
  | {
      readonly allow?: true;
      readonly params?: JsonObject;
      readonly requireApproval?: { readonly title: string; readonly description: string };
    }
  | { readonly allow: false; readonly reason?: string };

export interface ToolPolicy extends Contribution<'toolPolicy'> {
  readonly evaluate: (
    event: {
      readonly toolName: string;
      readonly params: JsonObject;
      readonly sessionKey: string;
      readonly agentId: string;
      readonly risk: string;
    },
    call: CallContext & { readonly state: (namespace: string) => JsonValue | undefined },
  ) => PolicyDecision | undefined | Promise<PolicyDecision | undefined>;
}

export interface CommandCall extends CallContext {
  readonly sessionKey: string;
  readonly agentId: string;
  /** What was typed after the command. */
  readonly args: string;
  readonly client: { readonly scopes: readonly Scope[] };
  readonly state: (namespace: string) => JsonValue | undefined;
}

export interface PluginCommand extends Contribution<'command'> {
  readonly handler: (
    call: CommandCall,
  ) => { readonly text: string; readonly continueAgent?: boolean } | Promise<{ readonly text: string; readonly continueAgent?: boolean }>;
}

export interface EventSubscription extends Contribution<'eventSubscription'> {
  readonly handle: (event: RunStream, call: CallContext) => void | Promise<void>;
}

export interface Lifecycle extends Contribution<'lifecycle'> {
  readonly cleanup?: (context: { readonly reason: CleanupReason; readonly sessionKey?: string }) => void | Promise<void>;
}

export interface Service extends Contribution<'service'> {
  readonly start: (context: { readonly signal: AbortSignal; readonly logger: Logger }) => void | Promise<void>;
  readonly stop?: () => void | Promise<void>;
}

export interface GatewayMethod extends Contribution<'gatewayMethod'> {
  readonly handler: (
    params: JsonValue,
    call: CallContext & { readonly client: { readonly scopes: readonly Scope[] } },
  ) => JsonValue | Promise<JsonValue>;
}

export interface StartupCheck extends Contribution<'startupCheck'> {
  readonly check: (
    call: CallContext,
  ) => { readonly ok: boolean; readonly message: string } | Promise<{ readonly ok: boolean; readonly message: string }>;
}

/** Works as long as the plugin is loaded. Bad input, a missing grant or a plugin that was unloaded give a value that says so. */
export interface RuntimeApi {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** The plugin's own configuration, checked against the schema of its manifest. */
  readonly pluginConfig: JsonObject;
  readonly logger: Logger;
  readonly session: {
    readonly state: SessionState;
    readonly workflow: {
      enqueueNextTurnInjection(injection: Injection): Promise<Enqueued>;
      /** One turn without a message, if something waits to be told or `force` is set. Needs the grant `turns.start`. */
      continueAgent(request: {
        readonly sessionKey: string;
        readonly force?: boolean;
      }): Promise<{ readonly ok: true; readonly runId?: string } | Refused>;
      /** Tells every surface that a person is needed. */
      notifyActionRequired(request: {
        readonly sessionKey: string;
        readonly title: string;
        readonly actions?: readonly { readonly label: string; readonly actionId: string }[];
      }): { readonly ok: true } | Refused;
    };
  };
  readonly agent: {
    readonly events: {
      /** The stream is `<plugin id>` or begins with `<plugin id>.`. */
      emitAgentEvent(event: {
        readonly runId: string;
        readonly sessionKey: string;
        readonly stream: string;
        readonly data: JsonValue;
      }): { readonly emitted: true; readonly stream: string } | { readonly emitted: false; readonly reason: string };
    };
  };
  /** In memory, for as long as the run lasts. */
  readonly runContext: {
    setRunContext(patch: {
      readonly runId: string;
      readonly namespace: string;
      readonly value?: JsonValue;
      readonly unset?: boolean;
    }): boolean;
    getRunContext(place: { readonly runId: string; readonly namespace: string }): JsonValue | undefined;
    clearRunContext(place: { readonly runId: string; readonly namespace?: string }): void;
  };
  readonly lifecycle: {
    /** Aborts when this load of the plugin ends. */
    readonly signal: AbortSignal;
    onDispose(undo: () => void): void;
  };
}

/** Works inside `register`, which is synchronous and runs once for each load. */
export interface RegisterApi extends RuntimeApi {
  on<Name extends HookName>(name: Name, handler: HookHandler<Name>, options?: HookOptions): void;
  registerSessionExtension(extension: SessionExtension): void;
  registerSessionAction(action: SessionAction): void;
  registerControlUiDescriptor(descriptor: Contribution<'uiDescriptor'>): void;
  registerTrustedToolPolicy(policy: ToolPolicy): void;
  registerTool(tool: PluginTool): void;
  registerToolMetadata(metadata: Contribution<'toolMetadata'>): void;
  registerCommand(command: PluginCommand): void;
  registerAgentEventSubscription(subscription: EventSubscription): void;
  registerRuntimeLifecycle(lifecycle: Lifecycle): void;
  registerService(service: Service): void;
  registerGatewayMethod(method: GatewayMethod): void;
  registerStartupCheck(check: StartupCheck): void;
}
