// What a plugin registers: the data of each kind, as the table of the protocol has it, and the handlers beside it.
import type {
  ApprovalRequest,
  Contribution,
  HookEvent,
  HookName,
  HookResult,
  ImageBlock,
  JsonObject,
  JsonValue,
  RunStream,
  Scope,
  Session,
  TextBlock,
  Risk,
} from '@tenon/protocol';
import type { ResultInjection } from './facades.ts';
import type { CallContext, CleanupReason, Logger } from './values.ts';

/** Passed to handlers that are about a session. */
export interface SessionContext extends CallContext {
  /** What the plugin itself keeps there, as it is now; undefined where the call is about no session. */
  readonly getSessionExtension: (namespace: string) => JsonValue | undefined;
}

/** A turn that the plugin has asked for. */
export interface OwnRun {
  readonly runId: string;
  readonly state: 'queued' | 'running';
}

export type HookHandler<Name extends HookName> = (
  event: HookEvent<Name>,
  context: SessionContext,
) => HookResult<Name> | undefined | Promise<HookResult<Name> | undefined>;

export interface HookOptions {
  /** A whole number from -1000 to 1000; a higher one is asked earlier. */
  readonly priority?: number;
  readonly timeoutMs?: number;
  /** Only for calls of these tools, by their ids in lower case. For `before_tool_call` and `after_tool_call`. */
  readonly matcher?: readonly string[];
}

export interface SessionExtension extends Contribution<'sessionExtension'> {
  /** What clients see of the state; without it, nothing. Synchronous and pure. */
  readonly project?: (context: { readonly sessionKey: string; readonly state: JsonValue }) => JsonValue | undefined;
  readonly cleanup?: (context: { readonly reason: CleanupReason; readonly sessionKey?: string }) => void | Promise<void>;
}

export interface ActionCall extends SessionContext {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly payload: JsonValue | undefined;
  /** The turn that is at work in this session, if there is one. */
  readonly runId?: string;
  /** Turns of this session that the plugin has asked for and that have not ended. */
  readonly openChildRuns: () => Promise<readonly OwnRun[]>;
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

export interface ToolCall extends SessionContext {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly runId: string;
  readonly callId: string;
  /** Turns of this session, beside this one, that the plugin has asked for and that have not ended. */
  readonly openChildRuns: () => Promise<readonly OwnRun[]>;
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

export interface ToolContext extends SessionContext {
  readonly sessionKey: string;
  readonly agentId: string;
  /** The real path of the agent's workspace. */
  readonly workspaceDir: string;
}

/** Makes the tool for one session; null: it is not there. The name is the one that it was registered with. */
export type ToolFactory = (context: ToolContext) => PluginTool | null | undefined | Promise<PluginTool | null | undefined>;

export interface ToolResultMiddleware extends Contribution<'toolResultMiddleware'> {
  /** Fields that it gives replace those so far. */
  readonly handler: (
    result: {
      readonly sessionKey: string;
      readonly agentId: string;
      readonly runId: string;
      readonly toolName: string;
      readonly toolCallId: string;
      readonly params: JsonObject;
      readonly content: readonly (TextBlock | ImageBlock)[];
      readonly isError: boolean;
      readonly details?: JsonObject;
    },
    call: SessionContext,
  ) => Partial<ToolOutput> | undefined | Promise<Partial<ToolOutput> | undefined>;
}

/** A verdict, or what a `before_tool_call` handler may answer. */
export type PolicyDecision =
  | {
      readonly allow?: true;
      readonly block?: false;
      readonly params?: JsonObject;
      readonly requireApproval?: Readonly<ApprovalRequest>;
    }
  | { readonly allow: false; readonly reason?: string }
  | { readonly block: true; readonly blockReason?: string };

export interface ToolPolicy extends Contribution<'toolPolicy'> {
  readonly evaluate: (
    event: {
      readonly toolName: string;
      readonly params: JsonObject;
      readonly sessionKey: string;
      readonly agentId: string;
      readonly runId: string;
      readonly toolCallId: string;
      /** Of this call. */
      readonly risk: Risk;
      /** The real path of the agent's workspace. */
      readonly workspaceDir: string;
      /** Places of the machine that the call is about, where the tool knows: absolute, each as it is spelled and where it leads. */
      readonly derivedPaths?: readonly string[];
      /** The words of the command, where a program would run; those inside of words too. */
      readonly commandWords?: readonly string[];
      /** Hosts that the call names, where the tool knows. A page that leads elsewhere is judged again. */
      readonly hosts?: readonly string[];
    },
    call: SessionContext & { readonly state: (namespace: string) => JsonValue | undefined },
  ) => PolicyDecision | undefined | Promise<PolicyDecision | undefined>;
}

export interface CommandCall extends SessionContext {
  readonly sessionKey: string;
  readonly agentId: string;
  /** What was typed after the command. */
  readonly args: string;
  readonly client: { readonly scopes: readonly Scope[] };
  readonly state: (namespace: string) => JsonValue | undefined;
}

/** What may come next after a command; `text` is all that follows the name of it. */
export interface Completion {
  readonly text: string;
  readonly description?: string;
}

/** Beside the text, the same as of an action, and committed in the same way. */
export interface CommandResult extends Pick<Extract<ActionResult, { readonly ok?: true }>, 'continueAgent' | 'statePatch' | 'inject'> {
  /** For whoever typed the command. */
  readonly text: string;
}

export interface PluginCommand extends Contribution<'command'> {
  /** While somebody types: what may follow. */
  readonly complete?: (args: string, call: CommandCall) => readonly (string | Completion)[] | Promise<readonly (string | Completion)[]>;
  readonly handler: (call: CommandCall) => CommandResult | Promise<CommandResult>;
}

export interface EventSubscription extends Contribution<'eventSubscription'> {
  readonly handle: (event: RunStream, call: SessionContext) => void | Promise<void>;
}

export interface Lifecycle extends Contribution<'lifecycle'> {
  readonly cleanup?: (context: { readonly reason: CleanupReason; readonly sessionKey?: string }) => void | Promise<void>;
}

/** A record of something that runs elsewhere for a session. It schedules nothing; `cleanup` ends what it stands for. */
export interface SchedulerJob extends Contribution<'schedulerJob'> {
  /** Once: when the session is reset or deleted, and when the plugin goes, unless the next load registers the same id. One that fails is asked again. */
  readonly cleanup?: (context: { readonly reason: CleanupReason; readonly sessionKey?: string }) => void | Promise<void>;
}

/** What was taken. */
export interface SchedulerJobHandle extends Pick<SchedulerJob, 'id' | 'sessionKey' | 'kind'> {
  readonly pluginId: string;
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
