// The host: finds the plugins of this gateway, and lets the operator switch them on and off, load them anew, grant, revoke
// and set up. Changes are made one after another. What a load is stands in plugin-loads.ts, what is trusted in plugin-trust.ts.
import { DEFAULT_AGENT_ID, GatewayError, UNCONFINED_GRANT } from '@tenon/protocol';
import { limits as sepLimits } from '@tenon/protocol/sep/wire';
import { createLanes } from '../kernel/lane.ts';
import type { StoredEvent } from '../store/stream.ts';
import { createActiveTools } from './active-tools.ts';
import { createContributionRegistry } from './contribution-registry.ts';
import { createDeliverer } from './deliverer.ts';
import { isWatched, type NotFit } from './discover.ts';
import { findPlugins } from './find-plugins.ts';
import { guardProcess } from './guard-process.ts';
import { createKeptNames } from './kept-names.ts';
import { askedOf, infoOf, infoOfRejected, type Known, newlyFound, OFF } from './known-plugin.ts';
import { cancelRuns, openRunsOf } from './own-runs.ts';
import { createOwnStates } from './own-state.ts';
import { freezeDeep } from './plain-data.ts';
import { configFault } from './plugin-config.ts';
import { createPluginFaults } from './plugin-faults.ts';
import type { PluginHost, PluginHostOptions, PluginInfo } from './plugin-host.ts';
import { findMissingGuards, isGuard, type MissingGuard } from './plugin-guards.ts';
import { createPluginHolds } from './plugin-holds.ts';
import { createPluginIncidents } from './plugin-incidents.ts';
import { changesOf } from './plugin-changes.ts';
import { createCleanUp } from './plugin-cleanup.ts';
import { createPluginLoads } from './plugin-loads.ts';
import type { PluginScope } from './plugin-scope.ts';
import { createPluginTrust } from './plugin-trust.ts';
import { createBlocks } from './plugin-blocks.ts';
import { createRunContexts } from './run-context.ts';
import { createChannelQuestions } from './send-question.ts';
import { extensionsWhenThere } from './sep/extensions.ts';
import { reachGrants } from './sep/process/sandbox.ts';
import { createSessionEnds } from './session-ends.ts';
import { watchSlowness } from './slow-breaker.ts';
import { runStartupChecks } from './startup-checks.ts';
import { toolTextsOf } from './tool-texts.ts';

/** A turn has ended. */
const isEnd = ({ event, payload }: StoredEvent) => event === 'chat' && payload.includes('"kind":"ended"');
const isPress = ({ event, payload }: StoredEvent) => event === 'chat' && payload.includes('"customType":"delivery_pressed"');
const MAX_FORGET_STEPS = 10_000;
const MAX_OWNERS = 4_096;
const DEFAULT_SESSION = `agent:${DEFAULT_AGENT_ID}:main`;

const GONE = 'it is switched on, and its folder is not there: put it back, or switch it off';

