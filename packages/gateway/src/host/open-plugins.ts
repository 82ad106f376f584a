// Finds, trusts, loads and unloads the plugins of this gateway. Changes are made one after another. Trust is bound to the
// files as the operator saw them: the grants of a plugin hold for one digest of its folder. Bundled plugins are part of the
// program, so their digest is a constant; they start switched off like all others.
import { GatewayError, hookRow, isHookName, type JsonObject, type JsonValue, type PluginManifest } from '@tenon/protocol';
import { createLanes } from '../kernel/lane.ts';
import type { StoredEvent } from '../store/stream.ts';
import { createContributionRegistry } from './contribution-registry.ts';
import { discoverPlugins, type Found, type NotFit } from './discover.ts';
import { compileSchema } from './json-schema.ts';
import { LoadError, type LoadDeps, registerPlugin, runModule } from './load-plugin.ts';
import { freezeDeep } from './plain-data.ts';
import { loadPatterns } from './patterns.ts';
import { cleanupsOf, runCleanups } from './plugin-cleanup.ts';
import type { PluginHost, PluginHostOptions, PluginInfo, PluginState } from './plugin-host.ts';
import { PluginLoad } from './plugin-load.ts';
import type { PluginServices } from './plugin-services.ts';
import { createRunContexts } from './run-context.ts';
import { hashTree } from './tree-hash.ts';

interface Known {
  found: Found;
  state: PluginState;
  reason: string | undefined;
  enabled: boolean;
  config: JsonObject;
  granted: ReadonlySet<string>;
  load: PluginLoad | undefined;
  services: PluginServices | undefined;
  loadedAt: number | undefined;
  switchedOff: { place: string; at: number; reason: string }[];
}

/** Kept beside the grants of a plugin: that its files are trusted, whatever they were granted. */
const TRUST = 'plugin.load';
const BUNDLED_HASH = 'bundled';
const MAX_WAITING_CLEANUPS = 1_000;
const MAX_FORGET_STEPS = 10_000;
const CHECK_TIMEOUT_MS = 5_000;
const NO_GRANTS: ReadonlySet<string> = new Set();

