// Every setting of tenon.toml: dotted name → schema, default, and when a change takes effect. The file's tables, the
// environment variables, the flags of `tenon start`, `config.get/patch` and the reference docs are derived from these rows.
import { Type, type Static, type TSchema } from 'typebox';
import { PermissionMode } from './approval.ts';
import { HOOK_TIMEOUT_RANGE } from './hooks/row.ts';
import { LogLevel } from './methods/system.ts';
import { AgentConfig, ModelConfig, ModelId } from './model.ts';
import { OwnerId } from './names.ts';
import { QueueMode, ThinkingLevel } from './transcript.ts';

interface SettingSpec {
  readonly summary: string;
  readonly schema: TSchema;
  readonly default: unknown;
  readonly takesEffect: 'now' | 'restart';
  readonly env?: string;
  /** A list of tables, `[[name]]` in the file: no text of a flag or a variable says it. */
  readonly tables?: true;
  /** Shown as `***` and never logged. */
  readonly secret?: true;
  /** Where it is not empty, it must be a time zone that this system knows. */
  readonly timeZone?: true;
}

const HostName = Type.String({
  pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$',
  description: 'a host name, with a port where the Host header has one',
});
const Origin = Type.String({
  pattern: '^https?://[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$',
  description: 'an origin, such as https://tenon.example',
});
/** Four numbers up to 255, or something with colons. What the system then makes of it, it says itself. */
const ADDRESS = '^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\\.(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$';

/** An address, or a network such as 10.0.0.0/8. */
const NETWORK = `${ADDRESS.slice(0, -1)}(/[0-9]{1,3})?$`;

const PluginTimeout = Type.Object(
  {
    plugin: Type.Optional(OwnerId),
    place: Type.Optional(
      Type.String({ pattern: '^[a-z][A-Za-z_.]{0,63}$', description: 'a hook or another place where plugins are called' }),
    ),
    timeoutMs: Type.Integer({ minimum: HOOK_TIMEOUT_RANGE.min, maximum: HOOK_TIMEOUT_RANGE.max }),
  },
  { additionalProperties: false },
);

