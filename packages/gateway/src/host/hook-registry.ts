// Who takes part in which hook. The order of handlers is a property of the set, not of the way it came together: priority,
// then the id of the plugin, then the order in which that plugin registered.
import {
  absentHooks,
  GatewayError,
  HOOK_PRIORITY_RANGE,
  HOOK_TIMEOUT_RANGE,
  hookNames,
  hookRow,
  isHookName,
  matcherFault,
  matches,
  ToolMatcher,
  type HookEvent,
  type HookName,
  type HookResult,
} from '@tenon/protocol';
import type { PluginCall, PluginPlace } from './call-plugin.ts';

/** Returns undefined for no opinion. The event is frozen. */
export type HookHandler<Name extends HookName> = (
  event: HookEvent<Name>,
  call: PluginCall,
) => HookResult<Name> | undefined | Promise<HookResult<Name> | undefined>;

export interface HookRegistration<Name extends HookName> {
  readonly plugin: string;
  readonly handler: HookHandler<Name>;
  /** A whole number from -1000 to 1000; a higher one is asked earlier. 0 unless it says otherwise. */
  readonly priority?: number;
  /** The author's wish, in whole milliseconds; the operator's word goes before it. */
  readonly timeoutMs?: number;
  /** Only for calls of these tools; for the hooks of `matchedHooks`. */
  readonly matcher?: readonly string[];
}

/** Hooks that a handler may take part in for some tools only. */
export const matchedHooks: ReadonlySet<HookName> = new Set(['before_tool_call', 'after_tool_call']);

export interface Registered<Name extends HookName = HookName> extends PluginPlace {
  readonly handler: HookHandler<Name>;
  readonly priority: number;
  readonly matcher?: readonly string[];
  /** False once it was disposed: a hook that is under way skips it. */
  readonly isLive: boolean;
}

export interface HookRegistry {
  /** Returns what takes it back. Refuses an unknown name and values out of range. */
  add<Name extends HookName>(name: Name, registration: HookRegistration<Name>): () => void;
  /** In the order in which they are asked. The list is never changed; a registration makes a new one. */
  handlers<Name extends HookName>(name: Name): readonly Registered<Name>[];
  /** It is not asked any more; false when it is not there (any more). It stays on the list of those until it is disposed. */
  switchOff(handler: PluginPlace, off: SwitchedOff): boolean;
  switchedOff(name: HookName): readonly { readonly handler: Registered; readonly off: SwitchedOff }[];
}

/** Since when and why. */
export interface SwitchedOff {
  readonly at: number;
  readonly reason: string;
}

const MAX_HANDLERS_OF_A_PLUGIN = 64;

interface Entry extends Registered {
  readonly order: number;
  isLive: boolean;
}

export function createHookRegistry(): HookRegistry {
  const lists = new Map<string, readonly Entry[]>(hookNames.map((name) => [name, []]));
  const off = new Map<Entry, SwitchedOff>();
  let order = 0;

  return {
    add(name, { plugin, handler, priority = 0, timeoutMs, matcher }) {
      const list = listOf(name);
      if (typeof handler !== 'function') throw invalid(`Handler of "${name}" of plugin "${plugin}" is not a function`);
      checkRange(`priority of "${name}" of plugin "${plugin}"`, priority, HOOK_PRIORITY_RANGE);
      if (timeoutMs !== undefined) checkRange(`timeoutMs of "${name}" of plugin "${plugin}"`, timeoutMs, HOOK_TIMEOUT_RANGE);
      if (matcher !== undefined) checkMatcher(name, matcher);
      if (list.filter((each) => each.plugin === plugin).length >= MAX_HANDLERS_OF_A_PLUGIN) {
        throw invalid(`Plugin "${plugin}" has ${MAX_HANDLERS_OF_A_PLUGIN} handlers of "${name}" already`);
      }
      const entry: Entry = {
        plugin,
        place: name,
        timeoutMs: timeoutMs ?? hookRow(name).timeoutMs,
        handler: handler as HookHandler<HookName>,
        priority,
        ...(matcher === undefined ? {} : { matcher: Object.freeze([...matcher]) }),
        order: order++,
        isLive: true,
      };
      lists.set(name, [...list, entry].sort(compare));
      return () => {
        off.delete(entry);
        remove(entry);
      };
    },
    handlers: <Name extends HookName>(name: Name) => (lists.get(name) ?? []) as readonly Registered<Name>[],
    switchOff(handler, why) {
      const entry = (lists.get(handler.place) ?? []).find((each) => each === handler);
      if (!entry || !remove(entry)) return false;
      off.set(entry, why);
      return true;
    },
    switchedOff: (name) => [...off].flatMap(([entry, why]) => (entry.place === name ? [{ handler: entry, off: why }] : [])),
  };

  function remove(entry: Entry): boolean {
    if (!entry.isLive) return false;
    entry.isLive = false;
    lists.set(
      entry.place,
      listOf(entry.place).filter((each) => each !== entry),
    );
    return true;
  }

  function listOf(name: string): readonly Entry[] {
    if (isHookName(name)) return lists.get(name) ?? [];
    const reason = Object.hasOwn(absentHooks, name) ? `: ${absentHooks[name]}` : '';
    throw invalid(`Cannot take part in the hook "${name}"${reason || ', which does not exist'}`);
  }
}

function compare(a: Entry, b: Entry): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.plugin !== b.plugin) return a.plugin < b.plugin ? -1 : 1;
  return a.order - b.order;
}

function checkMatcher(name: HookName, matcher: readonly string[]): void {
  if (!matchedHooks.has(name)) throw invalid(`A matcher of tools is for ${[...matchedHooks].join(' and ')}, not for "${name}"`);
  const fault = matches(ToolMatcher, matcher) ? matcherFault(matcher) : 'must be a list of ids of tools, in lower case letters';
  if (fault) throw invalid(`The matcher of "${name}" ${fault}`);
}

function checkRange(what: string, value: number, { min, max }: { min: number; max: number }): void {
  if (!Number.isInteger(value) || value < min || value > max) throw invalid(`The ${what} must be a whole number from ${min} to ${max}`);
}

function invalid(message: string): GatewayError {
  return new GatewayError('INVALID_REQUEST', message);
}
