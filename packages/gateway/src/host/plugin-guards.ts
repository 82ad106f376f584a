// Plugins that guard something: without them, what they would have refused is done. Such a plugin is never taken away because
// it is slow or throws; where it fails, what it guards is refused. The same holds for one that is meant to be there and is
// not: whoever can change its files, or make it fail, must not open the gate by that.
import { type HookName, hookNames, hookRow } from '@tenon/protocol';
import type { Store } from '../store/store.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import type { HookRegistry } from './hook-registry.ts';

const closedHooks = hookNames.filter((name) => hookRow(name).onFailure === 'closed');

export function isGuard(plugin: string, registry: ContributionRegistry, hooks: HookRegistry): boolean {
  const isOwn = (each: { readonly plugin: string }) => each.plugin === plugin;
  return registry.all('toolPolicy').some(isOwn) || closedHooks.some((name) => hooks.handlers(name).some(isOwn));
}

/** What a guard may be for: tool calls by policy, or a hook that is closed on failure. */
export type Guarded = 'tool_policy' | HookName;

/** A guard that is meant to be there, and is not. */
export interface MissingGuard {
  readonly plugin: string;
  readonly guards: ReadonlySet<Guarded>;
  /** For whoever is refused because of it. */
  readonly reason: string;
}

/** Of an extension whose process stays down: what to do, and then why. */
export function downText(id: string, state: 'quarantined' | 'failed', reason: string | undefined): string {
  const why = reason === undefined ? '' : ` (${reason})`;
  return `it is ${state === 'failed' ? 'down' : state}; start it again with "tenon ext reload ${id}", or switch it off with "tenon plugin disable ${id}"${why}`;
}

/** Plugins that the operator has switched on and trusted as guards, for whatever files, and that are not loaded. */
export async function findMissingGuards(
  store: Store,
  stateOf: (plugin: string) => {
    readonly isLoaded: boolean;
    readonly reason?: string | undefined;
    readonly down?: 'quarantined' | 'failed' | undefined;
  },
): Promise<MissingGuard[]> {
  const { settings } = await store.read('plugins.settings', {});
  const wanted = settings.filter(({ pluginId, enabled }) => enabled && !stateOf(pluginId).isLoaded);
  if (wanted.length === 0) return [];
  const { grants } = await store.read('plugins.grants', {});
  return wanted.flatMap(({ pluginId: plugin }) => {
    const guards = new Set(grants.flatMap(({ pluginId, grant }) => (pluginId === plugin ? guardedBy(grant) : [])));
    const { reason: why = 'it is not there', down } = stateOf(plugin);
    const remedy = `Repair it, or switch it off: tenon plugin disable ${plugin}`;
    const reason = `it guards this and is not loaded: ${down ? downText(plugin, down, why) : `${why}. ${remedy}`}`;
    return guards.size === 0 ? [] : [{ plugin, guards, reason }];
  });
}

function guardedBy(grant: string): Guarded[] {
  if (grant === 'policy.tools') return ['tool_policy'];
  const hook = closedHooks.find((name) => grant === `hooks.intercept:${name}`);
  return hook === undefined ? [] : [hook];
}
