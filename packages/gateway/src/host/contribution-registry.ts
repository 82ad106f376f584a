// What plugins have registered beside hooks, by kind. An item is taken as the row of its kind says: its data is copied and
// held against the schema, its handlers are functions, its name is free. What was taken is frozen and belongs to the load
// (the generation) of the plugin that registered it. Grants are the business of the caller.
import {
  commandNames,
  commands,
  type Contribution,
  type ContributionKind,
  contributionKinds,
  contributionRow,
  explain,
  isCommandName,
  matcherFault,
  ModelId,
  parseCommand,
  pluginModelId,
  type RejectionCode,
  Session,
  scopeNames,
} from '@tenon/protocol';
import type {
  Channel,
  EventSubscription,
  GatewayMethod,
  HttpRoute,
  InteractiveHandler,
  Lifecycle,
  ModelProvider,
  PluginCommand,
  PluginTool,
  ScheduledTurnHandler,
  SchedulerJob,
  Service,
  SessionAction,
  SessionExtension,
  SessionsPatchExtensionHandler,
  StartupCheck,
  ToolFactory,
  ToolPolicy,
  ToolResultMiddleware,
} from '@tenon/plugin-sdk';
import { isBelow } from './find-route.ts';
import { compileSchema } from './json-schema.ts';
import { copyPlain } from './plain-data.ts';

export interface SessionsPatchAction extends Contribution<'sessionsPatchAction'> {
  readonly handler: SessionsPatchExtensionHandler;
}

export interface RegisteredFactory extends Contribution<'toolFactory'> {
  readonly create: ToolFactory;
}

/** What stands behind each kind: the data of its row, and its handlers. */
export interface Items {
  readonly sessionExtension: SessionExtension;
  readonly sessionAction: SessionAction;
  readonly sessionsPatchAction: SessionsPatchAction;
  readonly tool: PluginTool;
  readonly toolFactory: RegisteredFactory;
  readonly toolMetadata: Contribution<'toolMetadata'>;
  readonly toolPolicy: ToolPolicy;
  readonly toolResultMiddleware: ToolResultMiddleware;
  readonly command: PluginCommand;
  readonly uiDescriptor: Contribution<'uiDescriptor'>;
  readonly eventSubscription: EventSubscription;
  readonly lifecycle: Lifecycle;
  readonly schedulerJob: SchedulerJob;
  readonly scheduledTurn: ScheduledTurnHandler;
  readonly gatewayMethod: GatewayMethod;
  readonly gatewayEvent: Contribution<'gatewayEvent'>;
  readonly interactiveHandler: InteractiveHandler;
  readonly channel: Channel;
  readonly httpRoute: HttpRoute;
  readonly modelProvider: ModelProvider;
  readonly service: Service;
  readonly startupCheck: StartupCheck;
}

export interface ItemOwner {
  readonly plugin: string;
  readonly pluginName: string;
  readonly generation: number;
}

export interface RegisteredItem<Kind extends ContributionKind = ContributionKind> extends ItemOwner {
  readonly kind: Kind;
  readonly key: string;
  readonly item: Items[Kind];
  /** False once the load of the plugin that it belongs to has ended. */
  readonly isLive: boolean;
}

export interface Rejection {
  readonly ok: false;
  /** As far as it can be read from what was given. */
  readonly key: string;
  readonly code: RejectionCode;
  readonly message: string;
  /** The plugin that has it already. */
  readonly holder?: string;
}

export type Added = { readonly ok: true; readonly key: string; readonly dispose: () => void } | Rejection;

export interface ContributionRegistry {
  /** By the id of the plugin, then in the order in which it registered. The list is never changed; a registration makes a new one. */
  all<Kind extends ContributionKind>(kind: Kind): readonly RegisteredItem<Kind>[];
  find<Kind extends ContributionKind>(kind: Kind, plugin: string, key: string): RegisteredItem<Kind> | undefined;
  /** For kinds whose names are unique among all plugins; a command is found by its aliases too. */
  findAny<Kind extends ContributionKind>(kind: Kind, key: string): RegisteredItem<Kind> | undefined;
  /** Contract: neither throws nor runs code of the plugin, but for getters of what it was given. */
  add(owner: ItemOwner, kind: ContributionKind, given: unknown): Added;
  /** The names of a plugin that no other may have. */
  namesOf(plugin: string): readonly string[];
  /** Keeps names, as `namesOf` gives them, for a plugin that is meant to be there and is not loaded; none: for nobody. */
  reserve(plugin: string, names: readonly string[]): void;
  /** Takes one out, as its own disposer would; false when it is not there (any more). */
  switchOff(registered: RegisteredItem): boolean;
  /** Grows with every change. */
  readonly version: number;
}

