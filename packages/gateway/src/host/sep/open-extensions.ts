// The extensions of this gateway: found in their folder, and each kept at work by a supervisor once the host of plugins asks
// for it. The host decides what is trusted, granted and switched on; here is what runs.
import type { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type ExtensionManifest, type LeftOut, readRegistrations, readResult, type Registrations } from '@tenon/protocol/sep';
import {
  groupNames,
  limits,
  PROTOCOL_VERSION,
  registrationKeys,
  registrations as rows,
  type SepEventName,
  uiKinds,
} from '@tenon/protocol/sep/wire';
import { canonical } from '../../kernel/canonical.ts';
import type { RegisterApi } from '@tenon/plugin-sdk';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { randomId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { createWindow } from '../../kernel/window.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import type { Store } from '../../store/store.ts';
import type { ActiveTools } from '../active-tools.ts';
import type { Discovered, Found, NotFit } from '../discover.ts';
import { holdCall } from '../call-plugin.ts';
import { createBridge, type Introduced } from './bridge/bridge.ts';
import { installedFolder, readExtensionLock } from './find/extension-lock.ts';
import type { Accepted, ExtensionRun } from './extension-run.ts';
import { type Confinement, createConfinement, reachGrants, reachOf, type SandboxWish } from './process/sandbox.ts';
import { findEverywhere, trustedWorkspaces } from './find/find-everywhere.ts';
import { type FoundExtension, grantsWantedBy, hookGrantsOf, type NamedFolder } from './find/find-extensions.ts';
import { type Launch, prepareLaunch } from './process/launch.ts';
import { createLogRing } from './process/log-ring.ts';
import { createOrphanGuard } from './process/orphan-guard.ts';
import type { Params, Peer } from './connection/peer.ts';
import type { RunProgram } from '../plugin-programs.ts';
import type { People } from './serve/people.ts';
import { startProcess } from './process/process.ts';
import { readResources, registerResources, type Resources } from './resources.ts';
import { isOn } from './serve/group-grants.ts';
import type { SessionDesk } from './serve/session-desk.ts';
import { createStderrRing } from './process/stderr-ring.ts';
import { createSupervisor, type Generation } from './supervisor.ts';
import { downText } from '../plugin-guards.ts';
import { createTreeCopies } from './process/tree-copy.ts';

export interface ExtensionOptions {
  readonly home: string;
  readonly version: string;
  /** Of the default agent. */
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly node: string;
  readonly spawn: typeof spawn;
  readonly random: () => number;
  /** Of all agents, that of the default agent first. */
  readonly workspaces?: readonly string[];
  /** The setting `extensions.trustedWorkspaces`. */
  readonly trustedWorkspaces?: readonly string[];
  /** The setting `extensions.sandbox`; without it, off. */
  readonly sandbox?: SandboxWish;
}

export interface ExtensionDeps extends ExtensionOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  /** What extensions do in sessions; without it, nothing. */
  readonly desk?: SessionDesk | undefined;
  readonly activeTools: ActiveTools;
  readonly uid: number | undefined;
  /** A process is at work whose registrations are not those that the host has. */
  readonly ready: (name: string) => void;
  /** Whether the operator has granted it, now. */
  readonly holds: (name: string, grant: string) => boolean;
  /** Something that is shown has changed. */
  readonly changed: () => void;
  readonly runProgram?: RunProgram | undefined;
  /** Who watches the sessions; without them nobody does. */
  readonly people?: People | undefined;
}

export interface Extensions {
  /** As plugins are found. One that was found before keeps its process. */
  find(): Promise<Discovered>;
  /** Resolves when nothing of any of them is running. */
  close(): Promise<void>;
}

const NO_RESOURCES: Resources = { skills: [], prompts: [], leftOut: [] };
const COPIES_FOLDER = 'extension-copies';
const ANNOUNCE_MS = 1_000;
/** How long it may take to end what it has running elsewhere, when it is switched off. */
const CLEAN_UP_MS = 5_000;
const COMPLAINTS = 20;
const BUS_EVENT = 'bus/event' satisfies SepEventName;