export async function openPlugins(options: PluginHostOptions): Promise<PluginHost> {
  const { store, clock, log, hookRegistry, caller, counts, safe = false } = options;
  const uid = 'uid' in options ? options.uid : process.getuid?.();
  const registry = createContributionRegistry({ reserved: { tool: options.reservedTools ?? [] } });
  const runContexts = createRunContexts(clock);
  const lanes = createLanes();
  const known = new Map<string, Known>();
  let rejected: readonly NotFit[] = [];
  let generation = 0;
  let waitingCleanups = 0;
  let isClosed = false;
  const deps: LoadDeps = { ...options, registry, runContexts };

  counts.onSlow((where, timeouts) => {
    if (!isHookName(where.place) || hookRow(where.place).onFailure !== 'open' || !hookRegistry.switchOff(where)) return;
    const reason = `it was too slow ${timeouts} times in a row (${where.timeoutMs} ms)`;
    known.get(where.plugin)?.switchedOff.push({ place: where.place, at: clock.now(), reason });
    log.warn({ plugin: where.plugin, place: where.place, timeouts }, 'a handler of a plugin is switched off: it was too slow');
    changed();
  });

  function changed(): void {
    generation++;
    options.publish.changed({ generation });
  }

  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
    lanes.run('plugins', async () => {
      if (isClosed) throw new GatewayError('UNAVAILABLE', 'The gateway is stopping');
      return work();
    });

  function find(id: string): Known {
    const plugin = known.get(id);
    if (plugin) return plugin;
    const unfit = rejected.find((each) => each.id === id);
    if (unfit) throw new GatewayError('INVALID_REQUEST', `Cannot use plugin "${id}": ${unfit.reason}`);
    throw new GatewayError('NOT_FOUND', `Cannot find plugin "${id}"`);
  }

  /** Reads the manifests anew. Loads stay as they are, but for those whose folder is gone. */
  async function look(): Promise<void> {
    const discovered = await discoverPlugins({ home: options.home, paths: options.paths, bundledFolder: options.bundledFolder, uid });
    rejected = discovered.rejected;
    for (const { folder, reason } of rejected) log.warn({ folder, reason }, 'a plugin is not fit to be loaded');
    const { settings } = await store.read('plugins.settings', {});
    const decisions = new Map(settings.map((each) => [each.pluginId, each]));
    for (const found of discovered.found) {
      const { id } = found.manifest;
      const decided = decisions.get(id);
      const before = known.get(id);
      const plugin: Known = before ?? {
        found,
        state: 'off',
        reason: OFF,
        enabled: false,
        config: {},
        granted: NO_GRANTS,
        load: undefined,
        services: undefined,
        loadedAt: undefined,
        switchedOff: [],
      };
      Object.assign(plugin, { found, enabled: decided?.enabled ?? false, config: freezeDeep(decided?.config ?? {}) });
      known.set(id, plugin);
    }
    const there = new Set(discovered.found.map(({ manifest }) => manifest.id));
    for (const [id, plugin] of known) {
      if (there.has(id)) continue;
      await unload(plugin, 'restart');
      known.delete(id);
    }
  }

  /** The digest of the files as they are now. Throws LoadError where they are not fit. */
  async function digestOf(plugin: Known): Promise<string> {
    if (plugin.found.origin === 'bundled') return BUNDLED_HASH;
    const tree = await hashTree(plugin.found.folder, { uid });
    if (!tree.ok) throw new LoadError(tree.reason);
    return tree.hash;
  }

  /** What holds for the files as they are now; undefined when they are not trusted. */
  async function grantsOf(plugin: Known, hash: string): Promise<{ held: ReadonlySet<string> } | { was: boolean }> {
    const { manifest } = plugin.found;
    const { grants } = await store.read('plugins.grants', { pluginId: manifest.id });
    const now = new Set(grants.filter(({ treeHash }) => treeHash === hash).map(({ grant }) => grant));
    if (!now.has(TRUST)) return { was: grants.length > 0 };
    return { held: new Set(manifest.grants.filter((grant) => now.has(grant))) };
  }

  function settle(plugin: Known, state: PluginState, reason?: string): void {
    plugin.state = state;
    plugin.reason = reason;
    if (state === 'loaded' || state === 'off') log.info({ plugin: plugin.found.manifest.id, state }, 'a plugin has changed');
    else log.warn({ plugin: plugin.found.manifest.id, state, reason }, 'a plugin is not loaded');
  }

  /** Loads it if it is on, trusted and fit; says why not otherwise. A load that there is ends in any case. */
  async function bring(plugin: Known): Promise<void> {
    const { manifest, entry, folder } = plugin.found;
    if (safe || !plugin.enabled) {
      await unload(plugin, 'restart');
      return settle(plugin, 'off', safe ? 'the gateway was started without plugins' : OFF);
    }
    try {
      const wrongConfig = configFault(manifest, plugin.config);
      if (wrongConfig !== undefined) throw new LoadError(`its configuration does not fit: ${wrongConfig}`);
      const hash = await digestOf(plugin);
      const grants = await grantsOf(plugin, hash);
      if ('was' in grants) {
        plugin.granted = NO_GRANTS;
        await unload(plugin, 'restart');
        return grants.was
          ? settle(plugin, 'changed', 'its files are not those that were trusted; look at them and grant it anew')
          : settle(plugin, 'off', 'nobody has said that its files are trusted; enable it');
      }
      plugin.granted = grants.held;
      const mine = ++generation;
      await loadPatterns();
      const module = await runModule(entry, folder, manifest, mine, clock);
      const facts = { plugin: manifest.id, pluginName: manifest.name, version: manifest.version, generation: mine };
      const load = new PluginLoad({ ...facts, asked: new Set(manifest.grants), config: plugin.config }, grants.held);
      const old = leave(plugin, 'it is loaded anew');
      plugin.switchedOff = [];
      try {
        plugin.services = registerPlugin(load, module, deps);
        plugin.load = load;
        plugin.loadedAt = clock.now();
      } finally {
        await finishLeaving(old, 'restart');
      }
      await plugin.services.start();
      settle(plugin, 'loaded');
      for (const { accepted, kind, key, code, message } of load.registrations) {
        if (!accepted) log.warn({ plugin: manifest.id, kind, key, code, reason: message }, 'a registration of a plugin was not taken');
      }
    } catch (error) {
      await unload(plugin, 'restart');
      if (!(error instanceof LoadError)) log.error({ error, plugin: manifest.id }, 'cannot load a plugin');
      settle(plugin, 'failed', error instanceof Error ? error.message : 'something was thrown');
    }
  }

  type Left = { readonly services: PluginServices | undefined; readonly told: ReturnType<typeof cleanupsOf> } | undefined;

  /** Ends the load at once; what takes time is left to `finishLeaving`. */
  function leave(plugin: Known, reason: string): Left {
    if (!plugin.load) return undefined;
    const left = { services: plugin.services, told: cleanupsOf(registry, plugin.found.manifest.id) };
    plugin.load.end(reason);
    plugin.load = undefined;
    plugin.services = undefined;
    plugin.loadedAt = undefined;
    return left;
  }

  async function finishLeaving(left: Left, reason: 'restart' | 'disable' | 'close', removeState?: () => Promise<void>): Promise<void> {
    if (!left) return removeState?.();
    await left.services?.stop();
    await removeState?.();
    if (reason === 'close') return;
    const { failures } = await runCleanups(left.told, { reason }, caller);
    for (const failure of failures) log.warn({ ...failure, reason }, 'clean-up of a plugin failed');
  }

  async function unload(plugin: Known, reason: 'restart' | 'disable' | 'close'): Promise<void> {
    if (!plugin.load) return;
    const left = leave(plugin, 'it is unloaded');
    await finishLeaving(left, reason);
  }

  async function forgetState(id: string, by: string): Promise<void> {
    for (let step = 0; step < MAX_FORGET_STEPS; step++) {
      const { more } = await store.write('plugins.forget', { pluginId: id, keepDecisions: true, by, at: clock.now() });
      if (!more) return;
    }
    log.error({ plugin: id }, 'a plugin has so much state that not all of it was removed');
  }

  /** Grants are written for the files as they are now, and with them that these files are trusted. */
  async function write(plugin: Known, grants: readonly string[], by: string): Promise<void> {
    const { manifest } = plugin.found;
    const unasked = grants.find((grant) => !manifest.grants.includes(grant));
    if (unasked !== undefined) {
      throw new GatewayError('INVALID_REQUEST', `Cannot grant "${unasked}" to plugin "${manifest.id}": its manifest does not ask for it`);
    }
    let treeHash: string;
    try {
      treeHash = await digestOf(plugin);
    } catch (error) {
      throw error instanceof LoadError
        ? new GatewayError('INVALID_REQUEST', `Cannot trust plugin "${manifest.id}": ${error.message}`)
        : error;
    }
    for (const grant of [TRUST, ...grants]) {
      await store.write('plugins.grant', { pluginId: manifest.id, grant, treeHash, by, at: clock.now() });
    }
  }

  function takeAway(id: string, grants: readonly string[]): void {
    const plugin = known.get(id);
    if (!plugin) return;
    plugin.granted = new Set([...plugin.granted].filter((grant) => !grants.includes(grant)));
    plugin.load?.dropWithout(plugin.granted);
  }

  function infoOf(plugin: Known): PluginInfo {
    const { manifest, origin, folder } = plugin.found;
    const { state, reason, enabled, load, loadedAt } = plugin;
    return {
      id: manifest.id,
      name: manifest.name,
      version: manifest.version,
      ...(manifest.description === undefined ? {} : { description: manifest.description }),
      origin,
      folder,
      state,
      ...(reason === undefined ? {} : { reason }),
      enabled,
      ...(load ? { generation: load.facts.generation } : {}),
      ...(loadedAt === undefined ? {} : { loadedAt }),
      asked: manifest.grants,
      granted: [...plugin.granted],
      config: plugin.config,
      ...(manifest.configSchema === undefined ? {} : { configSchema: manifest.configSchema }),
      registrations: [...(load?.registrations ?? [])],
      switchedOff: [...plugin.switchedOff],
      services: plugin.services?.states ?? [],
      counts: counts.of(manifest.id),
    };
  }

  function infoOfRejected({ id, origin, folder, manifest, reason }: NotFit): PluginInfo {
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
      services: [],
      counts: [],
    };
  }

  function sessionEnded(sessionKey: string, reason: 'reset' | 'delete'): void {
    const told = cleanupsOf(registry);
    if (told.length === 0) return;
    if (waitingCleanups >= MAX_WAITING_CLEANUPS) {
      log.error({ sessionKey, reason }, 'plugins are not told that a session is over: too many wait to be told');
      return;
    }
    waitingCleanups++;
    void lanes
      .run('cleanups', async () => {
        const { failures } = await runCleanups(told, { reason, sessionKey }, caller);
        for (const failure of failures) log.warn({ ...failure, sessionKey, reason }, 'clean-up of a plugin failed');
      })
      .finally(() => waitingCleanups--);
  }

  await look();
  for (const plugin of sorted()) await bring(plugin);
  generation++;

  function sorted(): Known[] {
    return [...known.values()].sort((a, b) => (a.found.manifest.id < b.found.manifest.id ? -1 : 1));
  }

  return {
    registry,
    hookRegistry,
    caller,
    safe,
    get generation() {
      return generation;
    },
    list: () => [...sorted().map(infoOf), ...rejected.map(infoOfRejected)],
    get(id) {
      const plugin = known.get(id);
      if (plugin) return infoOf(plugin);
      const unfit = rejected.find((each) => each.id === id);
      return unfit && infoOfRejected(unfit);
    },
    enable: (id, { by, grants }) =>
      inTurn(async () => {
        const plugin = find(id);
        await write(plugin, grants ?? plugin.found.manifest.grants, by);
        await store.write('plugins.setEnabled', { pluginId: id, enabled: true, by, at: clock.now() });
        plugin.enabled = true;
        await bring(plugin);
        changed();
        return infoOf(plugin);
      }),
    disable: (id, { by }) =>
      inTurn(async () => {
        const plugin = find(id);
        await store.write('plugins.setEnabled', { pluginId: id, enabled: false, by, at: clock.now() });
        plugin.enabled = false;
        const left = leave(plugin, 'it is switched off');
        plugin.switchedOff = [];
        runContexts.forget(id);
        settle(plugin, 'off', OFF);
        changed();
        await finishLeaving(left, 'disable', () => forgetState(id, by));
        counts.forget(id);
        return infoOf(plugin);
      }),
    reload: (id, { by }) =>
      inTurn(async () => {
        await look();
        const those = id === undefined ? sorted() : [find(id)];
        await store.write('audit.append', { actor: by, action: 'plugins.reload', target: id ?? 'all', at: clock.now() });
        for (const plugin of those) await bring(plugin);
        changed();
        return those.map(infoOf);
      }),
    grant: (id, grants, { by }) =>
      inTurn(async () => {
        const plugin = find(id);
        await write(plugin, grants, by);
        await bring(plugin);
        changed();
        return infoOf(plugin);
      }),
    revoke(id, grants, { by }) {
      // Here before in the store, and before waiting for anything: a store that is away, or a plugin that is slow to load,
      // must not keep a right alive.
      takeAway(id, grants);
      return inTurn(async () => {
        const plugin = find(id);
        for (const grant of grants) await store.write('plugins.revokeGrant', { pluginId: id, grant, by, at: clock.now() });
        // Again: it may have been loaded anew meanwhile, with what the store had then.
        takeAway(id, grants);
        if (grants.includes('services.run')) await plugin.services?.stop();
        changed();
        return infoOf(plugin);
      });
    },
    setConfig: (id, config, { by }) =>
      inTurn(async () => {
        const plugin = find(id);
        const wrong = configFault(plugin.found.manifest, config ?? {});
        if (wrong !== undefined) throw new GatewayError('INVALID_REQUEST', `Cannot configure plugin "${id}": ${wrong}`);
        await store.write('plugins.setConfig', { pluginId: id, config, by, at: clock.now() });
        plugin.config = freezeDeep(structuredClone(config ?? {}));
        if (plugin.enabled) await bring(plugin);
        changed();
        return infoOf(plugin);
      }),
    holds: (plugin, grant) => known.get(plugin)?.load?.holds(grant) ?? false,
    async stateOf(plugin, sessionKey) {
      const { states } = await store.read('pluginState.ofSession', { key: sessionKey, pluginId: plugin });
      const own = new Map<string, JsonValue>();
      for (const { namespace, value } of states) own.set(namespace, freezeDeep(value));
      return (namespace) => own.get(namespace);
    },
    async check() {
      const asked = registry.all('startupCheck').map(async ({ plugin, key, item }) => {
        const answer = await caller.call(
          { plugin, place: 'startupCheck', timeoutMs: CHECK_TIMEOUT_MS },
          (_: undefined, call) => item.check(call),
          undefined,
          readCheck,
        );
        return { plugin, id: key, ...(answer.ok ? answer.value : { ok: false, message: `the check itself failed: ${answer.message}` }) };
      });
      return Promise.all(asked);
    },
    committed(batch) {
      for (const event of batch) {
        const over = overIn(event);
        if (over?.kind === 'run') runContexts.ended(over.runId);
        else if (over) sessionEnded(over.sessionKey, over.kind);
      }
    },
    settled: () => lanes.run('cleanups', () => Promise.resolve()),
    close: () => {
      isClosed = true;
      return lanes.run('plugins', async () => {
        for (const plugin of sorted().reverse()) await unload(plugin, 'close');
      });
    },
  };
}

