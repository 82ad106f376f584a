// Loads and unloads plugins. Whoever calls sees to it that changes are made one after another. Each load is a generation; the
// old one ends in the same step in which the new one begins.
import type { JsonObject } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { configFault } from './plugin-config.ts';
import { askedOf, type Known, NO_GRANTS, OFF } from './known-plugin.ts';
import { LoadError, type LoadDeps, registerPlugin, runModule } from './load-plugin.ts';
import { isWatched } from './discover.ts';
import { loadPatterns } from './patterns.ts';
import { type CleanUp, cleanupsOf, withoutKept } from './plugin-cleanup.ts';
import type { PluginActivity } from './plugin-activity.ts';
import type { PluginState } from './plugin-host.ts';
import type { PluginIncidents } from './plugin-incidents.ts';
import { type LoadFacts, PluginLoad } from './plugin-load.ts';
import type { PluginServices } from './plugin-services.ts';
import type { Accepted } from './sep/extension-run.ts';
import type { ToolTexts } from '../store/plugin-consents.ts';
import type { PluginTrust } from './plugin-trust.ts';
import { differingTools, toolTextsOf } from './tool-texts.ts';
import type { Watchdog } from './plugin-watchdog.ts';

export type LeaveReason = 'restart' | 'disable' | 'close';

export type Left = { readonly services: PluginServices | undefined; readonly told: ReturnType<typeof cleanupsOf> } | undefined;

/** It goes for good. */
export interface Disabled {
  readonly plugin: string;
  readonly removeState: () => Promise<void>;
}

export interface PluginLoads {
  /** Has the process of an extension started, if it is on and trusted: what takes time of `bring`, outside of the order. */
  warm(plugin: Known): Promise<void>;
  /** Loads it if it is on, trusted and fit; says why not otherwise. A load that there is ends in any case. */
  bring(plugin: Known): Promise<void>;
  unload(plugin: Known, reason: LeaveReason): Promise<void>;
  /** Ends the load at once; what takes time is left to `finishLeaving`. */
  leave(plugin: Known, reason: string): Left;
  /** Stops services, then removes what it keeps, then tells its clean-ups. */
  finishLeaving(left: Left, reason: LeaveReason, disabled?: Disabled): Promise<void>;
  /** Puts on record what has become of it. */
  settle(plugin: Known, state: PluginState, reason?: string): void;
}

interface Deps {
  readonly load: LoadDeps;
  readonly trust: PluginTrust;
  readonly cleanUp: CleanUp;
  readonly clock: Clock;
  readonly log: Log;
  readonly safe: boolean;
  /** Never the same twice. */
  readonly nextGeneration: (plugin: string) => number;
  readonly activity?: PluginActivity | undefined;
  readonly incidents: PluginIncidents;
  readonly watchdog?: Watchdog | undefined;
}

