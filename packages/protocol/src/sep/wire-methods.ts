// Capability groups and methods of the extension protocol, as plain data: one row says who sends a method, whether it is answered,
// how else it is spelled, which group it belongs to, which tier its context has, and how long the answer may take.

interface GroupRow {
  /** In the words in which the operator is asked. */
  readonly summary: string;
  /** What the registry of the gateway wants granted behind it, as rows of its grant table. */
  readonly grants: readonly string[];
  /** It reaches far beyond the extension itself, and whoever asks the operator says so. */
  readonly wide?: true;
  /** Not in SEP. An extension uses it only where `capabilities_enabled` says true; one that does not know it never notices. */
  readonly beyond?: true;
  /** The manifest asks for it with this group, unless it says otherwise: SEP has one switch for both. */
  readonly comesWith?: string;
}

/**
 * Keys of `[capabilities]` in the manifest, where an extension asks, and of `capabilities_enabled`, where it is told. Methods and
 * registrations of a group that is off are refused.
 */
export const groups = {
  tools: { summary: 'Give the agent tools.', grants: ['tools.register'] },
  commands: { summary: 'Add slash commands.', grants: ['commands.register'] },
  ui: { summary: 'Ask and tell the people who watch a session.', grants: [] },
  exec: { summary: 'Run programs, through the policy and the approvals of the `exec` tool.', grants: [], wide: true },
  kv: { summary: 'Keep values of its own.', grants: [] },
  bus: { summary: 'Tell other extensions something.', grants: [] },
  session: { summary: 'Write into the sessions that it is called in.', grants: [], wide: true },
  providers: { summary: 'Serve models: read all that they are told, and answer for them.', grants: ['models.serve'], wide: true },
  active_tools: {
    summary: 'Decide which tools of others the agent may use.',
    grants: ['tools.narrow'],
    wide: true,
    beyond: true,
    comesWith: 'tools',
  },
  tool_facts: { summary: 'Say of its tools what they can do and how they are called in lists.', grants: [], beyond: true },
  state: { summary: 'Keep state of its own in each session.', grants: [], beyond: true },
  actions: { summary: 'Do what buttons and programs ask for in a session.', grants: [], beyond: true },
  injections: { summary: 'Tell the agent something in the next turn.', grants: ['prompt.inject'], wide: true, beyond: true },
  turns: { summary: 'Let the agent go on without a message of a person.', grants: ['turns.start'], beyond: true },
  schedules: { summary: 'Let the agent work at a later time.', grants: ['schedule.turns'], beyond: true },
  attachments: {
    summary: 'Send files, text and buttons to where a session came from.',
    grants: ['attachments.send'],
    wide: true,
    beyond: true,
  },
  interactions: { summary: 'Be told of buttons that people press in a conversation.', grants: ['ui.interact'], beyond: true },
  descriptors: { summary: 'Show controls in the page.', grants: ['ui.descriptors'], beyond: true },
  policies: { summary: 'Judge tool calls before all others; it can only tighten.', grants: ['policy.tools'], beyond: true },
  approvals: { summary: 'Ask the operator.', grants: ['approvals.request'], beyond: true },
  notices: { summary: 'Tell people that they are needed.', grants: ['people.notify'], beyond: true },
  streams: { summary: 'Say something in streams and events of its own.', grants: ['events.emit'], beyond: true },
  gateway_methods: { summary: 'Add methods of its own to the gateway.', grants: ['gateway.methods'], beyond: true },
  startup_checks: { summary: 'Say whether all is well, when the gateway starts and when somebody asks.', grants: [], beyond: true },
} as const satisfies Record<string, GroupRow>;
export type SepGroup = keyof typeof groups;
export const groupNames = Object.keys(groups) as SepGroup[];

/** Whether a manifest with these `[capabilities]` asks for the group. */
export function asksFor(group: SepGroup, capabilities: Readonly<Partial<Record<SepGroup, boolean>>>): boolean {
  const { comesWith }: GroupRow = groups[group];
  return capabilities[group] ?? (comesWith !== undefined && capabilities[comesWith as SepGroup] === true);
}