export interface RegistryOptions {
  /** Names that the gateway itself has, or keeps, by kind. */
  readonly reserved?: { readonly tool?: Iterable<string>; readonly command?: Iterable<string>; readonly model?: Iterable<string> };
}

/** Handlers of each kind; those with a `?` may be left out. */
const handlersOf: Readonly<Record<ContributionKind, readonly string[]>> = {
  sessionExtension: ['project?', 'cleanup?'],
  sessionAction: ['handler'],
  sessionsPatchAction: ['handler'],
  tool: ['execute'],
  toolFactory: ['create'],
  toolMetadata: [],
  toolPolicy: ['evaluate'],
  toolResultMiddleware: ['handler'],
  command: ['handler', 'complete?'],
  uiDescriptor: [],
  eventSubscription: ['handle'],
  lifecycle: ['cleanup?'],
  schedulerJob: ['cleanup?'],
  scheduledTurn: ['handler'],
  gatewayMethod: ['handler'],
  gatewayEvent: [],
  interactiveHandler: ['handler'],
  channel: ['send', 'edit?'],
  httpRoute: ['handler'],
  modelProvider: ['complete', 'signIn?', 'renew?'],
  service: ['start', 'stop?'],
  startupCheck: ['check'],
};

/** Words that other hosts keep for themselves: a plugin that takes one would surprise people and break when we add it. */
const RESERVED_COMMANDS: readonly string[] = [
  ...commandNames,
  ...'help commands status diagnostics whoami context btw stop restart reset new compact config debug allowlist activation skill'.split(
    ' ',
  ),
  ...'learn loop subagents kill steer tell model models queue send bash exec think verbose reasoning elevated usage approve'.split(' '),
];

interface Entry extends RegisteredItem {
  isLive: boolean;
}

