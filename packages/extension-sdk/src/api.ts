// What the setup of an extension is given. The members of pi's ExtensionAPI are here by name and signature where SEP has the
// thing behind them; the others are SEP's.
import type {
  CommandDefinition,
  FlagDefinition,
  PiCommandOptions,
  CommandContext,
  CommandAnswer,
  ProviderDefinition,
  ShortcutDefinition,
  ToolDefinition,
  PiToolDefinition,
  ContentPart,
} from './definitions.ts';
import type { Host } from './host.ts';
import type { EventName, HookName, LogLevel, UiKind } from './names.ts';
import type { EventHandler, FurtherHookHandler, HandlerContext, HookHandler, HookInputs } from './on.ts';
import type { ToolParameters } from './parameters.ts';
import type { ProgramRuns } from './programs.ts';
import type { RenderBlock } from './render.ts';
import type { DeliverAs, KeyValues, SessionFacade } from './session.ts';
import type { FurtherEvents, FurtherHooks, Seams } from './seams.ts';
import type { Ui } from './ui.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Between extensions. */
export interface Bus {
  /** Resolves when the host has taken it. */
  publish(topic: string, payload?: Fields): Promise<void>;
  /** pi's name: nobody waits, and a failure is logged. */
  emit(topic: string, payload?: Fields): void;
  /** Returns how to stop. */
  on(topic: string, handler: (payload: Fields, from: string) => unknown): () => void;
}

/** As pi's `sendMessage` has it. */
export interface CustomMessage {
  readonly content: string | readonly ContentPart[];
  /** With it an entry is kept beside the message, for a message renderer. */
  readonly customType?: string;
  /** False: only the entry is kept. */
  readonly display?: boolean;
  readonly details?: unknown;
}

export interface ExtensionApi extends Seams {
  /** What the extension says of itself; the host goes by the name of its manifest. */
  name: string;
  version: string;

  registerTool<const Schema extends ToolParameters>(tool: ToolDefinition<Schema> | PiToolDefinition<Schema>): void;
  registerCommand(command: CommandDefinition): void;
  registerCommand(name: string, options: PiCommandOptions): void;
  registerFlag(flag: FlagDefinition): void;
  registerFlag(name: string, options?: Omit<FlagDefinition, 'name'> & { readonly type?: 'boolean' | 'string' }): void;
  registerShortcut(shortcut: ShortcutDefinition): void;
  /** A command stands behind it, called after the key. */
  registerShortcut(
    key: string,
    options: {
      readonly description?: string;
      handler(context: CommandContext): CommandAnswer | void | Promise<CommandAnswer> | Promise<void>;
    },
  ): void;
  registerProvider(provider: ProviderDefinition): void;
  registerProvider(name: string, provider: Omit<ProviderDefinition, 'name'>): void;
  /** Entries with this tag are shown so; `{{path}}` in a text is replaced from the entry. */
  registerMessageRenderer(tag: string, template: RenderBlock): void;

  /** Takes part in a hook. Returns how to stop. */
  on<Name extends HookName>(hook: Name, handler: HookHandler<HookInputs[Name]>): () => void;
  /** Takes part in a hook that SEP does not name, where the host has it. */
  on<Name extends keyof FurtherHooks>(
    hook: Name,
    handler: FurtherHookHandler<FurtherHooks[Name]['input'], FurtherHooks[Name]['patch']>,
  ): () => void;
  /** Follows an event that SEP does not name, where the host has it. */
  on<Name extends keyof FurtherEvents>(
    event: Name,
    handler: (payload: FurtherEvents[Name], context: HandlerContext) => unknown,
  ): () => void;
  /** Follows an event. */
  on(event: EventName, handler: EventHandler): () => void;

  readonly events: Bus;
  readonly kv: KeyValues;
  readonly ui: Ui;
  /** Of the call in which it is used; `context.session` of a handler is the same. */
  readonly session: SessionFacade;
  readonly exec: ProgramRuns;
  hasUI(kind?: UiKind): boolean;
  log(level: LogLevel, message: string, fields?: Fields): void;
  /** What the host was started with; otherwise the default. Undefined before the host has said it. */
  getFlag(name: string): unknown;
  /** Throws before the host has said it: in handlers it has. */
  readonly host: Host;
  /** Is the host there. */
  ping(): Promise<void>;

  sendMessage(message: string | CustomMessage, options?: { readonly triggerTurn?: boolean; readonly deliverAs?: DeliverAs }): Promise<void>;
  sendUserMessage(content: string | readonly ContentPart[], options?: { readonly deliverAs?: DeliverAs }): Promise<void>;
  appendEntry(customType: string, data?: unknown): Promise<void>;
  /** False where the host has no such model. */
  setModel(model: string | { readonly id: string; readonly provider?: string }): Promise<boolean>;
  /** Narrows the tools of the agent, and says which are left. */
  setActiveTools(names: readonly string[]): Promise<readonly string[]>;

  /** Before the process ends: the host has asked for it, or is gone. */
  onShutdown(handler: () => unknown): void;
}
