// A host for tests of plugins: `@tenon/plugin-sdk/testing`. The types stand here; what runs is the code of the gateway
// itself, without sockets and without files (packages/gateway/src/testing, built into dist/testing.cjs).
import type {
  ActionAnswer,
  Contribution,
  Decision,
  Entry,
  JsonObject,
  JsonValue,
  PluginDetails,
  RunEnd,
  Scope,
  Session,
  TraceRecord,
} from '@tenon/protocol';
import type { PluginEntry } from './define-plugin.ts';

/** What the model says to one request: text, or more than that. */
export type ModelStep =
  | string
  | {
      readonly text?: string;
      readonly thinking?: string;
      readonly calls?: readonly { readonly name: string; readonly arguments?: JsonObject }[];
      /** The model fails in these words. */
      readonly failure?: string;
    };

/** What the model was told. */
export interface ModelRequest {
  readonly system: string;
  /** The texts of the messages, oldest first. */
  readonly messages: readonly { readonly role: 'user' | 'assistant' | 'toolResult'; readonly text: string }[];
  /** Names of the tools that it could call. */
  readonly tools: readonly string[];
}

/** Stands in for a tool of the gateway, such as `exec`. */
export interface StandInTool {
  readonly risk?: 'read' | 'write' | 'exec' | 'network';
  readonly run: (args: JsonObject) => string | Promise<string>;
}

export interface TestHostOptions {
  /** As in tenon.plugin.json; without it, one that asks for `grants` and takes any `config`. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** What is granted; without it, all that the manifest asks for. */
  readonly grants?: readonly string[];
  readonly config?: JsonObject;
  /** One step for each request, or a function that answers every one. Without it, the model says "ok". */
  readonly model?: readonly ModelStep[] | ((request: ModelRequest) => ModelStep | Promise<ModelStep>);
  /** Tools of the gateway that the agent has beside those of the plugin, by name; without it, none. */
  readonly tools?: Readonly<Record<string, StandInTool>>;
  /** What a person answers when the agent or the plugin asks. Without it: deny. */
  readonly approve?: Decision | ((asked: { readonly title: string; readonly tool?: string }) => Decision);
  /** What the operator keeps, by name; nothing is granted by that. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The session that calls are about where they name none; `agent:main:test` without it. */
  readonly sessionKey?: string;
  /** When the clock starts, in milliseconds since 1970. It moves by `advance` only. */
  readonly startAt?: number;
  /** How long, in real time, a call may take before it fails in words. 10 seconds without it. */
  readonly patienceMs?: number;
}

/** Which session, and with which scopes. Without scopes: all of them. */
export interface CallOptions {
  readonly sessionKey?: string;
  readonly scopes?: readonly Scope[];
}

export interface TurnOutcome {
  readonly runId: string;
  readonly end: RunEnd;
  /** What the agent said last in it. */
  readonly reply: string | undefined;
  /** What the turn has added to the session. */
  readonly entries: readonly Entry[];
}

/** A control, with whose it is. */
export type ShownDescriptor = Contribution<'uiDescriptor'> & { readonly pluginId: string; readonly pluginName: string };

/** Refused: what clients of the gateway get, as an error. */
export interface HostError extends Error {
  readonly code: string;
  readonly details?: JsonValue;
}

export interface TestHost extends AsyncDisposable {
  readonly sessionKey: string;
  /** Says something to the agent, and waits until its turn is over. */
  send(text: string, options?: CallOptions & { readonly override?: boolean }): Promise<TurnOutcome>;
  /** The answer to a slash command. */
  command(text: string, options?: CallOptions): Promise<string>;
  /** Presses a button of the plugin: one of its session actions. */
  press(actionId: string, payload?: JsonValue, options?: CallOptions): Promise<ActionAnswer>;
  /** `sessions.patch` with an extension of the plugin; gives the session afterwards. */
  patch(action: string, payload?: JsonValue, options?: CallOptions & { readonly fields?: JsonObject }): Promise<Session>;
  /** Any method of the gateway, as a client calls it; those of the plugin are `plugin.<id>.<name>`. Rejects with HostError. */
  call<Answer = JsonValue>(method: string, params?: JsonObject, options?: Pick<CallOptions, 'scopes'>): Promise<Answer>;
  /** What the plugin keeps in a session. */
  state(namespace: string, sessionKey?: string): Promise<JsonValue | undefined>;
  /** What clients see of it. */
  shown(namespace: string, sessionKey?: string): Promise<JsonValue | undefined>;
  /** Moves the clock; timers that are due fire, and what they begin is waited for. */
  advance(ms: number): Promise<void>;
  /** Waits until nothing is under way. */
  settled(): Promise<void>;
  now(): number;
  /** What clients were sent, oldest first. */
  readonly events: readonly { readonly event: string; readonly payload: JsonObject }[];
  /** What the model was told, request by request. */
  readonly requests: readonly ModelRequest[];
  /** What was logged from `warn` on. */
  readonly warnings: readonly JsonObject[];
  /** What became of everything that the plugin registered. */
  registrations(): PluginDetails['registrations'];
  plugin(): Promise<PluginDetails>;
  /** The controls that the plugin shows. */
  descriptors(options?: Pick<CallOptions, 'scopes'>): Promise<readonly ShownDescriptor[]>;
  /** Which handlers ran and what they changed, in the session. Recorded from the first call on. */
  trace(sessionKey?: string): Promise<readonly TraceRecord[]>;
  grant(...grants: string[]): Promise<void>;
  revoke(...grants: string[]): Promise<void>;
  /** Loads the plugin anew: `register` runs again, state stays. */
  reload(): Promise<void>;
  /** As if the gateway were stopped and started: what is durable stays, and nothing else. */
  restart(down?: { readonly downMs?: number }): Promise<void>;
  close(): Promise<void>;
}

/** Rejects when the plugin cannot be loaded, with the reason. */
export declare function createTestHost(plugin: PluginEntry, options?: TestHostOptions): Promise<TestHost>;