export function createContributionRegistry({ reserved = {} }: RegistryOptions = {}): ContributionRegistry {
  const lists = new Map<ContributionKind, readonly Entry[]>(contributionKinds.map((kind) => [kind, []]));
  const kept: Partial<Record<ContributionKind, ReadonlySet<string>>> = {
    tool: new Set([...(reserved.tool ?? [])].map(folded)),
    command: new Set([...RESERVED_COMMANDS, ...(reserved.command ?? [])].map(folded)),
  };
  const keptModels = new Set(reserved.model);
  const absentees = new Map<string, ReadonlySet<string>>();
  let version = 0;

  function clash(owner: ItemOwner, kind: ContributionKind, key: string, item: unknown): Omit<Rejection, 'ok' | 'key'> | undefined {
    const names = namesOf(kind, key, item);
    for (const name of names) {
      if (kept[shared(kind)[0]!]?.has(folded(name))) return { code: 'RESERVED', message: `"${name}" is kept for the gateway` };
    }
    const isGlobal = contributionRow(kind).unique === 'global';
    for (const other of shared(kind).flatMap(listOf)) {
      const isOwn = other.plugin === owner.plugin;
      if (!isOwn && !isGlobal) continue;
      const same = names.find((name) => sharesName(other, name, isGlobal));
      if (same === undefined) continue;
      return isOwn
        ? { code: 'DUPLICATE', message: `"${same}" was registered before` }
        : { code: 'TAKEN', message: `"${same}" belongs to plugin ${other.plugin}`, holder: other.plugin };
    }
    const absent = uniqueNames(kind, key, item).flatMap((name) => holderOf(name, owner.plugin))[0];
    if (absent) return absent;
    if (new Set(names.map(folded)).size < names.length) return { code: 'DUPLICATE', message: `"${key}" has one name twice` };
    if (kind === 'httpRoute') return routeClash(owner, item as HttpRoute);
    if (kind === 'modelProvider') return modelClash(owner, item as ModelProvider);
    return kind === 'sessionExtension' ? slotClash(item as SessionExtension) : undefined;
  }

  function holderOf(name: string, asking: string): Omit<Rejection, 'ok' | 'key'>[] {
    const [holder] = [...absentees].find(([plugin, names]) => plugin !== asking && names.has(name)) ?? [];
    if (holder === undefined) return [];
    const message = `"${name.slice(name.indexOf(':') + 1)}" belongs to plugin ${holder}, which is switched on and not loaded; to free it: tenon plugin disable ${holder}`;
    return [{ code: 'TAKEN', message, holder }];
  }

  function slotClash({ sessionEntrySlotKey: slot }: SessionExtension): Omit<Rejection, 'ok' | 'key'> | undefined {
    if (slot === undefined) return undefined;
    if (Object.hasOwn(Session.properties, slot) || slot in Object.prototype) {
      return { code: 'RESERVED', message: `"${slot}" is a field of every session` };
    }
    const other = listOf('sessionExtension').find(({ item }) => (item as SessionExtension).sessionEntrySlotKey === slot);
    return other && { code: 'TAKEN', message: `the slot "${slot}" belongs to plugin ${other.plugin}`, holder: other.plugin };
  }

  /** One path, one answer to who may come: a route inside another one is guarded as that one is. */
  function routeClash(owner: ItemOwner, route: HttpRoute): Omit<Rejection, 'ok' | 'key'> | undefined {
    const other = listOf('httpRoute').find(({ plugin, item }) => {
      const one = item as HttpRoute;
      return plugin === owner.plugin && one.auth !== route.auth && (isBelow(route.path, one) || isBelow(one.path, route));
    });
    return other && { code: 'DUPLICATE', message: `it overlaps with "${other.key}", which has another auth` };
  }

  /** What agents will know its models by. */
  function modelClash({ plugin }: ItemOwner, { name, models }: ModelProvider): Omit<Rejection, 'ok' | 'key'> | undefined {
    const ids = models.map(({ id }) => pluginModelId(plugin, name, id));
    const unfit = ids.flatMap((id) => explain(ModelId, id, `"${id.slice(0, 160)}"`) ?? [])[0];
    if (unfit !== undefined) return { code: 'INVALID', message: `the id of its model would not do: ${unfit}` };
    const kept = ids.find((id) => keptModels.has(id));
    if (kept !== undefined) return { code: 'RESERVED', message: `"${kept}" is the id of a model in the settings of the gateway` };
    const twice = ids.find((id, index) => ids.indexOf(id) < index);
    return twice === undefined ? undefined : { code: 'DUPLICATE', message: `it has the model "${twice}" twice` };
  }

  function remove(entry: Entry): boolean {
    if (!entry.isLive) return false;
    entry.isLive = false;
    lists.set(
      entry.kind,
      listOf(entry.kind).filter((each) => each !== entry),
    );
    version++;
    return true;
  }

  function listOf(kind: ContributionKind): readonly Entry[] {
    return lists.get(kind) ?? [];
  }

  return {
    all: <Kind extends ContributionKind>(kind: Kind) => listOf(kind) as readonly Entry[] as readonly RegisteredItem<Kind>[],
    find: <Kind extends ContributionKind>(kind: Kind, plugin: string, key: string) =>
      listOf(kind).find((each) => each.plugin === plugin && each.key === key) as RegisteredItem<Kind> | undefined,
    findAny: <Kind extends ContributionKind>(kind: Kind, key: string) =>
      listOf(kind).find((each) => namesOf(kind, each.key, each.item).includes(key)) as RegisteredItem<Kind> | undefined,
    add(owner, kind, given) {
      const read = readItem(kind, given);
      if ('code' in read) return { ok: false, ...read };
      const named = clash(owner, kind, read.key, read.item) ? orQualified(owner, kind, read) : read;
      const { key, item } = named;
      const taken = clash(owner, kind, key, item);
      if (taken) return { ok: false, key, ...taken };
      const entry: Entry = { ...owner, kind, key, item: item as Items[ContributionKind], isLive: true };
      lists.set(kind, insert(listOf(kind), entry));
      version++;
      return {
        ok: true,
        key,
        dispose: () => void remove(entry),
      };
    },
    namesOf: (plugin) => {
      const own = [...lists.values()].flat().filter((entry) => entry.plugin === plugin);
      return [...new Set(own.flatMap(({ kind, key, item }) => uniqueNames(kind, key, item)))].sort();
    },
    reserve: (plugin, names) => {
      if (names.length === 0) absentees.delete(plugin);
      else absentees.set(plugin, new Set(names));
    },
    switchOff: (registered) => {
      const entry = listOf(registered.kind).find((each) => each === registered);
      return entry !== undefined && remove(entry);
    },
    get version() {
      return version;
    },
  };
}