export interface SepMethodRow {
  readonly summary: string;
  readonly direction: 'to-extension' | 'to-host' | 'both';
  /** `either`: taken with and without an id; with one it is answered. */
  readonly kind: 'request' | 'notification' | 'either';
  /** Other spellings that a reader takes and a writer never uses. */
  readonly aliases?: readonly string[];
  /** Without one it is always enabled. */
  readonly group?: SepGroup;
  /** The group that it takes beside, where it is about what is not the extension's own. */
  readonly othersGroup?: SepGroup;
  /** To the extension: the tier of the context that is dispatched. To the host: the tier that the context must have. */
  readonly tier?: 'event' | 'command';
  /** How long the caller waits for the answer. Without one: as long as whoever asked waits. */
  readonly timeoutMs?: number;
  /** What the registry wants granted beyond what it wants for the group. */
  readonly grants?: readonly string[];
  /** Not in SEP. */
  readonly beyond?: true;
}

/** A request of the host about something that the extension has registered. */
function dispatch<const Group extends SepGroup>(group: Group, timeoutMs: number, summary: string) {
  return { summary, direction: 'to-extension', kind: 'request', group, tier: 'command', timeoutMs } as const;
}

/** A request of the extension that the host answers by itself. */
function call<const Group extends SepGroup>(group: Group, summary: string) {
  return { summary, direction: 'to-host', kind: 'request', group, timeoutMs: 30_000 } as const;
}

/** The same, in the session of the dispatch whose context it gives. */
function sessionCall(summary: string) {
  return { ...call('session', summary), tier: 'command' } as const;
}

/** A request of the extension that waits for something else: a person, a program. */
function wait<const Group extends SepGroup>(group: Group, summary: string) {
  return { summary, direction: 'to-host', kind: 'request', group } as const;
}

const beyond = { beyond: true } as const;
const toExtension = { direction: 'to-extension', kind: 'request' } as const;
const toHostNotice = { direction: 'to-host', kind: 'notification' } as const;

