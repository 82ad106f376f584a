// Plugins that guard something: without them, what they would have refused is done. Such a plugin is never taken away because
// it is slow or throws; where it fails, what it guards is refused.
import { hookNames, hookRow } from '@tenon/protocol';
import type { ContributionRegistry } from './contribution-registry.ts';
import type { HookRegistry } from './hook-registry.ts';

const closedHooks = hookNames.filter((name) => hookRow(name).onFailure === 'closed');

export function isGuard(plugin: string, registry: ContributionRegistry, hooks: HookRegistry): boolean {
  const isOwn = (each: { readonly plugin: string }) => each.plugin === plugin;
  return registry.all('toolPolicy').some(isOwn) || closedHooks.some((name) => hooks.handlers(name).some(isOwn));
}
