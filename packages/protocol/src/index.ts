export {
  ActionRequired,
  Attachment,
  AttachmentHandle,
  AttachmentRef,
  Delivery,
  DeliveryBlock,
  DeliveryButton,
  DeliveryEdited,
  DeliveryEdits,
  DeliveryPressed,
  DeliveryRecord,
  deliveryStates,
  editStates,
  deliveryTones,
  Presentation,
} from './attachment.ts';
export {
  Approval,
  ApprovalRule,
  Decision,
  decisions,
  PermissionMode,
  permissionModes,
  Risk,
  risks,
} from './approval.ts';
export {
  CommandInfo,
  commandNames,
  commands,
  isCommandName,
  parseCommand,
  type CommandName,
} from './commands.ts';
export {
  ActiveWhen,
  ChannelId,
  DEFAULT_CHANNEL,
  contributionKinds,
  contributionRow,
  contributions,
  isToolMatched,
  ItemName,
  matcherFault,
  rejections,
  routeMethods,
  StatePlace,
  ToolMatcher,
  UiAction,
  UiBlock,
  UiItemAction,
  UiOption,
  uiSurfaces,
  type Contribution,
  type ContributionKind,
  type RejectionCode,
} from './contributions.ts';
export { noticeLevels, questionKinds, questionStates, UiNotice, UiQuestion, UiReply, UiShown, type QuestionKind } from './people.ts';
export { Grant, grantNames, grantRow, grants, type GrantName, UNCONFINED, UNCONFINED_GRANT, variableGrant } from './grants.ts';
export { capabilities, ConnectParams, DeviceProof, deviceSigningText, HelloOk, roles } from './connect.ts';
export {
  CronText,
  IntervalMs,
  Job,
  JobMessage,
  JobName,
  JobRetry,
  JobSession,
  JobTag,
  LAST_TIME,
  Occurrence,
  occurrenceStates,
  OnMiss,
  Overlap,
  Schedule,
  ScheduleWish,
  TimeZone,
  type OccurrenceState,
} from './schedule.ts';
export { ErrorShape, errorCodes, errors, GatewayError, type ErrorCode } from './errors.ts';
export {
  eventNames,
  eventRow,
  events,
  isEventName,
  PluginEvent,
  type DurableEvent,
  type EphemeralEvent,
  type EventName,
  type EventPayload,
} from './events.ts';
export { EventFrame, GatewayFrame, PROTOCOL_VERSION, RequestFrame, ResponseFrame, StateVersion } from './frames.ts';
export {
  absentHooks,
  hookGrant,
  hookNames,
  hookRow,
  hooks,
  isHookName,
  type HookEvent,
  type HookName,
  type HookResult,
} from './hooks.ts';
export { hookNeeds } from './hooks/needs.ts';
export { Verdict, type AnyMerge, type Merge } from './hooks/merge.ts';
export { HOOK_PRIORITY_RANGE, HOOK_TIMEOUT_RANGE, hookContext, type HookEnd, type HookSpec } from './hooks/row.ts';
export type { RetryCandidate } from './hooks/prompt.ts';
export { ApprovalRequest, isProtectedEnvName } from './hooks/tools.ts';
export { JsonValue, parseJson, placeInText, type JsonFault, type ParsedJson } from './json.ts';
export { isPluginPlace, pluginPlaceNames, pluginPlaces, type PluginPlaceName } from './plugin-places.ts';
export { grantedFields, lateCallNames, lateCallRow, lateCalls, type GrantedCall, type LateCall } from './late-calls.ts';
export { answerFields, lateParams, type LateParams } from './late-params.ts';
export { limits, type LimitName } from './limits.ts';
export { isMethodName, methodNames, methodRow, methods, type KeyedMethod, type MethodName, type Params, type Result } from './methods.ts';
export { Device, PairingRequest, Token } from './methods/access.ts';
export { ActionAnswer, UiDescriptor } from './methods/plugins.ts';
export type { MethodSpec } from './methods/row.ts';
export { AuditRecord, Finding, LogLevel, LogRecord, logLevels, type ConfigResult } from './methods/system.ts';
export {
  AgentConfig,
  AgentInfo,
  DEMO_MODEL_ID,
  ModelConfig,
  type ModelFailureKind,
  modelFailures,
  ModelId,
  ModelInfo,
  modelProviders,
  type ModelProvider,
  pluginModelId,
  pluginProviderId,
} from './model.ts';
export { DEFAULT_AGENT_ID, OwnerId, RandomId, RESERVED_KEYS, SessionKey } from './names.ts';
export {
  PendingInjection,
  PluginDetails,
  PluginExtension,
  PluginInfo,
  pluginIncidents,
  pluginStates,
  extensionStates,
  ExtensionLogLine,
  type ExtensionState,
} from './plugin.ts';
export { PLUGIN_API_LEVEL, PLUGIN_MANIFEST_FILE, PluginManifest } from './plugin-manifest.ts';
export { expandScopes, missingScopes, ScopeList, scopeNames, scopes, type Scope } from './scopes.ts';
export { Session, sessionFields, SessionStatus, sessionStatuses } from './session.ts';
export { RunStream, runPhases } from './run-stream.ts';
export { isSettingName, settingNames, settingRow, settings, type SettingName, type Settings, type SettingValue } from './settings.ts';
export { ClientInfo, Health, PresenceEntry, Status } from './status.ts';
export { TraceChange, traceOutcomes, TraceRecord, type TraceOutcome } from './trace.ts';
export { EffectiveTool, SandboxState, ToolInfo } from './tool.ts';
export {
  AssistantMessage,
  Entry,
  ImageBlock,
  imageTypes,
  JsonObject,
  Message,
  QueueMode,
  queueModes,
  Run,
  RunEnd,
  runEnds,
  TextBlock,
  ThinkingLevel,
  thinkingLevels,
  ToolCallBlock,
  ToolResultMessage,
  TreeNode,
  Usage,
  UserMessage,
  type EntryDraft,
  type EntryOf,
  type MessageOrigin,
  unseenReasons,
} from './transcript.ts';
export { composerOf, inOrder, isActive, shownValue, type ClosedComposer } from './ui-state.ts';
export { explain, matches, reading } from './validate.ts';
export { visible } from './visible.ts';