export function openExtensions(deps: ExtensionDeps): Extensions {
  const copies = createTreeCopies(join(deps.home, COPIES_FOLDER));
  const orphans = createOrphanGuard({ spawn: deps.spawn, run: randomId() });
  const runs = new Map<string, Run>();
  let started = 0;
  const wish = deps.sandbox ?? 'off';
  const confinement = createConfinement(wish, deps.spawn, deps.clock);
  let isAgain = false;
  let trustedOnes: ReadonlySet<string> = new Set();
  let cleared: Promise<void> | undefined;
  deps.metrics.describe('tenon_extension_faults_total', 'Lines and requests of extensions that were not taken, by extension and kind.');

  /** What was copied by a gateway before is of no use; where nothing was, nothing is made. */
  const copyOf = async (folder: string, hash: string): Promise<string> => {
    cleared ??= copies.clear();
    await cleared;
    return copies.of(folder, hash);
  };

  /** Kept by nobody: who is not there does not hear of it. */
  function publish(from: string, topic: string, payload: unknown): void {
    for (const [name, run] of runs) if (name !== from) run.heard({ from, topic, ...(payload === undefined ? {} : { payload }) });
  }

  return {
    async find() {
      const { home, workspaces = [], trustedWorkspaces: trusted = [], uid } = deps;
      const installed = installedIn(home);
      const { found, rejected } = await findEverywhere({ home, installed: installed.folders, workspaces, trusted, uid });
      trustedOnes = await trustedWorkspaces(home, trusted);
      // Whoever has loaded one that is gone ends it; another of its name begins anew.
      const there = new Set(found.map(({ manifest }) => manifest.name));
      for (const name of runs.keys()) if (!there.has(name)) runs.delete(name);
      // A gateway that starts does not wait for it; whoever looks again is asked about what was found.
      const confined = found.length > 0 ? confinement.find() : undefined;
      if (isAgain) await confined;
      else void confined?.then(deps.changed);
      isAgain = true;
      return {
        found: found.map((each): Found => {
          const { name } = each.manifest;
          const run =
            runs.get(name) ??
            createRun(each, {
              ...deps,
              orphans,
              copyOf,
              dropCopy: (copy) => copies.drop(copy),
              nextNumber: () => ++started,
              wish,
              confinement,
              publish,
              isTrusted: (workspace) => trustedOnes.has(workspace),
            });
          runs.set(name, run);
          run.found = each;
          const { folder, asPlugin: manifest, workspace } = each;
          const project = workspace === undefined ? {} : { workspace };
          return { origin: 'path', folder, manifest, entry: folder, extension: run, ...project };
        }),
        rejected: [...rejected, ...installed.rejected],
      };
    },
    async close() {
      await Promise.all([...runs.values()].map((run) => run.stop()));
      orphans.close();
      if (cleared) await copies.clear().catch((error: unknown) => deps.log.warn({ error }, 'cannot remove the copies of extensions'));
    },
  };
}

/** What was installed. A lock file that cannot be read is named, and keeps nobody else from being found. */
function installedIn(home: string): { readonly folders: NamedFolder[]; readonly rejected: NotFit[] } {
  try {
    const { extensions } = readExtensionLock(home);
    const folders = Object.entries(extensions).map(([name, { current }]) => ({ name, folder: installedFolder(home, name, current) }));
    return { folders, rejected: [] };
  } catch (error) {
    const reason = `${(error as Error).message}; no extension that was installed is found until it is mended`;
    return { folders: [], rejected: [{ origin: 'path', folder: home, id: 'extensions-lock', reason, isExtension: true }] };
  }
}

interface RunDeps extends Omit<ExtensionDeps, 'sandbox'> {
  readonly orphans: ReturnType<typeof createOrphanGuard>;
  readonly copyOf: (folder: string, hash: string) => Promise<string>;
  readonly dropCopy: (copy: string) => Promise<void>;
  readonly nextNumber: () => number;
  readonly wish: SandboxWish;
  readonly confinement: Confinement;
  /** By the real path of a workspace. */
  readonly isTrusted: (workspace: string) => boolean;
  readonly publish: (from: string, topic: string, payload: unknown) => void;
}

