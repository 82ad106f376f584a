// The plugins of this gateway as the rest of it sees them: found, trusted, loaded as generations, and taken away again. What
// they register stands in two registries that others read. `openPlugins` of open-plugins.ts makes one of these.
import type { EventPayload, JsonObject, pluginStates, RunStream } from '@tenon/protocol';
import type { Refused } from '@tenon/plugin-sdk';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';
import type { CallCounts, PlaceCounts } from './call-counts.ts';
import type { PluginCaller } from './call-plugin.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import type { Found } from './discover.ts';
import type { HookRegistry } from './hook-registry.ts';
import type { PluginChanges } from './plugin-changes.ts';
import type { Guarded, MissingGuard } from './plugin-guards.ts';
import type { OwnRun } from './own-runs.ts';
import type { StateOf } from './own-state.ts';
import type { OwnEvent } from './plugin-api.ts';
import type { PluginActivity } from './plugin-activity.ts';
import type { PluginFaults } from './plugin-faults.ts';
import type { Incident } from './plugin-incidents.ts';
import type { Registration } from './plugin-load.ts';
import type { HookRunner } from './run-hook.ts';
import type { ChannelPressDeps } from './press-in-channel.ts';
import type { ReceiveDeps } from './receive-message.ts';
import type { ChannelQuestions } from './send-question.ts';
import type { RunProgram } from './plugin-programs.ts';
import type { AskedPerson, PersonQuestion } from './plugin-questions.ts';
import type { TurnSchedules } from './plugin-schedules.ts';
import type { ServiceState } from './plugin-services.ts';
import type { ProcessInfo } from './sep/extension-run.ts';
import type { LogPage } from './sep/process/log-ring.ts';
import type { ExtensionOptions } from './sep/open-extensions.ts';
import type { People } from './sep/serve/people.ts';
import type { SessionDesk } from './sep/serve/session-desk.ts';
import type { WatchOptions } from './plugin-watchdog.ts';

export type PluginState = keyof typeof pluginStates;

export interface PluginInfo {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly origin: 'bundled' | 'path';
  readonly folder: string;
  /** The one that an extension belongs to. */
  readonly workspace?: string;
  readonly state: PluginState;
  /** In words, where it is not `loaded`. */
  readonly reason?: string;
  /** Whether the operator wants it loaded. */
  readonly enabled: boolean;
  /** Of this load. */
  readonly generation?: number;
  readonly loadedAt?: number;
  /** What its manifest asks for, and what its process has asked for since. */
  readonly asked: readonly string[];
  /** While it is `ungranted`: what it does not run without. */
  readonly missing?: readonly string[];
  /** What it holds now. */
  readonly granted: readonly string[];
  readonly config: JsonObject;
  readonly configSchema?: JsonObject;
  readonly registrations: readonly Registration[];
  /** Handlers that were switched off because they were too slow. */
  readonly switchedOff: readonly { readonly place: string; readonly at: number; readonly reason: string }[];
  /** What its code did where nobody waited for it. */
  readonly incidents: readonly Incident[];
  readonly services: readonly ServiceState[];
  /** Of an extension. */
  readonly process?: ProcessInfo;
  readonly counts: readonly PlaceCounts[];
}

/** Whoever asked: the actor of the audit record. */
interface By {
  readonly by: string;
}

