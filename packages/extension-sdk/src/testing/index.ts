export { runConformance, type ConformanceOptions, type ConformanceReport, type ConformanceStep } from './conformance.ts';
export { createTestHost, type TestHost, type TestHostOptions } from './create-test-host.ts';
export {
  ScriptedHost,
  type CallOptions,
  type ExecAnswer,
  type InitializeResult,
  type ModelOutcome,
  type Recorded,
  type Registrations,
  type ScriptedHostOptions,
  type ToolOutcome,
  type UiAnswer,
  type UiRequest,
} from './scripted-host.ts';
export { ScriptedSeams, type ApprovalAnswer, type ScheduledJob, type SeamScript, type StoredState } from './scripted-seams.ts';
export { startExtension, type ExtensionCommand, type RunningExtension, type StartOptions } from './running-extension.ts';
