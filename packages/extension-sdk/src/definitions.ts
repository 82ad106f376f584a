// What an author writes: tools, commands and providers, and what their handlers are given. `define*` return what they are
// given; they are there so that arguments get their types where they are written.
import type { ArgumentsOf, ToolParameters } from './parameters.ts';
import type { DispatchContext, Host } from './host.ts';
import type { SessionFacade } from './session.ts';
import type { ProgramRuns } from './programs.ts';
import type { LogLevel } from './names.ts';
import type { Ui } from './ui.ts';
import type { UiKind } from './names.ts';

/** What every handler is given. */
export interface CallContext {
  readonly context: DispatchContext;
  /** Aborted when the host no longer waits. */
  readonly signal: AbortSignal;
  /** The workspace. */
  readonly cwd: string;
  readonly host: Host;
  /** The session in which the handler was called. */
  readonly session: SessionFacade;
  readonly ui: Ui;
  /** Whether people can be asked or shown that; without a kind, whether anything can. */
  hasUI(kind?: UiKind): boolean;
  readonly exec: ProgramRuns;
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface ToolUpdate {
  readonly message?: string;
  /** 0 to 1. */
  readonly progress?: number;
  readonly details?: unknown;
}

export interface ToolContext extends CallContext {
  readonly callId: string;
  onUpdate(update: ToolUpdate): void;
}

/** Pieces of content as pi's tools return them; what is not text is named only, since SEP carries text. */
export type ContentPart = { readonly type: string; readonly text?: string };

export interface ToolResult {
  readonly content: string | readonly ContentPart[];
  readonly is_error?: boolean;
  readonly isError?: boolean;
  /** JSON that is kept with the result and not told to the model. */
  readonly details?: unknown;
}

export interface ToolDefinition<Schema extends ToolParameters = ToolParameters> {
  /** Without the name of the extension, which the host puts before it. */
  readonly name: string;
  readonly label?: never;
  readonly description: string;
  readonly parameters: Schema;
  /** Found by search, and not told to the model from the start. */
  readonly deferred?: boolean;
  /** Called with arguments that fit `parameters`. What it throws is the result, as an error. */
  execute(args: ArgumentsOf<Schema>, context: ToolContext): ToolAnswer | Promise<ToolAnswer>;
}
export type ToolAnswer = string | ToolResult;

/** A tool as pi has it: told apart by its `label`. */
export interface PiToolDefinition<Schema extends ToolParameters = ToolParameters> {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: Schema;
  execute(
    toolCallId: string,
    params: ArgumentsOf<Schema>,
    signal: AbortSignal,
    onUpdate: (partial: ToolResult) => void,
    context: ToolContext,
  ): ToolResult | Promise<ToolResult>;
}

export interface CommandContext extends CallContext {
  /** What was typed after the name is `args.args`. */
  readonly args: Readonly<Record<string, unknown>>;
}

export type CommandAnswer = string | { readonly content?: string } | undefined;

export interface Completion {
  readonly value: string;
  readonly description?: string;
}

export interface CommandDefinition {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  execute(context: CommandContext): CommandAnswer | void | Promise<CommandAnswer> | Promise<void>;
  /** What can follow, for what has been typed after the name so far. */
  complete?(partial: string, context: CallContext): readonly CompletionAnswer[] | null | Promise<readonly CompletionAnswer[] | null>;
}
export type CompletionAnswer = string | (Completion & { readonly label?: string });

/** A command as pi has it: the handler is given the text after the name. */
export interface PiCommandOptions {
  readonly description?: string;
  handler(args: string, context: CommandContext): CommandAnswer | void | Promise<CommandAnswer> | Promise<void>;
  getArgumentCompletions?(prefix: string): readonly CompletionAnswer[] | null | Promise<readonly CompletionAnswer[] | null>;
}

export interface FlagDefinition {
  readonly name: string;
  readonly description?: string;
  /** What `getFlag` returns where the host sent nothing. */
  readonly default?: unknown;
}

export interface ShortcutDefinition {
  /** Such as `ctrl+p` or `f2`. */
  readonly key: string;
  /** The command that it runs. */
  readonly command: string;
  readonly description?: string;
}

/** One call of a model, as it came. */
export interface CompletionRequest {
  readonly request_id: string;
  readonly provider: string;
  readonly model: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly stream?: boolean;
  readonly response_format?: Readonly<Record<string, unknown>>;
  readonly thinking?: string;
}

export interface CompletionResult {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly finish_reason?: string;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly reasoning_content?: string;
  readonly resolved_model?: string;
}

/** Usage, model and end are the host's to tell, from the result. */
export type Delta =
  | { readonly type: 'Delta'; readonly content: string }
  | { readonly type: 'Reasoning'; readonly content: string }
  | { readonly type: 'ToolCallStart'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'ToolCallArgumentsDelta'; readonly index: number; readonly arguments_chunk: string };

export interface ProviderContext extends CallContext {
  /** A piece of the answer; text alone is a `Delta`. Nothing is sent where the host did not ask for a stream. */
  delta(piece: string | Delta): void;
}

export interface Credentials {
  readonly api_key?: string;
  readonly access_token?: string;
  readonly refresh_token?: string;
  /** Seconds since 1970. */
  readonly expires_at?: number;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface ProviderDefinition {
  readonly name: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly models: readonly { readonly id: string; readonly displayName?: string }[];
  complete(request: CompletionRequest, context: ProviderContext): string | CompletionResult | Promise<string | CompletionResult>;
  oauthLogin?(context: CallContext): Credentials | Promise<Credentials>;
  oauthRefresh?(refreshToken: string | undefined, context: CallContext): Credentials | Promise<Credentials>;
}

export function defineTool<const Schema extends ToolParameters>(tool: ToolDefinition<Schema>): ToolDefinition<Schema> {
  return tool;
}

export function defineCommand(command: CommandDefinition): CommandDefinition {
  return command;
}

export function defineProvider(provider: ProviderDefinition): ProviderDefinition {
  return provider;
}