export interface PluginHost {
  readonly registry: ContributionRegistry;
  readonly hookRegistry: HookRegistry;
  /** The only way to call code of a plugin. */
  readonly caller: PluginCaller;
  /** How calls went. */
  readonly counts: Pick<CallCounts, 'ofHandler'>;
  /** Grows with every load, unload and change of grants. */
  readonly generation: number;
  /** Without plugins: none is loaded. */
  readonly safe: boolean;
  /** Takes what plugins throw where nobody waits. */
  readonly faults: PluginFaults;
  list(): readonly PluginInfo[];
  get(id: string): PluginInfo | undefined;
  /** Of its files as they are now; undefined where they are not fit. */
  treeHash(id: string): Promise<string | undefined>;
  /** Since it was accepted. */
  changes(id: string): Promise<PluginChanges>;
  /** The last `limit` lines of the log of an extension after this one; none of a plugin inside the gateway. */
  logs(id: string, after: number, limit: number): LogPage;
  /** Grants what its manifest asks for, or only `grants`, for its files as they are now, and loads it; only if those have `treeHash`. */
  enable(id: string, options: By & { readonly grants?: readonly string[]; readonly treeHash?: string }): Promise<PluginInfo>;
  /** Unloads it and removes what it keeps in sessions; with `forget`, all that is known of it: what it keeps for itself, and what was decided. */
  disable(id: string, options: By & { readonly forget?: boolean }): Promise<PluginInfo>;
  /** Looks for plugins anew; loads this one anew, or all that are on. */
  reload(id: string | undefined, options: By): Promise<readonly PluginInfo[]>;
  /** Only what its manifest asks for. Also says that its files are trusted as they are now. */
  grant(id: string, grants: readonly string[], options: By): Promise<PluginInfo>;
  /** Holds at once: what was registered by that right is gone when it resolves. */
  revoke(id: string, grants: readonly string[], options: By): Promise<PluginInfo>;
  /** Null: as if nobody had set it up. */
  setConfig(id: string, config: JsonObject | null, options: By): Promise<PluginInfo>;
  /** A plugin that is meant to guard this and is not loaded: what it guards is refused. */
  missingGuard(guarded: Guarded): MissingGuard | undefined;
  readonly missingGuards: readonly MissingGuard[];
  /** Whether the plugin is loaded and holds the grant now. */
  holds(plugin: string, grant: string): boolean;
  /** Whether extensions leave this tool active in the session. */
  isActive(tool: string, sessionKey: string): boolean;
  /** What the plugin keeps in this session, as it is now; undefined where it keeps nothing in any. Frozen. */
  readonly stateOf: StateOf;
  /** Turns of this session that the plugin has asked for and that have not ended. */
  openRuns(plugin: string, sessionKey: string): Promise<readonly OwnRun[]>;
  /** Questions of extensions, where the session came from. */
  readonly questions: ChannelQuestions;
  /** What the plugins' own start-up checks say. */
  check(): Promise<readonly { readonly plugin: string; readonly id: string; readonly ok: boolean; readonly message: string }[]>;
  /** From the store, after the commit: runs that end and sessions that are reset or deleted are cleaned up after. */
  committed(batch: readonly StoredEvent[]): void;
  /** Resolves when each extension that was on at the start has been tried once. */
  readonly started: Promise<void>;
  /** Waits until clean-up that `committed` began is done. */
  settled(): Promise<void>;
  /** Stops services and ends every load. What plugins keep stays. */
  close(): Promise<void>;
}

export interface PluginHostOptions {
  readonly home: string;
  /** The setting `plugins.paths`. */
  readonly paths: readonly string[];
  /** The folder of those that are part of the program, if there is one. */
  readonly bundledFolder?: string | undefined;
  /** What extensions are started with; without it, none is looked for. */
  readonly extensions?: Omit<ExtensionOptions, 'home' | 'workspace'>;
  /** Who watches the sessions, for extensions. */
  readonly people?: People | undefined;
  /** These and no others: nothing is looked for. */
  readonly given?: readonly Found[];
  readonly safe?: boolean;
  /** Stand where the process would end because of what a plugin threw. */
  readonly guard?: boolean;
  /** Name whoever blocks the event loop; with `activity`. */
  readonly watch?: WatchOptions;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly hookRegistry: HookRegistry;
  readonly caller: PluginCaller;
  /** Asks the plugins that take part in what is sent; without it, nobody is asked. */
  readonly hooks?: Pick<HookRunner, 'has' | 'run'>;
  /** The one that the caller was made with. */
  readonly counts: CallCounts;
  /** The one that the caller was made with, if it was made with one. */
  readonly activity?: PluginActivity;
  /** Tools of the gateway itself. */
  readonly reservedTools?: Iterable<string>;
  /** Ids of models that the settings name. */
  readonly reservedModels?: Iterable<string>;
  readonly publish: {
    readonly changed: (payload: EventPayload<'plugins.changed'>) => void;
    /** In streams of the plugin's own. */
    readonly said: (said: RunStream) => void;
    /** To every client that may hear it. */
    readonly event: (event: OwnEvent) => void;
  };
  /** One turn without a message. The host has looked at grant and input. */
  readonly schedules: TurnSchedules;
  readonly continueAgent: (request: {
    readonly plugin: string;
    readonly sessionKey: string;
    readonly force: boolean;
  }) => Promise<{ readonly ok: true; readonly runId?: string } | Refused>;
  /** Asks the operator and waits, until the signal says that nobody waits any more. The host has looked at grant and input. */
  readonly askPerson: (question: PersonQuestion, signal: AbortSignal) => Promise<AskedPerson>;
  /** Runs a program as the agent would. The host has looked at the grant. */
  readonly runProgram?: RunProgram;
  /** The bytes of attachments. */
  readonly files: AttachmentFiles;
  /** The setting `attachments.roots`. */
  readonly sendRoots: readonly string[];
  /** The workspace of the agent of a session; undefined when there is no such agent. */
  readonly workspaceOf: (sessionKey: string) => string | undefined;
  /** Says to the agent what a channel brings in. The host has looked at grant and input. */
  readonly receive: ReceiveDeps['receive'];
  /** Presses a button that was pressed in a channel. The host has looked at grant, input and whose it is. */
  readonly press: ChannelPressDeps['press'];
  /** What extensions do in sessions; without it, nothing. */
  readonly desk?: SessionDesk;
  /** Bundled plugins that are switched on where nobody has decided about them yet. */
  readonly onAtFirst?: readonly string[];
  /** A secret that the operator keeps; undefined where there is none. */
  readonly readSecret: (name: string) => string | undefined;
  /** Who owns files; for tests. */
  readonly uid?: number;
}
