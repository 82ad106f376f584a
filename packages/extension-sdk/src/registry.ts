// What an extension has registered: the handlers, and the items as `initialize` and `registry/update` carry them. A name is
// registered once; later on some kinds can be added and replaced, as the protocol says.
import {
  hookNames,
  isFurtherEventName,
  isFurtherHookName,
  registrations as kinds,
  type SepFurtherHookName,
  type SepHookName,
  type SepRegistrationKey,
} from '@tenon/protocol/sep/wire';
import type {
  CallContext,
  CommandDefinition,
  FlagDefinition,
  PiToolDefinition,
  ProviderDefinition,
  ShortcutDefinition,
  ToolDefinition,
} from './definitions.ts';
import { withoutUndefined } from './host.ts';
import type { EventHandler, HookHandler } from './on.ts';
import { toJsonSchema } from './parameters.ts';
import type { RenderBlock } from './render.ts';
import type { SeamItems } from './seams.ts';

export type AnyTool = ToolDefinition | PiToolDefinition;
type WireItem = Readonly<Record<string, unknown>> | string;

export type AnySeamHandler = (request: Readonly<Record<string, unknown>>, context: CallContext) => unknown;

export class Registry {
  /** Kind → key → handler. */
  readonly seams = new Map<keyof SeamItems, Map<string, AnySeamHandler>>();
  readonly tools = new Map<string, AnyTool>();
  readonly commands = new Map<string, CommandDefinition>();
  readonly providers = new Map<string, ProviderDefinition>();
  readonly flags = new Map<string, FlagDefinition>();
  readonly hooks = new Map<string, HookHandler[]>();
  readonly events = new Map<string, EventHandler[]>();
  /** Kind → key → item. */
  readonly #items = new Map<SepRegistrationKey, Map<string, WireItem>>();
  /** Since the host was told last; undefined before it was told at all. */
  #news: Map<SepRegistrationKey, Map<string, WireItem>> | undefined;
  readonly #onNews: () => void;

  constructor(onNews: () => void) {
    this.#onNews = onNews;
  }

  addTool(tool: AnyTool): void {
    const { name, description, parameters } = tool;
    const deferred = 'deferred' in tool ? tool.deferred : undefined;
    this.#add('tools', named('tool', name), withoutUndefined({ name, description, parameters: toJsonSchema(parameters), deferred }));
    this.tools.set(name, tool);
  }

  addCommand(command: CommandDefinition): void {
    const { name, description } = command;
    this.#add('commands', named('command', name), { name, description });
    this.commands.set(name, command);
  }

  addFlag(flag: FlagDefinition): void {
    this.#add('flags', named('flag', flag.name), flag.name);
    this.flags.set(flag.name, flag);
  }

  addShortcut({ key, command, description }: ShortcutDefinition): void {
    this.#add('shortcuts', key, withoutUndefined({ key, command, description }) as Record<string, unknown>);
  }

