// Which plugins need somebody to look at them, for the number beside their entry, and whose a tool is. In the first load, so it is short.
import type { PluginInfo, Result } from '@tenon/protocol';
import type { Loaded } from './app-state.ts';

/** It should work and does not, or not all of it does. */
export function needsALook({ state, registrations, switchedOff, incidents, services, process }: PluginInfo): boolean {
  return (
    (state !== 'loaded' && state !== 'off' && state !== 'starting') ||
    (state === 'loaded' && process !== undefined && process.state !== 'ready') ||
    switchedOff.length + incidents.length > 0 ||
    registrations.some(({ accepted }) => !accepted) ||
    services.some((service) => service.state === 'failed')
  );
}

export function troubledPlugins(plugins: Loaded<Result<'plugins.list'>>): number {
  return plugins.kind === 'ready' ? plugins.value.plugins.filter(needsALook).length : 0;
}

/** Extensions at work that no sandbox holds. */
export function unconfinedOnes(plugins: Loaded<Result<'plugins.list'>>): readonly PluginInfo[] {
  if (plugins.kind !== 'ready') return [];
  return plugins.value.plugins.filter(({ state, process }) => state === 'loaded' && process?.sandbox !== undefined && !process.sandboxed);
}

/** Tools of plugins by their names, with the plugin that offers each. */
export function toolOwners(plugins: Loaded<Result<'plugins.list'>>): ReadonlyMap<string, string> {
  if (plugins.kind !== 'ready') return new Map();
  return new Map(
    plugins.value.plugins.flatMap(({ id, registrations }) =>
      registrations.flatMap(({ kind, key, accepted }) => (kind === 'tool' && accepted ? [[key, id] as const] : [])),
    ),
  );
}