export async function openPlugins(options: PluginHostOptions): Promise<PluginHost> {
  const { store, clock, log, hookRegistry, caller, counts, safe = false } = options;
  const uid = 'uid' in options ? options.uid : process.getuid?.();
  const registry = createContributionRegistry({ reserved: { tool: options.reservedTools ?? [], model: options.reservedModels ?? [] } });
  const runContexts = createRunContexts(clock);
  const ownStates = createOwnStates(store, registry);
  const lanes = createLanes();
  const known = new Map<string, Known>();
  let rejected: readonly NotFit[] = [];
  let generation = 0;
  /** Whose generation it was: a stack names no more than that. */
  const owners = new Map<number, string>();
  const incidents = createPluginIncidents(clock);
  let missing: readonly MissingGuard[] = [];
  /** Switched on by the operator, whatever became of them. */
  let wanted = new Set<string>();
  let isClosed = false;
  const { activity } = options;
  const blocks = createBlocks({
    ...options,
    incidents,
    changed,
    generationOf: (plugin) => known.get(plugin)?.load?.facts.generation,
  });
  const activeTools = createActiveTools(sepLimits.narrowedSessions.value);
  const extensions =
    options.extensions &&
    extensionsWhenThere({
      ...options,
      ...options.extensions,
      workspace: options.workspaceOf(DEFAULT_SESSION) ?? options.home,
      uid,
      activeTools,
      ready: (id) => void bringAgain(id),
      holds: (id, grant) => known.get(id)?.load?.holds(grant) ?? false,
      changed() {
        changed();
        // What is said of a guard that is not there says how its process does by now.
        if (missing.length > 0 && !isClosed) inTurn(async () => {}).catch(() => {});
      },
    });
  const deliverer = createDeliverer({ ...options, registry });
  const questions = createChannelQuestions({ ...options, registry, deliverer });
  const names = createKeptNames(store, registry, log);
  const holds = createPluginHolds(store, clock, blocks);
  const trust = createPluginTrust({ store, clock, uid });
  const cleanUp = createCleanUp({ caller, runContexts, log });
  const ends = createSessionEnds({ registry, cleanUp, runContexts, activeTools, log });
  const { bring, warm, unload, leave, finishLeaving, settle } = createPluginLoads({
    load: { ...options, registry, runContexts, ownStates, deliverer },
    trust,
    cleanUp,
    clock,
    log,
    safe,
    nextGeneration,
    activity,
    incidents,
    watchdog: blocks.watchdog,
  });
  const shown = (plugin: Known): PluginInfo => infoOf(plugin, counts, incidents);
  const shownUnfit = (unfit: NotFit): PluginInfo => ({ ...infoOfRejected(unfit), enabled: wanted.has(unfit.id) });
  const faults = createPluginFaults({
    clock,
    log,
    metrics: options.metrics,
    incidents,
    pluginOf: (asked) => owners.get(asked),
    isCurrent: ({ plugin, generation: asked }) => {
      const { load, loading } = known.get(plugin) ?? {};
      return asked === load?.facts.generation || asked === loading;
    },
    changed,
    isGuard: (plugin) => isGuard(plugin, registry, hookRegistry),
    endLoad,
  });

  function nextGeneration(plugin: string): number {
    generation++;
    owners.set(generation, plugin);
    if (owners.size > MAX_OWNERS) owners.delete(owners.keys().next().value as number);
    return generation;
  }

  /** For a load that must not go on. The operator's wish to have the plugin stays. */
  async function endLoad({ plugin: id, generation: asked }: PluginScope, reason: string): Promise<void> {
    try {
      await inTurn(async () => {
        const plugin = known.get(id);
        if (plugin?.load?.facts.generation !== asked) return;
        await unload(plugin, 'restart');
        settle(plugin, 'failed', reason);
        await bringInOrder(id);
        changed();
      });
    } catch (error) {
      if (!isClosed) log.error({ error, plugin: id }, 'cannot end a plugin');
    }
  }

  watchSlowness({
    ...options,
    registry,
    switchedOff: (plugin, off) => {
      known.get(plugin)?.switchedOff.push(off);
      changed();
    },
  });

  function changed(): void {
    generation++;
    options.publish.changed({ generation });
  }

  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
    lanes.run('plugins', async () => {
      if (isClosed) throw new GatewayError('UNAVAILABLE', 'The gateway is stopping');
      try {
        return await work();
      } finally {
        if (!safe) await names.keep(namedPlugins());
        await lookForGuards();
      }
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
    const discovered = options.given ? { found: options.given, rejected: [] } : await findPlugins({ ...options, uid }, extensions);
    rejected = discovered.rejected;
    for (const { folder, reason } of rejected) log.warn({ folder, reason }, 'a plugin is not fit to be loaded');
    const { settings } = await store.read('plugins.settings', {});
    const decisions = new Map(settings.map((each) => [each.pluginId, each]));
    names.read(settings);
    for (const found of discovered.found) {
      const { id } = found.manifest;
      const decided = decisions.get(id);
      const plugin = known.get(id) ?? newlyFound(found);
      const { enabled = false, config = {}, held } = decided ?? {};
      Object.assign(plugin, { found, enabled, config: freezeDeep(config), held });
      known.set(id, plugin);
    }
    const there = new Set(discovered.found.map(({ manifest }) => manifest.id));
    const seen = new Set([...there, ...rejected.map(({ id }) => id)]);
    const gone = settings.filter(({ pluginId, enabled }) => enabled && !seen.has(pluginId));
    rejected = [...rejected, ...gone.map(({ pluginId: id }): NotFit => ({ id, origin: 'path', folder: '', reason: GONE }))];
    wanted = new Set(settings.flatMap(({ pluginId, enabled }) => (enabled ? [pluginId] : [])));
    if (!safe && discovered.found.some((found) => wanted.has(found.manifest.id) && isWatched(found))) blocks.watchdog?.boot();
    for (const [id, plugin] of known) {
      if (there.has(id)) continue;
      await unload(plugin, 'restart');
      await plugin.found.extension?.stop();
      known.delete(id);
    }
  }

  /** Another one where something else is there than before. */
  function foundText(): string {
    const all = [...sorted().map(({ found }) => found), ...rejected];
    return JSON.stringify(all.map(({ folder, manifest }) => [folder, manifest?.version, manifest?.grants]));
  }

  /** As the operator would: on record, shown, and taken back in the same way. */
  async function switchOnAtFirst(id: string): Promise<void> {
    const plugin = known.get(id);
    if (plugin?.found.origin !== 'bundled') return;
    const { settings } = await store.read('plugins.settings', {});
    if (settings.some(({ pluginId, enabled }) => pluginId === id && enabled !== undefined)) return;
    await trust.write(plugin, plugin.found.manifest.grants, 'gateway');
    await store.write('plugins.setEnabled', { pluginId: id, enabled: true, by: 'gateway', at: clock.now() });
    plugin.enabled = true;
    wanted.add(id);
  }

  /** With `all`, also what was decided about it, and what it keeps outside of sessions. */
  async function forgetState(id: string, by: string, all = false): Promise<void> {
    for (let step = 0; step < MAX_FORGET_STEPS; step++) {
      const { more } = await store.write('plugins.forget', { pluginId: id, keepDecisions: !all, by, at: clock.now() });
      if (!more) return cancelRuns(id, store, clock, 'The plugin that asked for it was switched off');
    }
    log.error({ plugin: id }, 'a plugin has so much state that not all of it was removed');
  }

  function takeAway(id: string, grants: readonly string[]): void {
    const plugin = known.get(id);
    if (!plugin) return;
    plugin.granted = new Set([...plugin.granted].filter((grant) => !grants.includes(grant)));
    plugin.load?.dropWithout(plugin.granted);
    // What it has said of tools of others holds no longer than its right to.
    if (grants.includes('tools.narrow')) activeTools.forget(id);
  }

  /** One that is switched on and cannot be used: that it is wanted is taken back. */
  async function disableUnfit(id: string, by: string, forget = false): Promise<PluginInfo> {
    const unfit = rejected.find((each) => each.id === id);
    if (!unfit) return shown(find(id));
    await store.write('plugins.setEnabled', { pluginId: id, enabled: false, by, at: clock.now() });
    await forgetState(id, by, forget);
    wanted.delete(id);
    registry.reserve(id, []);
    await bringInOrder(id);
    rejected = rejected.filter((each) => each.reason !== GONE || wanted.has(each.id));
    changed();
    return { ...infoOfRejected(unfit), enabled: false };
  }

  function namedPlugins() {
    return { wanted, loaded: sorted().flatMap(({ found, load }) => (load ? [found.manifest.id] : [])) };
  }

  /** Without plugins at all, nobody guards anything, and that is what the operator asked for. */
  async function lookForGuards(): Promise<void> {
    if (safe) return;
    missing = await findMissingGuards(store, (id) => ({
      isLoaded: known.get(id)?.load !== undefined,
      reason: reasonOf(known.get(id)) ?? rejected.find((each) => each.id === id)?.reason,
      down: downOf(known.get(id)),
    }));
    for (const { plugin, reason } of missing)
      log.error({ plugin, reason }, 'a plugin that guards something is not loaded: what it guards is refused');
  }

  /** Its process stays down until somebody does something. */
  function downOf(plugin: Known | undefined): 'quarantined' | 'failed' | undefined {
    const state = plugin?.state === 'failed' ? plugin.found.extension?.info.state : undefined;
    return state === 'quarantined' || state === 'failed' ? state : undefined;
  }

  function reasonOf(plugin: Known | undefined): string | undefined {
    return (downOf(plugin) && plugin?.found.extension?.info.reason) ?? plugin?.reason;
  }

  function sorted(): Known[] {
    return [...known.values()].sort((a, b) => (a.found.manifest.id < b.found.manifest.id ? -1 : 1));
  }

  /**
   * A name that several plugins want belongs to the one whose id comes first, as it does after a start: whoever was switched
   * on later, or lost its rival, is loaded anew in that order. What belongs to one that is meant to be there and is not fit
   * now passes to nobody.
   */
  async function bringInOrder(changedId: string): Promise<void> {
    const changedOne = known.get(changedId);
    if (changedOne?.enabled && !changedOne.load) return;
    const rivals = sorted().filter(({ found: { manifest }, load }) => {
      if (manifest.id === changedId || !load) return load !== undefined && [...load.lostTo].some((holder) => holder > changedId);
      return load.lostTo.has(changedId) || (manifest.id > changedId && changedOne?.load?.lostTo.has(manifest.id));
    });
    if (rivals.length === 0) return;
    for (const plugin of rivals) await unload(plugin, 'restart');
    for (const plugin of rivals) await bring(plugin);
  }

  /** Beside everything else: a process that hangs delays neither the gateway nor another one. */
  async function bringLater(plugin: Known): Promise<void> {
    // What went wrong is told when it is brought.
    await warm(plugin).catch(() => {});
    await bringAgain(plugin.found.manifest.id);
  }

  async function bringAgain(id: string): Promise<void> {
    try {
      await inTurn(async () => {
        const plugin = known.get(id);
        if (!plugin?.enabled) return;
        await bring(plugin);
        await bringInOrder(id);
        changed();
      });
    } catch (error) {
      if (!isClosed) log.error({ error, plugin: id }, 'cannot load an extension');
    }
  }

  if (options.guard) guardProcess(faults, log);
  await look();
  // A gateway that died while it switched one off goes on with that. All at once: that is one commit, and every start waits for it.
  await Promise.all(sorted().flatMap(({ enabled, found }) => (enabled ? [] : [forgetState(found.manifest.id, 'gateway')])));
  for (const id of options.onAtFirst ?? []) await switchOnAtFirst(id);
  if (!safe) await holds.holdStuck(known);
  const later = sorted().filter(({ found, enabled }) => found.extension && enabled);
  for (const plugin of sorted()) if (!later.includes(plugin)) await bring(plugin);
  if (!safe) {
    const takers = names.takers(namedPlugins());
    for (const id of takers) await bring(find(id));
    await names.keep(namedPlugins());
  }
  // What they guard is refused until they are there.
  const started = Promise.all(later.map(bringLater)).then(() => {});
  await lookForGuards();
  blocks.recall(known);
  generation++;
  void deliverer.resume();

  return {
    registry,
    hookRegistry,
    caller,
    counts,
    safe,
    faults,
    get generation() {
      return generation;
    },
    list: () => [...sorted().map(shown), ...rejected.map(shownUnfit)],
    get(id) {
      const plugin = known.get(id);
      if (plugin) return shown(plugin);
      const unfit = rejected.find((each) => each.id === id);
      return unfit && shownUnfit(unfit);
    },
    // Manifests are read anew, here and where it is enabled: what is shown, asked for and trusted belongs to the same files.
    treeHash: (id) =>
      inTurn(async () => {
        const before = foundText();
        await look();
        if (foundText() !== before) changed();
        const plugin = known.get(id);
        return plugin && trust.treeHashOf(plugin);
      }),
    async changes(id) {
      const plugin = find(id);
      const now = plugin.load ? toolTextsOf(id, registry) : undefined;
      return changesOf(await trust.compare(plugin), askedOf(plugin), now);
    },
    logs: (id, after, limit) => find(id).found.extension?.logs(after, limit) ?? { lines: [], cursor: 0, dropped: 0 },
    enable: (id, { by, grants, treeHash }) =>
      inTurn(async () => {
        await look();
        const plugin = find(id);
        // All that it asks for is not what the machine lacks: that is granted by its name only.
        const given = grants ?? askedOf(plugin).filter((grant) => grant !== UNCONFINED_GRANT);
        await trust.write(plugin, given, by, { shown: treeHash, tools: true });
        if (grants !== undefined) await trust.takeBackAllBut(plugin, grants, by);
        await store.write('plugins.setEnabled', { pluginId: id, enabled: true, by, at: clock.now() });
        plugin.enabled = true;
        wanted.add(id);
        await holds.release(plugin, by);
        plugin.found.extension?.renew();
        await bring(plugin);
        await bringInOrder(id);
        changed();
        return shown(plugin);
      }),
    disable: (id, { by, forget }) =>
      inTurn(async () => {
        const plugin = known.get(id);
        if (!plugin) return disableUnfit(id, by, forget);
        await store.write('plugins.setEnabled', { pluginId: id, enabled: false, by, at: clock.now() });
        plugin.enabled = false;
        wanted.delete(id);
        registry.reserve(id, []);
        await holds.release(plugin, by);
        incidents.forget(id);
        const left = leave(plugin, 'it is switched off');
        plugin.switchedOff = [];
        settle(plugin, 'off', OFF);
        changed();
        let failure: unknown;
        const removeState = () =>
          forgetState(id, by, forget).catch((error: unknown) => {
            failure = error;
            throw error;
          });
        await finishLeaving(left, 'disable', { plugin: id, removeState });
        // It ends by itself with its load, once it has been told what to clean up.
        await plugin.found.extension?.stop();
        if (failure !== undefined) throw failure;
        if (forget) plugin.config = freezeDeep({});
        counts.forget(id);
        await bringInOrder(id);
        return shown(plugin);
      }),
    reload: (id, { by }) =>
      inTurn(async () => {
        await look();
        const those = id === undefined ? sorted() : [find(id)];
        await store.write('audit.append', { actor: by, action: 'plugins.reload', target: id ?? 'all', at: clock.now() });
        for (const { found } of those) found.extension?.renew();
        // Of several, none waits for the process of another.
        if (id === undefined) await Promise.all(those.map((plugin) => warm(plugin).catch(() => {})));
        for (const plugin of those) {
          // With all the others, it would block them all again.
          if (id !== undefined) await holds.release(plugin, by);
          await bring(plugin);
          await bringInOrder(plugin.found.manifest.id);
        }
        changed();
        return those.map(shown);
      }),
    grant: (id, grants, { by }) =>
      inTurn(async () => {
        const plugin = find(id);
        await trust.requireUnchanged(plugin);
        await trust.write(plugin, grants, by);
        await bring(plugin);
        await bringInOrder(id);
        changed();
        return shown(plugin);
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
        // What it reaches was settled when it was started.
        const isOfHook = (grant: string) => plugin.found.extension?.hookGrants.includes(grant);
        // Without its hook, an extension would be at work and guard nothing.
        if (plugin.enabled && grants.some((grant) => reachGrants.includes(grant) || isOfHook(grant))) await bring(plugin);
        if (grants.includes('services.run')) await plugin.services?.stop();
        if (grants.includes('turns.start')) await cancelRuns(id, store, clock, 'The plugin that asked for it may no longer start turns');
        if (grants.includes('approvals.request')) await store.write('approvals.voidFor', { ofPlugin: id, at: clock.now() });
        await bringInOrder(id);
        changed();
        return shown(plugin);
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
        await bringInOrder(id);
        changed();
        return shown(plugin);
      }),
    get missingGuards() {
      return missing;
    },
    missingGuard: (guarded) => missing.find(({ guards }) => guards.has(guarded)),
    holds: (plugin, grant) => known.get(plugin)?.load?.holds(grant) ?? false,
    isActive: activeTools.isActive,
    stateOf: ownStates.of,
    openRuns: (plugin, sessionKey) => openRunsOf(store, plugin, sessionKey),
    questions,
    check: () => runStartupChecks(registry, caller),
    committed(batch) {
      ends.committed(batch);
      // What the agent has said, or what was pressed, may wait for a channel.
      if (batch.some(isEnd) || batch.some(isPress)) void deliverer.resume();
    },
    started,
    settled: ends.settled,
    close: () => {
      isClosed = true;
      deliverer.close();
      // At once: a process that is being started would be waited for.
      const stopped = extensions?.close();
      return lanes.run('plugins', async () => {
        for (const plugin of sorted().reverse()) await unload(plugin, 'close');
        await stopped;
        await blocks.watchdog?.close();
      });
    },
  };
}