const OFF = 'it is not switched on';

function configFault(manifest: PluginManifest, config: JsonObject): string | undefined {
  if (manifest.configSchema === undefined) return Object.keys(config).length === 0 ? undefined : 'the plugin has nothing to configure';
  const compiled = compileSchema(manifest.configSchema);
  return compiled.ok ? compiled.check(config, 'config') : compiled.message;
}

function readCheck(raw: unknown): { value: { ok: boolean; message: string } } | { wrong: string } {
  const { ok, message } = (raw ?? {}) as { ok?: unknown; message?: unknown };
  if (typeof ok !== 'boolean' || typeof message !== 'string') return { wrong: 'a check answers {ok, message}' };
  return { value: { ok, message: message.slice(0, 2_048) } };
}

type Over = { readonly kind: 'run'; readonly runId: string } | { readonly kind: 'reset' | 'delete'; readonly sessionKey: string };

/** What an event of the store says to be over. */
function overIn({ event, payload, sessionKey }: StoredEvent): Over | undefined {
  if (event === 'chat') {
    if (!payload.includes('"ended"')) return undefined;
    const { kind, runId } = JSON.parse(payload) as { kind: string; runId?: string };
    return kind === 'ended' && runId !== undefined ? { kind: 'run', runId } : undefined;
  }
  if (event !== 'sessions.changed' || sessionKey === null) return undefined;
  const { reason } = JSON.parse(payload) as { reason: string };
  return reason === 'reset' || reason === 'delete' ? { kind: reason, sessionKey } : undefined;
}
