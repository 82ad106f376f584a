// Plugins as clients see them: what each asked for, what it was granted, and what became of everything it registered.
import { Type, type Static } from 'typebox';
import { Grant } from './grants.ts';
import { JsonValue } from './json.ts';
import { Count, OwnerId, Timestamp } from './names.ts';
import { JsonObject } from './transcript.ts';

const closed = { additionalProperties: false };
const Text = Type.String();
const Milliseconds = Type.Number({ minimum: 0 });

export const pluginStates = {
  off: 'The operator has not switched it on, or has switched it off.',
  starting: 'It is an extension, and its process is being started.',
  loaded: 'It is at work.',
  failed: 'It could not be loaded.',
  ungranted: 'It is an extension that takes part in hooks which the operator has not granted. It does not run until they are.',
  changed: 'Its files, or what its tools say, are not what the operator has accepted.',
  rejected: 'Its folder or its manifest cannot be used.',
} as const;

/** Of the process of an extension. */
export const extensionStates = {
  starting: 'Its process has been started and has not introduced itself yet.',
  ready: 'It is at work.',
  restarting: 'It crashed, and is started again after a while.',
  quarantined: 'It crashed too often within a short time; it stays down until it is loaded anew.',
  failed: 'It cannot be started, or crashed again after each restart; it stays down until it is loaded anew.',
  stopped: 'It is not running, and is not meant to.',
} as const;
export type ExtensionState = keyof typeof extensionStates;

/** A line of the log of an extension. */
export const ExtensionLogLine = Type.Object(
  {
    seq: Count,
    at: Timestamp,
    /** What it wrote to its standard error, what it logged, or what the gateway saw of its process. */
    from: Type.Enum(['stderr', 'log', 'gateway']),
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error']),
    text: Text,
  },
  closed,
);
export type ExtensionLogLine = Static<typeof ExtensionLogLine>;

export const pluginIncidents = {
  threw: 'It threw where nobody waits for it: in a timer or in a listener of its own.',
  rejected: 'It left a promise rejected that nobody waits for.',
  blocked: 'It kept the event loop to itself, so that the gateway could do nothing else.',
} as const;

export const PluginInfo = Type.Object(
  {
    /** Of one that is `rejected`, as far as it can be told. */
    id: Text,
    name: Text,
    version: Text,
    description: Type.Optional(Text),
    origin: Type.Enum(['bundled', 'path']),
    state: Type.Enum(Object.keys(pluginStates) as (keyof typeof pluginStates)[]),
    /** In words, where it is not `loaded`. */
    reason: Type.Optional(Text),
    /** Whether the operator wants it loaded. */
    enabled: Type.Boolean(),
    /** Of this load. */
    generation: Type.Optional(Count),
    loadedAt: Type.Optional(Timestamp),
    /** What its manifest asks for, and what its process has asked for since. */
    asked: Type.Array(Grant),
    /** While it is `ungranted`: what it does not run without. */
    missing: Type.Optional(Type.Array(Grant)),
    granted: Type.Array(Grant),
    registrations: Type.Array(
      Type.Object(
        {
          kind: Text,
          key: Text,
          accepted: Type.Boolean(),
          /** Why it was not taken. */
          code: Type.Optional(Text),
          message: Type.Optional(Text),
        },
        closed,
      ),
    ),
    /** Handlers that were switched off because they were too slow. */
    switchedOff: Type.Array(Type.Object({ place: Text, at: Timestamp, reason: Text }, closed)),
    /** What its code did where nobody waited for it, the latest last; until it is loaded anew. */
    incidents: Type.Array(
      Type.Object(
        {
          kind: Type.Enum(Object.keys(pluginIncidents) as (keyof typeof pluginIncidents)[]),
          place: Text,
          message: Text,
          /** The latest of them. */
          at: Timestamp,
          count: Count,
          /** Of the load that it was. */
          generation: Type.Optional(Count),
        },
        closed,
      ),
    ),
    services: Type.Array(
      Type.Object({ id: Text, state: Type.Enum(['starting', 'running', 'failed', 'stopped']), reason: Type.Optional(Text) }, closed),
    ),
    /** Of an extension. */
    process: Type.Optional(
      Type.Object(
        {
          state: Type.Enum(Object.keys(extensionStates) as ExtensionState[]),
          /** In words, where it is not `ready`. */
          reason: Type.Optional(Text),
          pid: Type.Optional(Count),
          /** When it is started again, while it is `restarting`. */
          restartAt: Type.Optional(Timestamp),
          /** Of the last five minutes. */
          crashes: Count,
          /** Whether what its processes can reach is limited, or would be if it ran. If not, it runs with the rights of the gateway. */
          sandboxed: Type.Boolean(),
          /** By what, or why not. Absent while that is not known. */
          sandbox: Type.Optional(Text),
          /** What its manifest asks for, in its sandbox: the network, and places to read and to write. */
          reach: Type.Object({ net: Type.Boolean(), read: Type.Array(Text), write: Type.Array(Text) }, closed),
          /** Events that it follows, by their names in the protocol. */
          follows: Type.Optional(Type.Array(Text)),
          /** What it registers and nothing was made of, with the reason. */
          leftOut: Type.Optional(Type.Array(Type.Object({ kind: Text, key: Text, message: Text }, closed))),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type PluginInfo = Static<typeof PluginInfo>;

/** Of all files of a plugin, as they were when somebody looked; `bundled` for what is part of Tenon. */
export const TreeHash = Type.String({ pattern: '^(?:[0-9a-f]{64}|bundled)$' });

/** The same with what only the operator sees. */
export const PluginDetails = Type.Object(
  {
    ...PluginInfo.properties,
    folder: Text,
    /** The workspace that an extension belongs to; without it, it is of the home. */
    workspace: Type.Optional(Text),
    /** Where it was asked for, and its files are fit. */
    treeHash: Type.Optional(TreeHash),
    config: JsonObject,
    configSchema: Type.Optional(JsonObject),
    /** How often it was called where, and how that went. */
    counts: Type.Array(
      Type.Object(
        {
          place: Text,
          calls: Count,
          errors: Count,
          timeouts: Count,
          /** Not asked, because the hooks of a turn had used up their time. */
          skipped: Count,
          lastAt: Type.Optional(Timestamp),
          p50Ms: Type.Optional(Milliseconds),
          p95Ms: Type.Optional(Milliseconds),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type PluginDetails = Static<typeof PluginDetails>;

/** The projected state of a plugin in a session. */
export const PluginExtension = Type.Object({ pluginId: OwnerId, namespace: Text, value: JsonValue }, closed);
export type PluginExtension = Static<typeof PluginExtension>;

/** Something that a plugin wants told with the next turn. */
export const PendingInjection = Type.Object(
  {
    /** The idempotency key, where it was given one. */
    id: Text,
    pluginId: OwnerId,
    text: Text,
    placement: Type.Enum(['prepend_context', 'append_context']),
    priority: Type.Integer(),
    metadata: Type.Optional(JsonValue),
    createdAt: Timestamp,
    expiresAt: Type.Optional(Type.Integer()),
    /** The turn that has taken it and has not been answered yet. */
    runId: Type.Optional(Text),
  },
  closed,
);
export type PendingInjection = Static<typeof PendingInjection>;
