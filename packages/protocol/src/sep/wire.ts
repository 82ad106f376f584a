// The extension protocol (SEP) as plain data: versions, errors, capability groups, methods, and the bounds of a connection.
// Host, extension SDK, schemas and the specification in spec/sep all derive from it. It imports nothing but its own parts,
// which are plain data too, so that an extension that starts pays for no schema.
import type { SepGroup } from './wire-methods.ts';

export {
  events,
  eventNames,
  furtherEventNames,
  furtherHookNames,
  hookNames,
  hooks,
  isEventName,
  isFurtherEventName,
  isFurtherHookName,
  isHookName,
  type SepEventName,
  type SepFurtherEventName,
  type SepFurtherHookName,
  type SepHookName,
} from './wire-events.ts';
export {
  deltaTypes,
  interactiveUiKinds,
  isUiKind,
  logLevels,
  modes,
  notifyLevels,
  renderBlockKinds,
  renderBlocks,
  uiKinds,
  uiRequests,
  type RenderBlockKind,
  type SepMode,
  type UiKind,
} from './wire-ui.ts';
export {
  asksFor,
  groupNames,
  groups,
  methodNames,
  methodOf,
  methodRow,
  methods,
  type SepGroup,
  type SepMethodName,
  type SepMethodRow,
} from './wire-methods.ts';
export {
  agentToolRow,
  agentTools,
  argumentsHere,
  callsThere,
  callThere,
  quoteWords,
  toolsHere,
  toolThere,
  toolWorlds,
  type CallThere,
  type ToolWorld,
} from './wire-tools.ts';
export {
  EXTENSION_MANIFEST_FILE,
  extensionFolders,
  inheritedEnv,
  isEnvName,
  limits,
  PACKAGE_JSON_KEYS,
  restartDelaysMs,
  type SepLimitName,
} from './wire-limits.ts';

/** Highest version that is spoken here. Both sides say theirs; the lower one holds. */
export const PROTOCOL_VERSION = 1;
export const JSONRPC_VERSION = '2.0';

interface ErrorRow {
  readonly code: number;
  readonly when: string;
  /** Not in SEP: the answer to methods that are not in SEP either, and to what a limit that SEP does not have is in the way of. */
  readonly beyond?: true;
}

export const errors = {
  Parse: {
    code: -32700,
    when: 'The line is not JSON. Nobody is obliged to send it: a line without a readable id is dropped and recorded.',
  },
  InvalidRequest: { code: -32600, when: 'JSON, but not a frame of this protocol.' },
  MethodNotFound: {
    code: -32601,
    when: 'A request for a method that the receiver does not have; the message is `method not found: <method>`.',
  },
  InvalidParams: { code: -32602, when: 'The params do not fit the method; the message names the place.' },
  Internal: { code: -32603, when: 'The receiver failed, the connection closed, or the extension is being restarted.' },
  Blocked: { code: -32000, when: 'A hook or a policy has refused it.' },
  NoUI: { code: -32001, when: '`ui/request` of a kind that no front end here can show.' },
  NotTrusted: { code: -32002, when: 'The extension has not been trusted with this.' },
  ContextViolation: { code: -32003, when: 'The context is not of the command tier, or has expired with its dispatch.' },
  CapabilityDisabled: {
    code: -32004,
    when: 'The capability group of the method is not enabled, or its grant is missing; the message names it.',
  },
  Refused: {
    code: -32005,
    when: 'Understood and allowed, and not done; `data.reason` is one of no-session, conflict, limit, unavailable, and of a limit `data.limit` names it.',
    beyond: true,
  },
  Cancelled: { code: -32800, when: 'The answer to a request that `$/cancel` named.' },
} as const satisfies Record<string, ErrorRow>;
export type SepErrorName = keyof typeof errors;

export const refusalReasons = ['no-session', 'conflict', 'limit', 'unavailable'] as const;

/** Other spellings of fields that a reader takes, by method: of the params, or of the result where there are none. */
export const fieldAliases = { initialize: { protocolVersion: 'protocol_version' } } as const;

export const tiers = ['event', 'command'] as const;
export type SepTier = (typeof tiers)[number];

