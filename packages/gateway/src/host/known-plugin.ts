// A plugin that was found, as the host keeps it, and as it is shown to others.
import type { JsonObject } from '@tenon/protocol';
import type { CallCounts } from './call-counts.ts';
import type { Found, NotFit } from './discover.ts';
import type { PluginInfo, PluginState } from './plugin-host.ts';
import type { PluginIncidents } from './plugin-incidents.ts';
import type { PluginLoad } from './plugin-load.ts';
import type { PluginServices } from './plugin-services.ts';

export interface Known {
  found: Found;
  state: PluginState;
  reason: string | undefined;
  enabled: boolean;
  config: JsonObject;
  granted: ReadonlySet<string>;
  /** Grants that it asked for when it ran, beside those of its manifest. */
  requested: readonly string[];
  /** What it does not run without, while it is `ungranted`. */
  missing: readonly string[];
  load: PluginLoad | undefined;
  services: PluginServices | undefined;
  loadedAt: number | undefined;
  /** The generation that is being made. */
  loading: number | undefined;
  switchedOff: { place: string; at: number; reason: string }[];
  /** Why it is not loaded until somebody says so. */
  held: string | undefined;
}

export const NO_GRANTS: ReadonlySet<string> = new Set();
export const OFF = 'it is not switched on';

/** Nobody has switched it on yet. */
export function newlyFound(found: Found): Known {
  return {
    found,
    state: 'off',
    reason: OFF,
    enabled: false,
    config: {},
    granted: NO_GRANTS,
    requested: [],
    missing: [],
    load: undefined,
    services: undefined,
    loadedAt: undefined,
    loading: undefined,
    switchedOff: [],
    held: undefined,
  };
}

/** Everything that it may be granted. */
export function askedOf({ found: { manifest, extension }, requested }: Pick<Known, 'found' | 'requested'>): string[] {
  return [...new Set([...manifest.grants, ...requested, ...(extension?.needs ?? [])])];
}

export function infoOf(plugin: Known, counts: CallCounts, incidents: PluginIncidents): PluginInfo {
  const { manifest, origin, folder } = plugin.found;
  const { state, enabled, load, loadedAt } = plugin;
  const process = plugin.found.extension?.info;
  // What has become of its process since it could not be loaded.
  const isDown = process?.state === 'quarantined' || process?.state === 'failed';
  const reason = state === 'failed' && isDown ? (process.reason ?? plugin.reason) : plugin.reason;
  return {
    id: manifest.id,
    name: manifest.name,
    version: manifest.version,
    ...(manifest.description === undefined ? {} : { description: manifest.description }),
    origin,
    folder,
    ...(plugin.found.workspace === undefined ? {} : { workspace: plugin.found.workspace }),
    state,
    ...(reason === undefined ? {} : { reason }),
    enabled,
    ...(load ? { generation: load.facts.generation } : {}),
    ...(loadedAt === undefined ? {} : { loadedAt }),
    asked: askedOf(plugin),
    ...(state === 'ungranted' ? { missing: [...plugin.missing] } : {}),
    granted: [...plugin.granted],
    config: plugin.config,
    ...(manifest.configSchema === undefined ? {} : { configSchema: manifest.configSchema }),
    registrations: [...(load?.registrations ?? [])],
    switchedOff: [...plugin.switchedOff],
    incidents: incidents.of(manifest.id),
    services: plugin.services?.states ?? [],
    ...(process ? { process } : {}),
    counts: counts.of(manifest.id),
  };
}

export function infoOfRejected({ id, origin, folder, manifest, reason, isExtension }: NotFit): PluginInfo {
  return {
    id,
    name: manifest?.name ?? id,
    version: manifest?.version ?? '0',
    origin,
    folder,
    state: 'rejected',
    reason,
    enabled: false,
    asked: manifest?.grants ?? [],
    granted: [],
    config: {},
    registrations: [],
    switchedOff: [],
    incidents: [],
    services: [],
    ...(isExtension ? { process: { state: 'stopped', crashes: 0, sandboxed: false, reach: { net: false, read: [], write: [] } } } : {}),
    counts: [],
  };
}