/** A command that does with the name of its plugin before its own. No other has a colon in its name. */
function orQualified({ plugin }: ItemOwner, kind: ContributionKind, read: { key: string; item: object }): { key: string; item: object } {
  if (kind !== 'command' || (read.item as PluginCommand).orQualified !== true) return read;
  const key = `${plugin}:${read.key}`;
  return { key, item: Object.freeze({ ...read.item, name: key }) };
}

/** Kinds whose names are one set; the first says what is kept for the gateway. */
function shared(kind: ContributionKind): readonly ContributionKind[] {
  return kind === 'tool' || kind === 'toolFactory' ? ['tool', 'toolFactory'] : [kind];
}

/** What is given as an item of this kind, if it is one. Contract: neither throws nor runs code of the plugin, but for getters. */
export function readContribution(kind: ContributionKind, given: unknown): Read {
  return readItem(kind, given);
}

type Read = { readonly key: string; readonly item: object } | Omit<Rejection, 'ok'>;

/** The data as a frozen copy that fits its schema, with its handlers beside it. */
function readItem(kind: ContributionKind, given: unknown): Read {
  const row = contributionRow(kind);
  let key = '';
  try {
    if (typeof given !== 'object' || given === null) return invalid(key, `a ${kind} is an object`);
    const fields: Record<string, unknown> = { ...given };
    const named = fields[row.key];
    if (typeof named === 'string') key = named.slice(0, MAX_SHOWN_KEY);
    const handlers: Record<string, unknown> = {};
    for (const each of handlersOf[kind]) {
      const name = each.replace('?', '');
      const handler = fields[name];
      delete fields[name];
      if (handler === undefined && each.endsWith('?')) continue;
      if (typeof handler !== 'function') return invalid(key, `${name} is not a function`);
      handlers[name] = handler;
    }
    if (kind === 'sessionExtension' && fields.sessionEntrySlotKey !== undefined && !handlers.project)
      return invalid(key, 'a slot shows what project gives, and there is no project');
    if (kind === 'sessionExtension' && isAsync(handlers.project)) return invalid(key, 'project is asynchronous; it must answer at once');
    const copied = copyPlain(fields);
    if ('wrong' in copied) return invalid(key, `it is not plain data: ${copied.wrong}`);
    const data = copied.value as Record<string, unknown>;
    const wrong = explain(row.schema, data, kind) ?? beyondSchema(kind, data);
    if (wrong) return invalid(key, wrong);
    const schema = schemaIn(kind, data);
    const compiled = schema === undefined ? undefined : compileSchema(schema);
    if (compiled && !compiled.ok) return { key, code: 'BAD_SCHEMA', message: compiled.message };
    return { key, item: Object.freeze({ ...data, ...handlers }) };
  } catch (error) {
    return invalid(key, `it cannot be read: ${error instanceof Error ? error.message.slice(0, 256) : 'something was thrown'}`);
  }
}

const MAX_SHOWN_KEY = 128;

function invalid(key: string, message: string): Omit<Rejection, 'ok'> {
  return { key, code: 'INVALID', message };
}

/** Kinds that name one scope. */
const SCOPED: ReadonlySet<ContributionKind> = new Set(['gatewayMethod', 'gatewayEvent', 'httpRoute']);