interface RegistrationRow {
  readonly summary: string;
  /** The field that names an item; without one, items are names themselves. */
  readonly key?: string;
  /** Without one it is always taken. */
  readonly group?: SepGroup;
  /** Whether SEP lets `registry/update` carry it. This host takes the others too; a writer that wants every host keeps to these. */
  readonly later: boolean;
  readonly beyond?: true;
}

export const registrations = {
  tools: { summary: 'Tools, called `<extension>.<name>`.', key: 'name', group: 'tools', later: true },
  commands: { summary: 'Slash commands.', key: 'name', group: 'commands', later: true },
  flags: { summary: 'Names of settings that `initialize` carries the values of.', later: true },
  shortcuts: { summary: 'Keys for commands, where a front end has keys.', key: 'key', group: 'commands', later: false },
  subscriptions: { summary: 'Events that it follows.', later: true },
  providers: { summary: 'Models that it serves.', key: 'name', group: 'providers', later: true },
  hooks: { summary: 'Hooks that it takes part in. Empty or absent: unknown, see the hooks.', later: false },
  message_renderers: { summary: 'How entries with a tag are shown.', key: 'tag', later: false },
  tool_facts: { summary: 'More about its tools, such as their risk.', key: 'name', group: 'tool_facts', later: false, beyond: true },
  state: { summary: 'State of its own in every session.', key: 'namespace', group: 'state', later: false, beyond: true },
  actions: { summary: 'Actions in a session.', key: 'id', group: 'actions', later: false, beyond: true },
  patch_actions: {
    summary: 'Actions that go with a change of a session.',
    key: 'action',
    group: 'actions',
    later: false,
    beyond: true,
  },
  interactions: { summary: 'Buttons that it is told of.', key: 'namespace', group: 'interactions', later: false, beyond: true },
  descriptors: { summary: 'Controls in the page.', key: 'id', group: 'descriptors', later: false, beyond: true },
  policies: { summary: 'Policies over tool calls.', key: 'id', group: 'policies', later: false, beyond: true },
  scheduled_turns: {
    summary: 'It is given the turns that it has scheduled, when they are due.',
    key: 'id',
    group: 'schedules',
    later: false,
    beyond: true,
  },
  scheduler_jobs: {
    summary: 'What it has running for a session elsewhere: it is told when that must end.',
    key: 'id',
    group: 'schedules',
    later: false,
    beyond: true,
  },
  gateway_methods: {
    summary: 'Methods of the gateway, called `plugin.<extension>.<name>`.',
    key: 'name',
    group: 'gateway_methods',
    later: false,
    beyond: true,
  },
  gateway_events: {
    summary: 'Events of the gateway, called `plugin.<extension>.<name>`.',
    key: 'name',
    group: 'streams',
    later: false,
    beyond: true,
  },
  startup_checks: { summary: 'Whether all is well.', key: 'id', group: 'startup_checks', later: false, beyond: true },
} as const satisfies Record<string, RegistrationRow>;
export type SepRegistrationKey = keyof typeof registrations;
export const registrationKeys = Object.keys(registrations) as SepRegistrationKey[];

/** Texts that other implementations show or look for. */
export const texts = {
  methodNotFound: (method: string) => `method not found: ${method}`,
  unknownTool: (tool: string) => `unknown tool: ${tool}`,
  unknownCommand: (command: string) => `unknown command: ${command}`,
  noCommand: 'no extension registered command',
  blockedBy: (hook: string) => `blocked by ${hook} hook`,
  failedClosed: (hook: string) => `${hook} hook failed (fail-closed)`,
  blockedCall: (reason: string) => `blocked by extension: ${reason}`,
  commandTier: 'session action requires a command-tier context',
  staleContext: 'session action presented a stale context (epoch mismatch)',
  noContent: 'malformed tool/execute result: missing content',
  noUi: (kind: string) => `no UI capability for kind: ${kind}`,
  disabled: (group: string) => `capability '${group}' is disabled`,
  cancelled: 'cancelled',
  restarting: 'extension restarting',
  closed: 'extension connection closed',
  commandDone: (command: string) => `/${command}: done`,
  commandFailed: (command: string, message: string) => `/${command} failed: ${message}`,
} as const;