export const settings = {
  'gateway.bind': {
    summary: 'Address to listen on. Anything but loopback needs `gateway.insecure`.',
    schema: Type.String({ maxLength: 45, pattern: ADDRESS, description: 'an IPv4 or IPv6 address' }),
    default: '127.0.0.1',
    takesEffect: 'restart',
    env: 'TENON_BIND',
  },
  'gateway.port': {
    summary: 'Port to listen on; 0 lets the system pick one.',
    schema: Type.Integer({ minimum: 0, maximum: 65535 }),
    default: 18789,
    takesEffect: 'restart',
    env: 'TENON_PORT',
  },
  'gateway.auth': {
    summary: '`token`: clients need a token or a paired device. `none`: everybody on this machine is admin; loopback only.',
    schema: Type.Enum(['token', 'none']),
    default: 'token',
    takesEffect: 'restart',
  },
  'gateway.insecure': {
    summary: 'Allow plain http on an address that is not loopback. Put a TLS proxy in front instead if you can.',
    schema: Type.Boolean(),
    default: false,
    takesEffect: 'restart',
  },
  'gateway.allowedHosts': {
    summary: 'Further values of the Host header that are answered.',
    schema: Type.Array(HostName, { maxItems: 64 }),
    default: [],
    takesEffect: 'restart',
  },
  'gateway.allowedOrigins': {
    summary: 'Further web origins that may open a socket.',
    schema: Type.Array(Origin, { maxItems: 64 }),
    default: [],
    takesEffect: 'restart',
  },
  'gateway.trustedProxies': {
    summary:
      'Addresses or networks of proxies in front of the gateway whose X-Forwarded-For is believed: then records and budgets go by the address of the client. Behind one that is not listed, all clients are one.',
    schema: Type.Array(Type.String({ maxLength: 49, pattern: NETWORK, description: 'an address, or a network such as 10.0.0.0/8' }), {
      maxItems: 64,
    }),
    default: [],
    takesEffect: 'restart',
  },
  'gateway.shutdownBudgetMs': {
    summary: 'How long a stop may take before it is forced.',
    schema: Type.Integer({ minimum: 100, maximum: 600_000 }),
    default: 25_000,
    takesEffect: 'now',
  },
  'store.engine': {
    summary: '`sqlite`: a file in the home folder. `postgres`: the database of `store.url`.',
    schema: Type.Enum(['sqlite', 'postgres']),
    default: 'sqlite',
    takesEffect: 'restart',
  },
  'store.url': {
    summary: 'PostgreSQL connection string; only with the engine `postgres`.',
    schema: Type.String({
      maxLength: 1024,
      pattern: '^(|postgres(ql)?://.+)$',
      description: 'postgres://user:password@host:port/database',
    }),
    default: '',
    takesEffect: 'restart',
    env: 'TENON_STORE_URL',
    secret: true,
  },
  'store.maxBytes': {
    summary: 'Upper bound of the SQLite file; writes beyond it are refused with STORAGE. 0: as large as the disk allows.',
    schema: Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 }),
    default: 0,
    takesEffect: 'restart',
  },
  'log.level': {
    summary: 'The least severe record that is written.',
    schema: LogLevel,
    default: 'info',
    takesEffect: 'now',
    env: 'TENON_LOG_LEVEL',
  },
  'log.maxBytes': {
    summary: 'Size at which the log file is rotated.',
    schema: Type.Integer({ minimum: 10_000, maximum: 1_000_000_000 }),
    default: 10_000_000,
    takesEffect: 'restart',
  },
  'log.files': {
    summary: 'Rotated log files that are kept.',
    schema: Type.Integer({ minimum: 1, maximum: 100 }),
    default: 5,
    takesEffect: 'restart',
  },
  models: {
    summary: 'The models that agents can use, beside the built-in `demo`: one `[[models]]` each.',
    schema: Type.Array(ModelConfig, { maxItems: 256 }),
    default: [] as Static<typeof ModelConfig>[],
    takesEffect: 'restart',
    tables: true,
  },
  'model.default': {
    summary: 'The model of agents that name none. Empty: the first of `models`, or `demo` where there is none.',
    schema: Type.String({ maxLength: 128, pattern: '^(|[A-Za-z0-9][A-Za-z0-9._:/@-]*)$', description: 'the id of a model' }),
    default: '',
    takesEffect: 'restart',
    env: 'TENON_MODEL',
  },
  'model.fallbacks': {
    summary: 'Models that are tried, in order, when the chosen one stays overloaded or away.',
    schema: Type.Array(ModelId, { maxItems: 8 }),
    default: [] as string[],
    takesEffect: 'restart',
  },
  'model.thinking': {
    summary: 'How long a model thinks before it answers, where it can.',
    schema: ThinkingLevel,
    default: 'off',
    takesEffect: 'restart',
  },
  'model.idleTimeoutMs': {
    summary: 'A model that sends nothing for this long counts as hung.',
    schema: Type.Integer({ minimum: 100, maximum: 3_600_000 }),
    default: 120_000,
    takesEffect: 'restart',
  },
  'model.attempts': {
    summary: 'How often an overloaded or unreachable model is asked before the next one is tried.',
    schema: Type.Integer({ minimum: 1, maximum: 20 }),
    default: 4,
    takesEffect: 'restart',
  },
  agents: {
    summary: 'The agents: one `[[agents]]` each. The agent `main` is there without being named.',
    schema: Type.Array(AgentConfig, { maxItems: 256 }),
    default: [] as Static<typeof AgentConfig>[],
    takesEffect: 'restart',
    tables: true,
  },
  'agent.permissions': {
    summary: 'What agents may do without asking, where they or the session do not say otherwise.',
    schema: PermissionMode,
    default: 'ask',
    takesEffect: 'restart',
  },
  'agent.queue': {
    summary: 'What happens to a message that arrives while the agent is busy.',
    schema: QueueMode,
    default: 'collect',
    takesEffect: 'restart',
  },
  'agent.maxSteps': {
    summary: 'Model calls of one turn at most.',
    schema: Type.Integer({ minimum: 1, maximum: 10_000 }),
    default: 100,
    takesEffect: 'restart',
  },
  'agent.maxTurnCostUsd': {
    summary: 'What one turn may cost, in US dollars. 0: no limit.',
    schema: Type.Number({ minimum: 0, maximum: 1_000_000 }),
    default: 0,
    takesEffect: 'restart',
  },
  'heartbeat.everyMs': {
    summary: 'How often each agent that has a HEARTBEAT.md looks around by itself. 0: never.',
    schema: Type.Union([Type.Literal(0), Type.Integer({ minimum: 60_000, maximum: 604_800_000 })]),
    default: 0,
    takesEffect: 'restart',
  },
  'heartbeat.hours': {
    summary: 'Only between these times of the day, such as 08:00-22:00. Empty: always.',
    schema: Type.String({
      pattern: '^(([01]\\d|2[0-3]):[0-5]\\d-([01]\\d|2[0-3]):[0-5]\\d)?$',
      description: 'two times such as 08:00-22:00, or empty',
    }),
    default: '',
    takesEffect: 'restart',
  },
  'heartbeat.tz': {
    summary: 'The time zone of these times, such as Europe/Berlin. Empty: that of the gateway.',
    schema: Type.String({ maxLength: 64, description: 'the name of a time zone, such as Europe/Berlin, or empty' }),
    default: '',
    takesEffect: 'restart',
    timeZone: true,
  },
  'approvals.expireMs': {
    summary: 'A question that nobody answers for this long is denied.',
    schema: Type.Integer({ minimum: 1_000, maximum: 604_800_000 }),
    default: 3_600_000,
    takesEffect: 'restart',
  },
  'exec.policy': {
    summary: '`deny`: no programs. `ask`: each asks. `allow-list`: those of `exec.allow` run, the others ask.',
    schema: Type.Enum(['deny', 'ask', 'allow-list']),
    default: 'ask',
    takesEffect: 'restart',
  },
  'exec.allow': {
    summary:
      'Commands that may run without asking, such as `git status`. The words must be exactly these; a last word `*` stands for any further words.',
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 256 }),
    default: [] as string[],
    takesEffect: 'restart',
  },
  'exec.sandbox': {
    summary:
      '`auto`: programs run in a sandbox where the system has one. `require`: they do not run without. `off`: they never run in one.',
    schema: Type.Enum(['auto', 'require', 'off']),
    default: 'auto',
    takesEffect: 'restart',
  },
  'exec.network': {
    summary: 'Whether programs in the sandbox reach the network. The port of the gateway stays closed to them without it.',
    schema: Type.Boolean(),
    default: false,
    takesEffect: 'restart',
  },
  'exec.unsandboxed': {
    summary: 'Without a sandbox a program always asks. `policy`: `exec.policy` decides all the same.',
    schema: Type.Enum(['ask', 'policy']),
    default: 'ask',
    takesEffect: 'restart',
  },
  'exec.env': {
    summary: 'Names of variables that programs get from the environment of the gateway, beside PATH, LANG and the like.',
    schema: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$', description: 'the name of an environment variable' }), {
      maxItems: 64,
    }),
    default: [] as string[],
    takesEffect: 'restart',
  },
  'exec.timeoutMs': {
    summary: 'How long a program may run when the call says nothing.',
    schema: Type.Integer({ minimum: 100, maximum: 86_400_000 }),
    default: 120_000,
    takesEffect: 'restart',
  },
  'plugins.paths': {
    summary:
      'Folders of plugins, or folders that have such folders in them; from the home folder where they are not absolute. Nothing in them runs before `plugins.enable`.',
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 64 }),
    default: [] as string[],
    takesEffect: 'restart',
  },
  'extensions.trustedWorkspaces': {
    summary:
      'Workspaces of agents whose own extensions (`.tenon/extensions`) are looked at; from the home folder where they are not absolute. Each of them is off until it is enabled, and goes before one of the home with the same name.',
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 64 }),
    default: [] as string[],
    takesEffect: 'restart',
  },
  'extensions.sandbox': {
    summary:
      '`auto`: extensions run in a sandbox, of bubblewrap or of unshare; where neither works, only those that you let run unconfined. `require`: in a sandbox, and never without. `off`: all of them run unconfined, with your rights. In a sandbox they reach the network and places of the machine only as far as their manifests ask for it and it is granted.',
    schema: Type.Enum(['auto', 'require', 'off']),
    default: 'auto',
    takesEffect: 'restart',
  },
  'plugins.wake': {
    summary:
      'Whether the agent goes on by itself when plugins have queued something and nothing runs in the session: at most three turns after each one that a person asked for.',
    schema: Type.Boolean(),
    default: true,
    takesEffect: 'restart',
  },
  'plugins.safe': {
    summary: 'Load no plugin at all, to find out whether one is to blame.',
    schema: Type.Boolean(),
    default: false,
    takesEffect: 'restart',
    env: 'TENON_SAFE',
  },
  'extensions.autoConfirm': {
    summary:
      'Extensions whose `confirm` is answered with yes at once, without asking anybody. Each such answer is recorded in the audit log.',
    schema: Type.Array(OwnerId, { maxItems: 64 }),
    default: [] as string[],
    takesEffect: 'restart',
  },
  'extensions.answerMs': {
    summary: 'How long people may take to answer a question of an extension; then it is cancelled.',
    schema: Type.Integer({ minimum: 1_000, maximum: 3_600_000 }),
    default: 120_000,
    takesEffect: 'restart',
  },
  'plugins.timeouts': {
    summary:
      'How long plugins may take, over what their author says: one `[[plugins.timeouts]]` each, for a `plugin`, for a `place` (a hook or another place of `plugins.get`), for both or for all. The one that says most holds, then the one of the place.',
    schema: Type.Array(PluginTimeout, { maxItems: 256 }),
    default: [] as Static<typeof PluginTimeout>[],
    takesEffect: 'restart',
    tables: true,
  },
  'plugins.turnBudgetMs': {
    summary:
      'The time that the hooks of one turn may take, all handlers added up. After that, handlers that guard nothing are skipped for the rest of the turn. 0: no limit.',
    schema: Type.Integer({ minimum: 0, maximum: 86_400_000 }),
    default: 60_000,
    takesEffect: 'restart',
  },
  'plugins.blockedAfterMs': {
    summary: 'A plugin that keeps the event loop busy for this long is named, in the log at once and in `plugins.list` after.',
    schema: Type.Integer({ minimum: 100, maximum: 600_000 }),
    default: 1_000,
    takesEffect: 'restart',
  },
  'extensions.registry': {
    summary: 'The registry of packages that `tenon ext` installs from and searches. Empty: the one that npm is set up with.',
    schema: Type.String({
      maxLength: 1_024,
      pattern: '^(|https?://[A-Za-z0-9\\[][^\\s@?#]*)$',
      description: 'an address such as https://registry.example, or nothing',
    }),
    default: '',
    takesEffect: 'now',
  },
  'extensions.index': {
    summary:
      'A JSON file with a list of extensions for `tenon ext search`; from the home folder where it is not absolute. Empty: `extensions-index.json`, if there is one.',
    schema: Type.String({ maxLength: 4_096 }),
    default: '',
    takesEffect: 'now',
  },
  'attachments.maxBytes': {
    summary: 'How much room all attachments may take.',
    schema: Type.Integer({ minimum: 1_048_576, maximum: 1_099_511_627_776 }),
    default: 5_368_709_120,
    takesEffect: 'restart',
  },
  'attachments.maxSessionBytes': {
    summary: 'How much room the attachments of one session may take.',
    schema: Type.Integer({ minimum: 1_048_576, maximum: 1_099_511_627_776 }),
    default: 536_870_912,
    takesEffect: 'restart',
  },
  'attachments.unusedMs': {
    summary: 'How long a file that was uploaded and said in no session is kept.',
    schema: Type.Integer({ minimum: 60_000, maximum: 31_536_000_000 }),
    default: 86_400_000,
    takesEffect: 'restart',
  },
  'attachments.roots': {
    summary:
      'Folders whose files plugins may send (grant `attachments.send`) or bring in with a message (`channels.serve`), beside the workspace of the agent and their own folder.',
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 4096, pattern: '^/', description: 'an absolute path' }), { maxItems: 64 }),
    default: [] as string[],
    takesEffect: 'restart',
  },
  'web.allowPrivate': {
    summary: 'Hosts with private addresses that `web_fetch` may reach all the same.',
    schema: Type.Array(HostName, { maxItems: 64 }),
    default: [] as string[],
    takesEffect: 'restart',
  },
} as const satisfies Record<string, SettingSpec>;

export type SettingName = keyof typeof settings;
export type SettingValue<Name extends SettingName> = Static<(typeof settings)[Name]['schema']>;
export type Settings = { readonly [Name in SettingName]: SettingValue<Name> };

export const settingNames = Object.keys(settings) as SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

export function settingRow(name: SettingName): SettingSpec {
  return settings[name];
}
