// What a plugin is given. `RegisterApi` works inside `register`; kept for later it is a `RuntimeApi`, which works as long as
// the plugin is loaded, and says why not when it is not.
import type { JsonObject } from '@tenon/protocol';
import type { AgentEvents, GatewayEvents, PluginLifecycle, RunContext, Secrets, SessionState, SessionWorkflow } from './facades.ts';
import type { Channels } from './deliveries.ts';
import type { FlatRegistrations, FlatRuntime } from './flat.ts';
import type { Registrations } from './registrations.ts';
import type { Logger } from './values.ts';

/** Works as long as the plugin is loaded. Bad input, a missing grant or a plugin that was unloaded give a value that says so. */
export interface RuntimeApi extends FlatRuntime {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** Where the plugin comes from: part of the program, or a folder of `plugins.paths`. */
  readonly source: 'bundled' | 'path';
  /** The folder of its manifest. */
  readonly rootDir: string;
  /** The plugin's own configuration, checked against the schema of its manifest. */
  readonly pluginConfig: JsonObject;
  readonly logger: Logger;
  /** The time in milliseconds since 1970, by the clock that schedules go by. In a test host, the clock of the test. */
  now(): number;
  /** A path of the plugin's folder as a whole one; `~` is the home of the user, and a whole one stays as it is. */
  resolvePath(path: string): string;
  readonly session: { readonly state: SessionState; readonly workflow: SessionWorkflow };
  readonly agent: { readonly events: AgentEvents };
  readonly gateway: GatewayEvents;
  readonly channels: Channels;
  readonly secrets: Secrets;
  readonly runContext: RunContext;
  readonly lifecycle: PluginLifecycle;
}

/** Works inside `register`, which is synchronous and runs once for each load. */
export type RegisterApi = RuntimeApi & Registrations & FlatRegistrations;