/** What a schema of the table does not say. */
function beyondSchema(kind: ContributionKind, data: Record<string, unknown>): string | undefined {
  // As providers of models want it; what they refuse, they refuse for the whole turn.
  const { type = 'object' } = (data.parameters ?? {}) as { type?: unknown };
  if (kind === 'tool' && type !== 'object') return 'tool/parameters must have the type "object"';
  if (kind === 'uiDescriptor') return beyondDescriptor(data as unknown as Contribution<'uiDescriptor'>);
  const fault = data.matcher === undefined ? undefined : matcherFault(data.matcher as string[]);
  if (fault) return `${kind}/matcher ${fault}`;
  if (kind === 'httpRoute' && data.auth === 'plugin' && data.scope !== undefined)
    return 'httpRoute/scope is for routes with auth "gateway"';
  if (!SCOPED.has(kind) || data.scope === undefined) return undefined;
  return (scopeNames as readonly unknown[]).includes(data.scope) ? undefined : `${kind}/scope must be one of ${scopeNames.join(', ')}`;
}

/** A control does one thing, and what only one surface or one kind of block can show stands nowhere else. */
function beyondDescriptor({ surface, actions = [], options, view = [] }: Contribution<'uiDescriptor'>): string | undefined {
  if (options && surface !== 'chat-input-toolbar-chip') return 'uiDescriptor/options are for the surface chat-input-toolbar-chip';
  if (options && actions.length > 0) return 'uiDescriptor/actions and uiDescriptor/options cannot both be given';
  const deeds = [
    ...actions.map((action, index) => [`actions/${index}`, action] as const),
    ...(options ?? []).map(({ action }, index) => [`options/${index}/action`, action] as const),
  ];
  for (const [place, { actionId, command, payload, payloadFrom }] of deeds) {
    if ((actionId === undefined) === (command === undefined)) return `uiDescriptor/${place} needs either actionId or command`;
    if (payload !== undefined && payloadFrom !== undefined)
      return `uiDescriptor/${place}/payload and uiDescriptor/${place}/payloadFrom cannot both be given`;
    if (command !== undefined && (payload !== undefined || payloadFrom !== undefined))
      return `uiDescriptor/${place}: a command has no payload; write it into the command`;
    if (command !== undefined && decides(command))
      return `uiDescriptor/${place}/command would answer an approval: that is done where all of it is shown`;
  }
  for (const [index, { kind, text, from, itemAction }] of view.entries()) {
    if ((text === undefined) === (from === undefined)) return `uiDescriptor/view/${index} needs either text or from`;
    if (itemAction && (kind !== 'list' || !from)) return `uiDescriptor/view/${index}/itemAction is for a list that comes from the state`;
  }
  return undefined;
}

/** A button of a plugin says what the plugin likes: no label stands for what the operator allows by it. */
function decides(command: string): boolean {
  const name = parseCommand(command)?.name ?? '';
  return isCommandName(name) && commands[name].scope === 'operator.approvals';
}

function schemaIn(kind: ContributionKind, data: Record<string, unknown>): unknown {
  if (kind === 'tool') return data.parameters;
  return kind === 'sessionAction' ? data.schema : undefined;
}

function isAsync(code: unknown): boolean {
  return typeof code === 'function' && Object.prototype.toString.call(code) === '[object AsyncFunction]';
}

function namesOf(kind: ContributionKind, key: string, item: unknown): string[] {
  return kind === 'command' ? [key, ...((item as PluginCommand).aliases ?? [])] : [key];
}

/** What no other plugin may have beside this item: its names, where those of all plugins are one set, and its slot. */
function uniqueNames(kind: ContributionKind, key: string, item: unknown): string[] {
  const slot = kind === 'sessionExtension' ? (item as SessionExtension).sessionEntrySlotKey : undefined;
  if (slot !== undefined) return [`slot:${slot}`];
  return contributionRow(kind).unique === 'global' ? namesOf(kind, key, item).map((name) => `${shared(kind)[0]}:${folded(name)}`) : [];
}

/** Names that all plugins share differ in more than the size of their letters. */
function sharesName(other: Entry, name: string, isGlobal: boolean): boolean {
  const names = namesOf(other.kind, other.key, other.item);
  return isGlobal ? names.some((each) => folded(each) === folded(name)) : names.includes(name);
}

function folded(name: string): string {
  return name.toLowerCase();
}

/** After the last one of the same plugin, or of a plugin before it. */
function insert(list: readonly Entry[], entry: Entry): readonly Entry[] {
  const at = list.findIndex((each) => each.plugin > entry.plugin);
  return at < 0 ? [...list, entry] : [...list.slice(0, at), entry, ...list.slice(at)];
}