/** What a process is started from. */
interface Source extends Accepted {
  readonly extension: FoundExtension;
  readonly launch: Launch;
  readonly resources: Resources;
}

interface Run extends ExtensionRun {
  found: FoundExtension;
  /** Another extension has published something. */
  heard(payload: Params): void;
}

function createRun(first: FoundExtension, deps: RunDeps): Run {
  const { clock, log, metrics } = deps;
  const { name } = first.manifest;
  let found = first;
  /** What is, or is to be, at work. */
  let source: Source | undefined;
  /** What its processes were started from, and how many of them still run. */
  const copies = new Map<string, number>();
  let mustRenew = false;
  let isFirst = true;
  /** Whoever asked last was told that there is none. */
  let mustTell = false;
  let preparing = 0;
  /** One after another. */
  let last: Promise<unknown> = Promise.resolve();
  /** The one that is at work while another one is started in its place. */
  let replaced: Peer | undefined;
  /** What the process has registered since it introduced itself. */
  let later: { readonly generation: number; readonly introduced: Introduced } | undefined;
  let announced: Timer | undefined;
  let announcedAt: number | undefined;
  /** The registrations that the host has, and who of those that were given out is the last. */
  let registered: string | undefined;
  let owner: object | undefined;
  /** The load that is in place. */
  let live: object | undefined;
  /** The last process that a load stands for, and what waits for the load of a later one. */
  let placed = 0;
  let placing: PromiseWithResolvers<void> | undefined;
  /** The process that is told of a reload once its load is in place. */
  let untold: number | undefined;
  /** Nobody waits for anything of it any more. */
  let stopped = Promise.withResolvers<void>();
  const ring = createLogRing({ clock });
  /** Of what it says wrongly, enough is in its log for whoever mends it. */
  const complaints = createWindow({ limit: COMPLAINTS, windowMs: 60_000, clock });
  const stderr = createStderrRing({
    clock,
    ring,
    log: (line) => log.info({ plugin: name, stderr: line }, 'an extension wrote to its standard error'),
  });
  const manifestOf = () => (source?.extension ?? found).manifest;
  const bridge = createBridge({
    name,
    manifest: manifestOf,
    log,
    clock,
    store: deps.store,
    desk: deps.desk,
    activeTools: deps.activeTools,
    generation: () => supervisor.current?.number,
    placed: whenPlaced,
    request: (...given) => (downBecause() === undefined ? supervisor.request(...given) : Promise.reject(new Error(downBecause()))),
    event: (params) => supervisor.current?.peer.event(params),
    holds: (grant) => deps.holds(name, grant),
    publish: (topic, payload) => deps.publish(name, topic, payload),
    people: deps.people,
    runProgram: deps.runProgram,
    hold(signal) {
      const releases = [holdCall(signal), supervisor.current?.peer.hold(signal)];
      return () => {
        for (const release of releases) release?.();
      };
    },
    dropped: (kind) => metrics.count('tenon_extension_faults_total', { plugin: name, kind }),
    said: (level, message) => ring.add('log', level, message),
    registered(generation, more) {
      const { current } = supervisor;
      if (current?.number !== generation) return;
      later = { generation, introduced: withMore(introducedBy(current), more) };
      announce();
    },
  });

  const supervisor = createSupervisor<Introduced, Source>({
    clock,
    random: deps.random,
    launch({ launch }) {
      const { spawn: start, orphans } = deps;
      const process = startProcess({ ...launch, spawn: start, clock, stderr, orphans, number: deps.nextNumber() });
      const count = (by: number) => copies.set(launch.cwd, (copies.get(launch.cwd) ?? 0) + by);
      count(1);
      void process.ended.then(() => {
        count(-1);
        dropCopies();
      });
      return process;
    },
    hello: (from) => helloOf(from, deps),
    readHello,
    request: (generation, method) => bridge.request(method, generation),
    notification: (generation, method) => bridge.notification(method, generation),
    noticed(_generation, fault, detail) {
      metrics.count('tenon_extension_faults_total', { plugin: name, kind: fault });
      log.debug({ plugin: name, fault, detail }, 'an extension said something that was not taken');
      if (complaints.waitMs('') > 0) return;
      complaints.hit('');
      ring.add('gateway', 'warn', detail);
    },
    remember(memory) {
      const kept = deps.store.write('plugins.keepCrashes', { pluginId: name, ...(memory ? { memory } : {}), at: clock.now() });
      kept.catch((error: unknown) => log.warn({ plugin: name, error }, 'what is known of the crashes of an extension was not kept'));
    },
    changed(state, reason, generation) {
      const isFine = state === 'ready' || state === 'starting' || state === 'stopped';
      if (isFine) log.info({ plugin: name, state }, 'an extension has changed');
      else log.warn({ plugin: name, state, reason }, 'an extension is not at work');
      const pid = generation?.process.pid;
      ring.add(
        'gateway',
        isFine ? 'info' : 'warn',
        `${state}${reason === undefined ? '' : `: ${reason}`}${pid === undefined ? '' : `, process ${pid}`}`,
      );
      // What a process shows goes with it.
      if (state !== 'starting') deps.people?.gone(name, generation?.number);
      if (generation && registered !== undefined) tellOfRestart(generation);
      if (generation && (mustTell || textOf(introducedBy(generation)) !== registered)) announce();
      deps.changed();
    },
  });

  /** Of one that stays down until somebody does something: that comes first, because what is long is cut at its end. */
  function downBecause(): string | undefined {
    const { state, reason } = supervisor;
    return state === 'quarantined' || state === 'failed' ? downText(name, state, reason) : undefined;
  }

  /** The new one after its load is in place: what it then asks for, it has the rights to. */
  function tellOfRestart(generation: Generation<Introduced>): void {
    replaced?.event({ event: 'session_shutdown', context: bridge.told({}), payload: { reason: 'reload' } });
    untold = generation.number;
    // The load stands for a process that has come back as it was.
    if (live && preparing === 0 && !mustTell && textOf(introducedBy(generation)) === registered) inPlace(live);
  }

  /** The process that is at work has this load. */
  function inPlace(load: object): void {
    live = load;
    const { current } = supervisor;
    if (current) placed = current.number;
    placing?.resolve();
    placing = undefined;
    if (current && untold === current.number)
      current.peer.event({ event: 'session_start', context: bridge.told({}), payload: { reason: 'reload' } });
    untold = undefined;
  }

  /** Of one that is still introducing itself nothing waits: it would wait for itself. What came with its introduction came after it. */
  function whenPlaced(generation: number): Promise<void> | undefined {
    if (generation <= placed) return undefined;
    if (supervisor.current?.number === generation) return beingPlaced();
    const { promise, resolve } = Promise.withResolvers<void>();
    clock.after(0, resolve);
    return promise.then(() => (supervisor.current?.number === generation && generation > placed ? beingPlaced() : undefined));
  }

  function beingPlaced(): Promise<void> {
    if (!placing) {
      const mine = Promise.withResolvers<void>();
      placing = mine;
      const timer = clock.after(limits.loadWaitMs.value, mine.resolve);
      void mine.promise.then(() => {
        timer.cancel();
        if (placing === mine) placing = undefined;
      });
    }
    return placing.promise;
  }

  /** Once for what comes together, and not too often: what follows is a load of its own. */
  function announce(): void {
    if (preparing > 0 || announced) return;
    const waitMs = announcedAt === undefined ? 0 : Math.max(0, announcedAt + ANNOUNCE_MS - clock.monotonic());
    announced = clock.after(waitMs, () => {
      announced = undefined;
      announcedAt = clock.monotonic();
      if (source && supervisor.current) deps.ready(name);
    });
  }

  function introducedBy({ number, introduced }: Generation<Introduced>): Introduced {
    return later?.generation === number ? later.introduced : introduced;
  }

  async function prepare(accepted: Accepted): Promise<unknown> {
    const isSame =
      source?.hash === accepted.hash &&
      isSameSet(source.granted, accepted.granted) &&
      canonical(source.flags) === canonical(accepted.flags);
    if (!isSame || mustRenew || supervisor.state === 'stopped') await renew(accepted);
    const { current } = supervisor;
    mustTell = !current;
    if (!current)
      throw new Error(`${supervisor.reason ?? 'it is being started'}${supervisor.state === 'restarting' ? '; it is started again' : ''}`);
    const mine = {};
    owner = mine;
    const introduced = introducedBy(current);
    registered = textOf(introduced);
    const module = bridge.moduleOf(introduced, accepted.granted, (cleaned) => {
      if (live === mine) live = undefined;
      // The end of a load that another one has followed ends nothing.
      if (owner === mine) void stopOnce(cleaned, mine);
    });
    const { resources = NO_RESOURCES } = source ?? {};
    return {
      ...module,
      register(api: RegisterApi): void {
        (module as { register(api: RegisterApi): void }).register(api);
        registerResources(name, api, resources);
        // Who loads it keeps the load, or ends it, before anything else is done.
        queueMicrotask(() => {
          if (!api.lifecycle.signal.aborted) inPlace(mine);
        });
      },
    };
  }

  /** What it has running elsewhere it must be able to end; it does not live on for it. */
  async function stopOnce(cleaned: Promise<void>, mine: object): Promise<void> {
    const overdue = Promise.withResolvers<void>();
    const timer = clock.after(CLEAN_UP_MS, overdue.resolve);
    await Promise.race([cleaned, overdue.promise, stopped.promise]);
    timer.cancel();
    if (owner === mine) await stop();
  }

  async function renew(accepted: Accepted): Promise<void> {
    // Who asks for a new one wants it tried again; a gateway that starts goes on where the one before ended.
    const memory = mustRenew || !isFirst ? undefined : (await deps.store.read('plugins.crashes', { pluginId: name })).memory;
    mustRenew = false;
    isFirst = false;
    const extension = found;
    // What was taken back must not live on in the old process, whatever becomes of the new one.
    const held = source?.granted;
    if (held && reachGrants.some((grant) => held.has(grant) && !accepted.granted.has(grant))) await supervisor.stop();
    const root = await deps.copyOf(extension.folder, accepted.hash);
    copies.set(root, copies.get(root) ?? 0);
    const { workspace = deps.workspace } = extension;
    const next: Source = {
      ...accepted,
      extension,
      resources: await readResources(extension.manifest, root),
      launch: await prepareLaunch(extension.manifest, root, accepted.granted, { ...deps, workspace }),
    };
    const before = source;
    source = next;
    replaced = supervisor.current?.peer;
    const failed = await supervisor.reload(next, memory);
    replaced = undefined;
    if (failed === undefined) deps.activeTools.forget(name);
    if (failed === undefined || !supervisor.current) return;
    source = before;
    throw new Error(failed);
  }

  /** Of files that no process runs from, or is started from any more. */
  function dropCopies(): void {
    if (preparing > 0) return;
    for (const [copy, count] of copies) {
      if (count > 0 || copy === source?.launch.cwd) continue;
      copies.delete(copy);
      deps.dropCopy(copy).catch((error: unknown) => log.warn({ plugin: name, error }, 'cannot remove a copy of an extension'));
    }
  }

  async function stop(): Promise<void> {
    stopped.resolve();
    stopped = Promise.withResolvers<void>();
    placing?.resolve();
    placing = undefined;
    untold = undefined;
    announced?.cancel();
    announced = undefined;
    source = undefined;
    owner = undefined;
    registered = undefined;
    deps.activeTools.forget(name);
    await supervisor.stop();
    dropCopies();
  }

  return {
    get found() {
      return found;
    },
    set found(next) {
      found = next;
    },
    prepare(accepted) {
      preparing++;
      const mine = last
        .then(() => prepare(accepted))
        .finally(() => {
          preparing--;
          dropCopies();
          // What came meanwhile.
          const { current } = supervisor;
          if (current && registered !== undefined && textOf(introducedBy(current)) !== registered) announce();
        });
      last = mine.catch(() => {});
      return mine;
    },
    renew() {
      mustRenew = true;
    },
    heard(payload) {
      const { current } = supervisor;
      if (!current || !isFollowing(introducedBy(current), manifestOf(), BUS_EVENT)) return;
      current.peer.event({ event: BUS_EVENT, context: bridge.told({}), payload });
    },
    get wanted() {
      const { current } = supervisor;
      return current ? grantsWantedBy(manifestOf(), introducedBy(current).registrations) : [];
    },
    get needs() {
      return deps.confinement.needs;
    },
    async needed() {
      await deps.confinement.find();
      return deps.confinement.needs;
    },
    get hookGrants() {
      const { current } = supervisor;
      return current ? hookGrantsOf(manifestOf(), introducedBy(current).registrations) : [];
    },
    get isComing() {
      return supervisor.state === 'starting' || supervisor.state === 'restarting';
    },
    get isReady() {
      return supervisor.current !== undefined;
    },
    get info() {
      const { state, reason, current, crashes, restartInMs } = supervisor;
      const { follows } = bridge;
      const leftOut = [...bridge.leftOut, ...(source?.resources.leftOut ?? [])];
      return {
        state,
        ...(reason === undefined ? {} : { reason }),
        ...(current?.process.pid === undefined ? {} : { pid: current.process.pid }),
        ...(restartInMs === undefined ? {} : { restartAt: Math.round(clock.now() + restartInMs) }),
        crashes: crashes.length,
        // Of one that is not loaded, nothing was made.
        ...(registered === undefined || follows.length === 0 ? {} : { follows }),
        ...(registered === undefined || leftOut.length === 0 ? {} : { leftOut }),
        ...sandboxOf(deps.confinement),
        reach: reachOf(manifestOf()),
      };
    },
    logs: (after, limit) => ring.page(after, limit),
    stop,
  };
}

