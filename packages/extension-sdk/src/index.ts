export type { Bus, CustomMessage, ExtensionApi } from './api.ts';
export type { JsonSchema } from './check-schema.ts';
export {
  defineCommand,
  defineProvider,
  defineTool,
  type CallContext,
  type CommandAnswer,
  type CommandContext,
  type CommandDefinition,
  type Completion,
  type CompletionAnswer,
  type CompletionRequest,
  type CompletionResult,
  type ContentPart,
  type Credentials,
  type Delta,
  type FlagDefinition,
  type PiCommandOptions,
  type PiToolDefinition,
  type ProviderContext,
  type ProviderDefinition,
  type ShortcutDefinition,
  type ToolAnswer,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
  type ToolUpdate,
} from './definitions.ts';
export { defineExtension, type Connection, type Extension, type Setup } from './extension.ts';
export type { DispatchContext, Host } from './host.ts';
export type { EventName, HookName, LogLevel, Mode, UiKind } from './names.ts';
export type {
  EventHandler,
  FurtherHookAnswer,
  FurtherHookHandler,
  HandlerContext,
  HookAnswer,
  HookHandler,
  HookInputs,
  HookOutcome,
  Messages,
} from './on.ts';
export { toJsonSchema, type ArgumentsOf, type ToolParameters, type ZodSchema } from './parameters.ts';
export { Peer, type FrameId, type IncomingCall, type Params, type PeerHandlers, type PeerLimits, type RequestOptions } from './peer.ts';
export type { ExecOptions, ExecResult, ProgramRuns } from './programs.ts';
export { render, type RenderBlock } from './render.ts';
export { RpcError } from './rpc-error.ts';
export type { SeamGroups, SessionPlace, StateCalls } from './seam-groups.ts';
export type { FurtherEvents, FurtherHooks, SeamCalls, SeamHandler, SeamItems, SeamRequests, Seams } from './seams.ts';
export type { DeliverAs, KeyValues, SessionFacade } from './session.ts';
export { linkedPair, stdioTransport, type StdioOptions, type Transport, type TransportEvents } from './transport.ts';
export type { DialogOptions, Ui } from './ui.ts';
export { errorCode, eventName, method, PROTOCOL_VERSION } from './wire.ts';