  addProvider(provider: ProviderDefinition): void {
    const { name, baseUrl, apiKeyEnv, models, oauthLogin } = provider;
    this.#add(
      'providers',
      named('provider', name),
      withoutUndefined({
        name,
        base_url: baseUrl,
        api_key_env: apiKeyEnv,
        oauth: oauthLogin ? true : undefined,
        models: models.map(({ id, displayName }) => withoutUndefined({ id, display_name: displayName })),
      }),
    );
    this.providers.set(name, provider);
  }

  addSeam<Kind extends keyof SeamItems>(kind: Kind, item: SeamItems[Kind], handler?: AnySeamHandler): void {
    const key = String((item as Readonly<Record<string, unknown>>)[kinds[kind].key]);
    this.#add(kind, key, item as Readonly<Record<string, unknown>>);
    if (handler) entry(this.seams, kind).set(key, handler);
  }

  addMessageRenderer(tag: string, template: RenderBlock): void {
    this.#add('message_renderers', tag, { tag, template });
  }

  addHook(name: SepHookName | SepFurtherHookName, handler: HookHandler): () => void {
    if (!this.hooks.has(name)) this.#add('hooks', name, name);
    return push(this.hooks, name, handler);
  }

  addEvent(name: string, handler: EventHandler): () => void {
    if (!this.events.has(name)) this.#add('subscriptions', name, name);
    return push(this.events, name, handler);
  }

  /**
   * For `initialize`; from now on what comes is news. Other kinds than SEP's only where the host has their group, other hooks and
   * events only where it has any of what is beyond SEP.
   */
  toWire(has: (group: string) => boolean, hasMore: boolean): Readonly<Record<string, readonly WireItem[]>> {
    this.#news = new Map();
    const written = [...this.#items].filter(([kind]) => isSpoken(kind, has));
    const named = (kind: SepRegistrationKey, items: Map<string, WireItem>) =>
      [...items].filter(([key]) => hasMore || !isFurther(kind, key)).map(([, item]) => item);
    // SEP's own SDK sends these two always.
    return { tools: [], subscriptions: [], ...Object.fromEntries(written.map(([kind, items]) => [kind, named(kind, items)])) };
  }

  /** Hooks and events that are not SEP's. */
  namesBeyond(): readonly string[] {
    return (['hooks', 'subscriptions'] as const).flatMap((kind) =>
      [...(this.#items.get(kind)?.keys() ?? [])].filter((key) => isFurther(kind, key)),
    );
  }

  /** Groups that are not SEP's and that something was registered for. */
  groupsBeyond(): readonly string[] {
    return [...this.#items.keys()].flatMap((kind) => {
      const { group, beyond } = rowOf(kind);
      return beyond && group !== undefined ? [group] : [];
    });
  }

  takeNews(): Readonly<Record<string, readonly WireItem[]>> {
    const news = Object.fromEntries([...(this.#news ?? [])].map(([kind, items]) => [kind, [...items.values()]]));
    this.#news?.clear();
    return news;
  }

  #add(kind: SepRegistrationKey, key: string, item: WireItem): void {
    const items = entry(this.#items, kind);
    if (!this.#news) {
      if (items.has(key)) throw new Error(`"${key}" is registered twice among the ${kind}`);
      items.set(key, item);
      return;
    }
    if (!rowOf(kind).later)
      throw new Error(`Cannot register "${key}": ${kind} are registered in the setup of the extension, before the host has read them`);
    items.set(key, item);
    entry(this.#news, kind).set(key, item);
    this.#onNews();
  }
}

export function isHook(name: string): name is SepHookName {
  return (hookNames as readonly string[]).includes(name);
}

function isFurther(kind: SepRegistrationKey, name: string): boolean {
  return (kind === 'hooks' && isFurtherHookName(name)) || (kind === 'subscriptions' && isFurtherEventName(name));
}

function isSpoken(kind: SepRegistrationKey, has: (group: string) => boolean): boolean {
  const { group, beyond } = rowOf(kind);
  return !beyond || (group !== undefined && has(group));
}

/** The row as code that works on any row sees it. */
function rowOf(kind: SepRegistrationKey): { readonly later: boolean; readonly group?: string; readonly beyond?: true } {
  return kinds[kind];
}

function named(what: string, name: string): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw new TypeError(
    `"${name}" cannot be the name of a ${what}: letters, digits, "_" and "-", at most 64, beginning with a letter or digit`,
  );
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

function entry<Key, Value>(map: Map<Key, Map<string, Value>>, key: Key): Map<string, Value> {
  const found = map.get(key) ?? new Map<string, Value>();
  map.set(key, found);
  return found;
}

function push<Handler>(map: Map<string, Handler[]>, name: string, handler: Handler): () => void {
  map.set(name, [...(map.get(name) ?? []), handler]);
  return () => {
    map.set(
      name,
      (map.get(name) ?? []).filter((each) => each !== handler),
    );
  };
}