function sandboxOf({ found }: Confinement): Pick<ExtensionRun['info'], 'sandboxed' | 'sandbox'> {
  if (!found) return { sandboxed: false };
  return found.kind === 'none' ? { sandboxed: false, sandbox: found.reason } : { sandboxed: true, sandbox: found.kind };
}

function helloOf({ granted, flags, extension }: Source, { version, workspace: main, isTrusted, people }: RunDeps): Params {
  const { manifest, workspace = main } = extension;
  const hasUi = people !== undefined && isOn('ui', manifest, (grant) => granted.has(grant));
  return {
    protocol_version: PROTOCOL_VERSION,
    host: { name: 'tenon', version },
    workspace: { root: workspace, trusted: isTrusted(workspace) },
    mode: hasUi ? 'web' : 'headless',
    ui_capabilities: hasUi ? uiKinds : [],
    flags,
    capabilities_enabled: Object.fromEntries(groupNames.map((group) => [group, isOn(group, manifest, (grant) => granted.has(grant))])),
  };
}

function readHello(result: unknown): Introduced {
  const read = readResult('initialize', result);
  if (!read.ok) throw new Error(read.message);
  const { taken, leftOut } = readRegistrations(read.value.registrations);
  return { version: read.value.extension.version ?? '', registrations: taken, leftOut };
}