export function createPluginLoads({
  load: deps,
  trust,
  cleanUp,
  clock,
  log,
  safe,
  nextGeneration,
  activity,
  incidents,
  watchdog,
}: Deps): PluginLoads {
  const { registry } = deps;

  function settle(plugin: Known, state: PluginState, reason?: string): void {
    plugin.state = state;
    plugin.reason = reason;
    if (state === 'loaded' || state === 'off' || state === 'starting')
      log.info({ plugin: plugin.found.manifest.id, state }, 'a plugin has changed');
    else log.warn({ plugin: plugin.found.manifest.id, state, reason }, 'a plugin is not loaded');
  }

  async function bring(plugin: Known): Promise<void> {
    const { manifest } = plugin.found;
    if (safe || !plugin.enabled) {
      await end(plugin);
      return settle(plugin, 'off', safe ? 'the gateway was started without plugins' : OFF);
    }
    if (plugin.held !== undefined) {
      await unload(plugin, 'restart');
      return settle(plugin, 'failed', plugin.held);
    }
    try {
      const wrongConfig = configFault(manifest, plugin.config);
      if (wrongConfig !== undefined) throw new LoadError(`its configuration does not fit: ${wrongConfig}`);
      const grants = await trust.grantsOf(plugin);
      if ('was' in grants) {
        plugin.granted = NO_GRANTS;
        plugin.requested = [];
        await end(plugin);
        return grants.was
          ? settle(plugin, 'changed', 'its files are not those that were trusted; look at them, then enable it again')
          : settle(plugin, 'off', 'nobody has said that its files are trusted; enable it');
      }
      plugin.granted = grants.held;
      plugin.requested = grants.requested;
      if (grants.pending) return await standStill(plugin, grants.pending);
      const unmet = unmetBefore(grants);
      if (plugin.found.extension && unmet.length > 0) return await waitFor(plugin, unmet);
      const mine = nextGeneration(manifest.id);
      plugin.loading = mine;
      incidents.forget(manifest.id);
      if (isWatched(plugin.found)) await watchdog?.watch(manifest.id, plugin.found.folder);
      else watchdog?.know(manifest.id, plugin.found.folder);
      await loadPatterns();
      const loaded = activity?.loading(manifest.id);
      const module = await runModule(plugin.found, mine, clock, acceptedOf(grants, plugin.config)).finally(loaded);
      const { extension } = plugin.found;
      if (extension) {
        plugin.requested = await trust.request(plugin, grants, extension.wanted);
        const missing = extension.hookGrants.filter((grant) => !grants.held.has(grant));
        if (missing.length > 0) return await waitFor(plugin, missing);
      }
      const load = new PluginLoad(factsOf(plugin, mine), grants.held);
      const old = leave(plugin, 'it is loaded anew');
      plugin.switchedOff = [];
      activity?.begin(manifest.id, mine);
      let tools: ToolTexts = {};
      let differing: ToolTexts = {};
      try {
        plugin.services = registerPlugin(load, module, deps);
        if (extension) tools = toolTextsOf(manifest.id, registry);
        differing = differingTools(grants.tools, tools);
        // At once: nobody has been told yet what they say.
        if (Object.keys(differing).length > 0) load.end('its tools say something else than what was accepted');
        else {
          plugin.load = load;
          plugin.loadedAt = clock.now();
        }
      } finally {
        await finishLeaving(old, 'restart');
      }
      if (!load.isLive) {
        await trust.holdTools(plugin, grants, differing);
        return await standStill(plugin, Object.keys(differing));
      }
      if (extension) await trust.recordTools(plugin, grants, tools);
      await plugin.services.start();
      settle(plugin, 'loaded');
      for (const { accepted, kind, key, code, message } of load.registrations) {
        if (!accepted) log.warn({ plugin: manifest.id, kind, key, code, reason: message }, 'a registration of a plugin was not taken');
      }
    } catch (error) {
      const { extension } = plugin.found;
      const isThere = extension?.isReady || extension?.isComing;
      if (isThere && plugin.load?.isLive && error instanceof LoadError) return stays(plugin, error.message);
      await unload(plugin, 'restart');
      if (!(error instanceof LoadError)) log.error({ error, plugin: manifest.id }, 'cannot load a plugin');
      settle(plugin, 'failed', error instanceof Error ? error.message : 'something was thrown');
    } finally {
      plugin.loading = undefined;
    }
  }

  /** What it says of its tools is not what was accepted; until somebody has read it, nothing of it runs. */
  async function standStill(plugin: Known, tools: readonly string[]): Promise<void> {
    await end(plugin);
    const those = tools.length > 3 ? `${tools.slice(0, 3).join(', ')} and ${tools.length - 3} more` : tools.join(', ');
    settle(plugin, 'changed', `what it says of its tools is not what was accepted (${those}); read it, then enable it again`);
  }

  /** It takes part in hooks that it may not: it would be at work and guard nothing, so nothing of it runs. */
  async function waitFor(plugin: Known, missing: readonly string[]): Promise<void> {
    await end(plugin);
    const { id } = plugin.found.manifest;
    const asked = askedOf(plugin);
    const undeclared = missing.filter((grant) => !asked.includes(grant));
    if (undeclared.length > 0)
      return settle(
        plugin,
        'failed',
        `it takes part in hooks that its manifest does not ask for (${undeclared.join(', ')}); name them in capabilities.hooks`,
      );
    plugin.missing = missing;
    settle(plugin, 'ungranted', `it does not run without what its hooks need: tenon ext grant ${id} ${missing.join(' ')}`);
  }

  /** A new process of it is no good, or it is between two: its load goes on, and what it guards is refused meanwhile. */
  function stays(plugin: Known, reason: string): void {
    log.warn({ plugin: plugin.found.manifest.id, reason }, 'an extension was not loaded anew; the old one stays');
    settle(plugin, 'loaded', `it was not loaded anew, and the old one stays: ${reason}`);
  }

  /** Also one that has no load, because its process is not ready. */
  async function end(plugin: Known): Promise<void> {
    await unload(plugin, 'restart');
    await plugin.found.extension?.stop();
  }

  async function warm(plugin: Known): Promise<void> {
    const { extension } = plugin.found;
    if (safe || !plugin.enabled || !extension) return;
    settle(plugin, 'starting', 'its process is being started');
    const grants = await trust.grantsOf(plugin);
    if (!('was' in grants) && !grants.pending && unmetBefore(grants).length === 0)
      await extension.prepare(acceptedOf(grants, plugin.config));
  }

  function leave(plugin: Known, reason: string): Left {
    if (!plugin.load) return undefined;
    const left = { services: plugin.services, told: cleanupsOf(registry, { plugin: plugin.found.manifest.id }) };
    plugin.load.end(reason);
    plugin.load = undefined;
    plugin.services = undefined;
    plugin.loadedAt = undefined;
    return left;
  }

  async function finishLeaving(left: Left, reason: LeaveReason, disabled?: Disabled): Promise<void> {
    await left?.services?.stop();
    if (reason === 'close') return;
    const { plugin, removeState } = disabled ?? {};
    await cleanUp.run({
      reason,
      told: withoutKept(left?.told ?? [], registry),
      ...(plugin === undefined ? {} : { disabled: plugin, removeState }),
    });
  }

  async function unload(plugin: Known, reason: LeaveReason): Promise<void> {
    if (!plugin.load) return;
    const left = leave(plugin, 'it is unloaded');
    await finishLeaving(left, reason);
  }

  return { bring, warm, unload, leave, finishLeaving, settle };
}

/** Of the hooks that the same files took part in when they ran last: to know what is missing, they need not run again. */
function unmetBefore({ held, requested }: { readonly held: ReadonlySet<string>; readonly requested: readonly string[] }): string[] {
  return requested.filter((grant) => grant.startsWith('hooks.intercept:') && !held.has(grant));
}

function acceptedOf({ held, tree }: { readonly held: ReadonlySet<string>; readonly tree: string }, flags: JsonObject): Accepted {
  return { hash: tree, granted: held, flags };
}

function factsOf(plugin: Known, generation: number): LoadFacts {
  const { manifest, origin, folder } = plugin.found;
  const { id, name, version, description } = manifest;
  const { config } = plugin;
  const said = description === undefined ? {} : { description };
  return {
    plugin: id,
    pluginName: name,
    version,
    ...said,
    source: origin,
    rootDir: folder,
    generation,
    asked: new Set(askedOf(plugin)),
    config,
  };
}
