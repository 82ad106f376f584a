export type { RegisterApi, RuntimeApi } from './api.ts';
export type {
  ActionCall,
  ActionResult,
  CommandCall,
  CommandResult,
  Completion,
  EventSubscription,
  GatewayMethod,
  HookHandler,
  HookOptions,
  Lifecycle,
  OwnRun,
  PluginCommand,
  PluginTool,
  PolicyDecision,
  SchedulerJob,
  SchedulerJobHandle,
  Service,
  SessionAction,
  SessionContext,
  SessionExtension,
  SessionsPatchExtension,
  SessionsPatchExtensionCall,
  SessionsPatchExtensionHandler,
  SessionsPatchExtensionResult,
  StartupCheck,
  ToolCall,
  ToolContext,
  ToolFactory,
  ToolOutput,
  ToolPolicy,
  ToolResultMiddleware,
} from './contributions.ts';
export { definePluginEntry, type PluginEntry } from './define-plugin.ts';
export type {
  AttachmentButton,
  AttachmentChange,
  AttachmentChangeOutcome,
  AttachmentOutcome,
  AttachmentPresentation,
  Channel,
  ChannelPress,
  ChannelPressOutcome,
  Channels,
  DeliveryReceipt,
  InboundMessage,
  OutgoingDelivery,
  OutgoingEdit,
  OutgoingFile,
  ReceiveOutcome,
  SessionAttachment,
} from './deliveries.ts';
export type { DueTurn, ScheduledTurnHandler } from './due-turn.ts';
export type {
  AgentEvents,
  ApprovalOutcome,
  ApprovalQuestion,
  Emitted,
  Enqueued,
  GatewayEvents,
  Injection,
  PluginLifecycle,
  ResultInjection,
  RunContext,
  Secrets,
  SecretValue,
  SessionState,
  SessionWorkflow,
  StateValue,
} from './facades.ts';
export type { FlatRegistrations, FlatRuntime } from './flat.ts';
export type { HttpRoute, HttpRouteAnswer, HttpRouteRequest } from './http-route.ts';
export type { ButtonPress, InteractiveHandler } from './interactive-handler.ts';
export type { ScheduledTurn, ScheduleOutcome, UnscheduleOutcome } from './later.ts';
export type {
  ModelAnswer,
  ModelCredentials,
  ModelFailed,
  ModelPiece,
  ModelProvider,
  ModelProviderCall,
  ModelProviderRequest,
} from './model-provider.ts';
export type { Registrations } from './registrations.ts';
export type { CallContext, CleanupReason, Logger, Refused } from './values.ts';