/** Item by item: the last of a name holds, and there are no more of a kind than at first. */
function withMore(before: Introduced, { registrations, leftOut }: Pick<Introduced, 'registrations' | 'leftOut'>): Introduced {
  const merged: Record<string, unknown[]> = {};
  const refused: LeftOut[] = [];
  for (const kind of registrationKeys) {
    const row: { readonly summary: string; readonly key?: string } = rows[kind];
    const keyOf = (item: unknown) => (row.key === undefined ? String(item) : String((item as Record<string, unknown>)[row.key]));
    const items = new Map<string, unknown>((before.registrations[kind] ?? []).map((item) => [keyOf(item), item]));
    for (const item of registrations[kind] ?? []) {
      const key = keyOf(item);
      if (items.has(key) || items.size < limits.registrations.value) items.set(key, item);
      else refused.push({ kind, key, message: `there are ${limits.registrations.value} of these already` });
    }
    if (items.size > 0) merged[kind] = [...items.values()];
  }
  return { ...before, registrations: merged as Registrations, leftOut: [...leftOut, ...refused] };
}

function textOf({ registrations }: Introduced): string {
  return JSON.stringify(registrations);
}

function isFollowing({ registrations }: Introduced, { capabilities = {} }: ExtensionManifest, event: string): boolean {
  const { events = [] } = capabilities;
  return registrations.subscriptions?.includes(event) === true && (events.length === 0 || events.includes(event));
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}