export const methods = {
  initialize: { ...toExtension, summary: 'The first request: identities, capabilities and registrations.', timeoutMs: 10_000 },
  shutdown: { ...toExtension, summary: 'Finish, answer, exit.', timeoutMs: 5_000 },
  ping: { summary: 'Is anybody there.', direction: 'both', kind: 'request', timeoutMs: 5_000 },
  '$/cancel': { summary: 'Nobody waits for the answer to that request any more.', direction: 'both', kind: 'notification' },
  event: { summary: 'Something happened that the extension follows.', direction: 'to-extension', kind: 'notification', tier: 'event' },
  /** How long it may take stands in the hook table. */
  hook: { ...toExtension, summary: 'Something is about to happen: let it, stop it or change it.', tier: 'command' },
  'tool/execute': dispatch('tools', 120_000, 'The agent uses a tool of the extension.'),
  'command/execute': dispatch('commands', 120_000, 'A person has typed a command of the extension.'),
  'command/complete': dispatch('commands', 5_000, 'A person is typing a command of the extension.'),
  'provider/complete': dispatch('providers', 300_000, 'One call of a model that the extension serves.'),
  'provider/oauth_login': dispatch('providers', 300_000, 'Sign in at a provider.'),
  'provider/oauth_refresh': dispatch('providers', 300_000, 'Renew what a sign-in gave.'),

  'registry/update': {
    summary: 'Add or replace registrations; the last one of a name holds.',
    direction: 'to-host',
    kind: 'either',
    aliases: ['tools/register'],
    timeoutMs: 30_000,
  },
  'tools/set_active': {
    ...call('tools', 'Narrow the tools that are active; it never widens. For tools of others, `active_tools` must be enabled.'),
    aliases: ['tools/setActive'],
    othersGroup: 'active_tools',
  },
  'tool/update': { ...toHostNotice, summary: 'How far a tool call is.', group: 'tools' },
  'session/send_message': sessionCall('Say something in the session.'),
  'session/send_user_message': sessionCall('Say something to the agent as its user would.'),
  'session/append_entry': sessionCall('Keep an entry in the transcript that the model is not told.'),
  'session/set_model': sessionCall('Choose the model of the session.'),
  'session/state': sessionCall('What the host says of the session.'),
  'exec/run': { ...wait('exec', 'Run a program, as the `exec` tool would.'), tier: 'command' },
  'ui/request': wait('ui', 'Ask or tell the people who watch the session.'),
  'kv/get': call('kv', 'Read a value of its own.'),
  'kv/set': call('kv', 'Keep a value of its own.'),
  'kv/delete': call('kv', 'Remove a value of its own.'),
  'kv/list': call('kv', 'The keys of its values.'),
  'kv/compare_and_set': { ...call('kv', 'Keep a value of its own if the one there is the expected one.'), ...beyond },
  'bus/publish': {
    ...call('bus', 'Tell every other extension that follows `bus/event`.'),
    kind: 'either',
    aliases: ['events/publish'],
  },
  'provider/delta': { ...toHostNotice, summary: 'A piece of what a model says.', group: 'providers' },
  log: { ...toHostNotice, summary: 'A log record.' },

  'action/execute': { ...dispatch('actions', 30_000, 'A button was pressed, or a program asks for an action.'), ...beyond },
  'patch_action/execute': { ...dispatch('actions', 10_000, 'A change of a session asks it to take part.'), ...beyond },
  'policy/decide': { ...dispatch('policies', 5_000, 'Judge a tool call; a failure denies.'), tier: 'event', ...beyond },
  'interaction/press': { ...dispatch('interactions', 30_000, 'A button of a message was pressed.'), ...beyond },
  'state/get': { ...call('state', 'Read its state in a session.'), ...beyond },
  'state/patch': { ...call('state', 'Set or remove its state in a session.'), ...beyond },
  'state/list': { ...call('state', 'The sessions that have a state of it.'), grants: ['sessions.list'], ...beyond },
  'injection/enqueue': { ...call('injections', 'Tell the agent something in the next turn, once.'), ...beyond },
  'turn/continue': { ...call('turns', 'Start a turn without a message.'), ...beyond },
  'schedule/due': {
    ...dispatch('schedules', 30_000, 'A turn that it has scheduled is due; it may deal with it without the agent.'),
    ...beyond,
  },
  'schedule/clean_up': { ...dispatch('schedules', 5_000, 'What a scheduler job of it stands for must end.'), ...beyond },
  'gateway_method/call': { ...dispatch('gateway_methods', 30_000, 'A client calls a method of the extension.'), ...beyond },
  'startup_check/run': { ...dispatch('startup_checks', 5_000, 'Look whether all is well.'), tier: 'event', ...beyond },
  'schedule/turn': { ...call('schedules', 'Start a turn at a later time, or again and again.'), ...beyond },
  'schedule/remove': { ...call('schedules', 'Take back turns that it has scheduled.'), ...beyond },
  'attachment/send': { ...call('attachments', 'Send files, text and buttons to where the session came from.'), ...beyond },
  'attachment/update': { ...call('attachments', 'Change the text and the buttons of what it has sent.'), ...beyond },
  'approval/request': { ...wait('approvals', 'Ask the operator, and wait for the answer.'), ...beyond },
  'action_required/notify': { ...call('notices', 'Tell people that they are needed.'), ...beyond },
  'action_required/withdraw': { ...call('notices', 'They are not needed any more.'), ...beyond },
  'stream/emit': { ...call('streams', 'Say something in a stream of its own, in a run.'), ...beyond },
  'gateway_event/emit': { ...call('streams', 'Send an event of its own to clients.'), ...beyond },
} as const satisfies Record<string, SepMethodRow>;

export type SepMethodName = keyof typeof methods;
export const methodNames = Object.keys(methods) as SepMethodName[];

/** The row as the table's type says it, for code that works on any row. */
export function methodRow(name: SepMethodName): SepMethodRow {
  return methods[name];
}

const names = new Map<string, SepMethodName>();
for (const name of methodNames) for (const spelling of [name, ...(methodRow(name).aliases ?? [])]) names.set(spelling, name);

/** The method that a frame means, by its name or another spelling of it; undefined when there is none. */
export function methodOf(spelling: string): SepMethodName | undefined {
  return names.get(spelling);
}
