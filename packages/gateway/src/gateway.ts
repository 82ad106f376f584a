// The composition root: builds every part, and closes them in reverse. The only file that knows all of them.
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_CHANNEL, expandScopes, limits, type Settings } from '@tenon/protocol';
import { openAgents, type AgentParts } from './agent/open-agents.ts';
import { type Config, givenSettings } from './config.ts';
import {
  BLOCKED_FILE,
  closeHome,
  HOME_KEY_FILE,
  HomeError,
  LOG_FOLDER,
  openHomeSecrets,
  prepareHome,
  renewToken,
  RUNNING_FILE,
} from './home.ts';
import type { HookRegistry } from './host/hook-registry.ts';
import { openPlugins } from './host/open-plugins.ts';
import type { PluginHost } from './host/plugin-host.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { writeFileDurably } from './kernel/durable-file.ts';
import { fileId, isSame } from './kernel/file-id.ts';
import { isFullDisk } from './kernel/full-disk.ts';
import { randomId } from './kernel/ids.ts';
import { openLogBook } from './kernel/log.ts';
import { createMetrics } from './kernel/metrics.ts';
import { identify } from './kernel/process-identity.ts';
import { readSecretFile } from './kernel/secret-files.ts';
import { isLoopback } from './net/address.ts';
import { createAuthenticator } from './net/auth.ts';
import { createPageFiles } from './net/page-files.ts';
import { type NetServer, openNetServer } from './net/server.ts';
import { createConfigService } from './rpc/config-service.ts';
import { createConnections } from './rpc/connections.ts';
import { createDispatch } from './rpc/dispatch.ts';
import { accountWarnings } from './rpc/account-warnings.ts';
import { createDoctor } from './rpc/doctor.ts';
import { createEventHub, type EventHub } from './rpc/events.ts';
import type { Services } from './rpc/handler.ts';
import { handlers } from './rpc/handlers.ts';
import { createHealthBoard } from './rpc/health.ts';
import { createIncidents } from './rpc/incidents.ts';
import { tellClients } from './rpc/plugin-events.ts';
import { createSignIn } from './rpc/signin.ts';
import { createTokenMint, digestOf } from './rpc/token-mint.ts';
import { registerGauges, startUpkeep } from './rpc/upkeep.ts';
import { initialiseAuditHead, openAuditKeeper } from './store/audit-head.ts';
import { traceOfStore } from './store/earlier-store.ts';
import { StoreOpenError } from './store/failure.ts';
import { lockHome } from './store/lock.ts';
import { openAttachmentFiles } from './store/attachment-files.ts';
import { openStore } from './store/open.ts';
import type { StoredEvent } from './store/stream.ts';
import { openStreamKeeper } from './store/stream-head.ts';

export interface GatewayOptions {
  readonly config: Config;
  readonly version: string;
  /** In place of the one of the token file. */
  readonly token?: string;
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes part in hooks from the start on. */
  readonly register?: (hooks: HookRegistry) => void;
  /** The process is the gateway's own: what plugins throw where nobody waits does not end it. */
  readonly ownProcess?: boolean;
}

export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  readonly tokenFile: string;
  /** The address of the page with a code that signs one browser in, once. */
  readonly signInUrl: string;
  readonly warnings: readonly string[];
  /** Drains within the budget, then closes; a second call does not wait any longer. */
  stop(reason: string): Promise<void>;
  /** Resolves when it has stopped: with a reason if it could not go on, with nothing if it was told to. */
  readonly stopped: Promise<StartError | undefined>;
}

/** The gateway cannot start. The message is one line that says what to do. */
export class StartError extends Error {
  readonly exitCode: number;
  /** As errors of the gateway have one, where one fits. */
  readonly code: string | undefined;

  constructor(message: string, exitCode: number, cause?: unknown, code?: string) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** For closing everything once draining is over. */
const CLOSE_WITHIN_MS = limits.closeGraceMs.value + 1_000;

export async function startGateway({
  config,
  version,
  token,
  clock = systemClock,
  env = process.env,
  register,
  ownProcess = false,
}: GatewayOptions): Promise<RunningGateway> {
  const { home, settings } = config;
  const exposure = checkExposure(settings);
  const warnings = [...exposure, ...accountWarnings()];
  const closers: (() => unknown)[] = [];
  const closing = <Part>(part: Part, close: (part: Part) => unknown): Part => {
    closers.unshift(() => close(part));
    return part;
  };

  try {
    prepareHome(home);
    warnings.push(...closeHome(home));
    const lock = closing(lockHome(home), (held) => held.release());
    // Only where nobody has been: in a home that is in use, a missing head is one that somebody removed.
    if (!existsSync(join(home, HOME_KEY_FILE))) initialiseAuditHead(home);
    const secrets = openHomeSecrets(home);
    const logBook = closing(
      openLogBook({
        folder: join(home, LOG_FOLDER),
        level: settings['log.level'],
        maxBytes: settings['log.maxBytes'],
        files: settings['log.files'],
      }),
      (book) => book.close(),
    );
    const { log } = logBook;
    const metrics = createMetrics();
    const startedAt = clock.now();
    const bootId = randomId();

    const auditKeeper = closing(
      openAuditKeeper(home, clock, (error) => log.error({ error }, 'cannot keep the head of the audit log')),
      (keeper) => keeper.close(),
    );
    const streamKeeper = closing(
      openStreamKeeper(home, clock, (error) => log.error({ error }, 'cannot keep the head of the event stream')),
      (keeper) => keeper.close(),
    );
    const health = createHealthBoard({
      clock,
      startedAt: clock.monotonic(),
      onChange: (snapshot) => {
        log.warn({ health: snapshot }, 'health has changed');
        events?.publish('health', snapshot, stateVersion());
      },
    });
    /** Why this gateway cannot go on, and what ends it once it has started. */
    let overBecause: string | undefined;
    let giveUpNow: (() => void) | undefined;
    function giveUp(reason: string): void {
      overBecause = reason;
      log.fatal(reason);
      giveUpNow?.();
    }
    let events: EventHub | undefined;
    let agents: AgentParts | undefined;
    let plugins: PluginHost | undefined;
    const early: StoredEvent[] = [];
    const trace = traceOfStore(home);
    const store = closing(
      await openStore(
        {
          home,
          engine: settings['store.engine'],
          url: settings['store.url'],
          maxBytes: settings['store.maxBytes'],
          now: startedAt,
          lockId: lock.id,
          ...(trace === undefined ? {} : { trace }),
        },
        {
          events: (batch) => {
            streamKeeper.moved(batch.at(-1)?.seq ?? 0);
            if (events) events.committed(batch);
            else early.push(...batch);
            agents?.committed(batch);
            plugins?.committed(batch);
          },
          auditHead: (head) => auditKeeper.moved(head),
          health: (state) => {
            health.set('store', state.ok ? undefined : state.reason);
            if (!state.ok && state.isOver) giveUp(state.reason);
          },
        },
      ),
      (opened) => opened.close(),
    );
    streamKeeper.begin(store.stream);
    if (!(await auditKeeper.begin(store))) warnings.push('The audit log is not the one that was left here: see tenon doctor');
    events = closing(
      createEventHub({
        stream: store.stream,
        readStream: (after, limit) => store.read('stream.read', { after, limit }),
        clock,
        log,
        metrics,
      }),
      (hub) => hub.close(),
    );
    const hub = events;
    hub.committed(early);
    const connections = createConnections({ clock, announce: (presence) => hub.publish('presence', { presence }, stateVersion()) });
    const stateVersion = () => ({ presence: connections.version, health: health.version });
    const incidents = closing(createIncidents({ clock, log, metrics, append: (entry) => store.write('audit.append', entry) }), (opened) =>
      opened.close(),
    );
    const auditChain = () => auditKeeper.verify(store);
    const files = closing(
      openAttachmentFiles({
        home,
        store,
        clock,
        log,
        quotas: { sessionBytes: settings['attachments.maxSessionBytes'], totalBytes: settings['attachments.maxBytes'] },
        unusedMs: settings['attachments.unusedMs'],
      }),
      (opened) => opened.close(),
    );
    await files.sweep();
    const configService = createConfigService(config, (changed) => logBook.setLevel(changed['log.level']));

    let sharedToken = token ?? secrets.token;
    await takeSharedToken(sharedToken);
    async function takeSharedToken(secret: string): Promise<void> {
      sharedToken = secret;
      const outcome = await store.write('tokens.putShared', { digest: digestOf(secret), scopes: ['operator.admin'], at: startedAt });
      if (outcome === 'taken') return;
      if (token !== undefined) throw new StartError('The given token was revoked; choose another', 1);
      await takeSharedToken(renewToken(home));
    }

    let net: NetServer | undefined;
    agents = closing(
      openAgents({
        home,
        settings,
        configFile: config.file,
        version,
        startedAt,
        env,
        store,
        files,
        clock,
        log,
        metrics,
        publish: (said) => hub.publish('agent', said),
        traced: (more) => hub.publish('hooks.traced', more),
        people: {
          isWatched: (key) => hub.isHeard('ui.requested', key, { capability: 'ui', scope: 'operator.write' }),
          shown: (shown) => hub.publish('ui.shown', shown),
          notified: (notice) => hub.publish('ui.notified', notice),
        },
        secrets: () => [sharedToken],
        gatewayUrl: () => net?.url ?? '',
        gatewayPort: () => net?.port,
        health: () => health.snapshot().problems?.map(({ part, reason }) => `${part}: ${reason}`) ?? [],
      }),
      (opened) => opened.close(),
    );
    await agents.ui.resume();
    register?.(agents.hookRegistry);
    const parts = agents;
    plugins = closing(
      await openPlugins({
        ...parts.forPlugins,
        guard: ownProcess,
        watch: { blockedAfterMs: settings['plugins.blockedAfterMs'], logFile: logBook.file, markFile: join(home, BLOCKED_FILE) },
        home,
        files,
        sendRoots: settings['attachments.roots'],
        onAtFirst: [DEFAULT_CHANNEL],
        paths: settings['plugins.paths'],
        extensions: {
          version,
          env,
          node: process.execPath,
          spawn,
          random: Math.random,
          workspaces: agents.agents.list().map(({ workspace }) => workspace),
          trustedWorkspaces: settings['extensions.trustedWorkspaces'],
          sandbox: settings['extensions.sandbox'],
        },
        bundledFolder: bundledPlugins(),
        readSecret: (name) => readSecretFile(home, env, name),
        safe: settings['plugins.safe'],
        store,
        clock,
        log,
        metrics,
        publish: tellClients(hub, parts.said),
      }),
      (opened) => opened.close(),
    );
    const host = plugins;
    parts.usePlugins(host);
    const { turns } = agents;
    const mint = createTokenMint(secrets.key);
    const signIn = createSignIn({ clock, gatewayUrl: () => net?.url ?? '' });
    const services: Services = {
      ...agents,
      store,
      files,
      clock,
      log,
      logBook,
      health,
      connections,
      events: hub,
      config: configService,
      doctor: createDoctor({ home, store, logBook, warnings, auditChain, plugins: () => host }),
      mint,
      signIn,
      about: { version, startedAt, url: () => net?.url ?? '', warnings, auditChain },
      shutdown: (reason) => void stop(reason),
      plugins: () => host,
    };

    let draining = false;
    net = closing(
      await openNetServer(
        {
          bind: settings['gateway.bind'],
          port: settings['gateway.port'],
          allowedHosts: settings['gateway.allowedHosts'],
          allowedOrigins: settings['gateway.allowedOrigins'],
          trustedProxies: settings['gateway.trustedProxies'],
        },
        {
          auth: createAuthenticator({ mode: settings['gateway.auth'], store, clock, log, incidents }),
          clock,
          log,
          metrics,
          incidents,
          dispatch: createDispatch(handlers, services, metrics),
          events: hub,
          connections,
          health,
          ready: () => (draining ? { ok: false, reason: 'stopping' } : { ok: health.ok, ...(health.ok ? {} : { reason: 'see health' }) }),
          version,
          // Anybody who reaches the page reads these: how open it is, and nothing else of this machine.
          warnings: exposure,
          bootId,
          store,
          files,
          mint,
          signIn,
          page: createPageFiles(join(import.meta.dirname, 'page'), (error) => log.error({ error }, 'cannot read the files of the page')),
          turns,
          agents: agents.agents,
          models: agents.models,
          composer: agents.composer,
          ui: agents.ui,
          plugins: () => host,
          extensions: () => host,
        },
      ),
      (opened) => opened.close(),
    );
    const running = net;

    closing(startUpkeep({ home, store, clock, log, health, connections, events: hub }), (upkeep) => upkeep.stop());
    await agents.heartbeat.resume();
    await turns.resume();
    await agents.wake.resume();
    const { scheduler } = agents;
    scheduler.start();
    agents.heartbeat.start();
    agents.hooks.run('gateway_start', { port: running.port });
    registerGauges(metrics, { store, clock, health, connections, events: hub, startedAt });

    const runningFile = join(home, RUNNING_FILE);
    const stopped = Promise.withResolvers<StartError | undefined>();
    let stopping: Promise<void> | undefined;
    let hurry: (() => void) | undefined;

    function stop(reason: string): Promise<void> {
      hurry?.();
      stopping ??= drainAndClose(reason).then(
        () => stopped.resolve(overBecause === undefined ? undefined : new StartError(overBecause, 3)),
        stopped.reject,
      );
      return stopping;
    }
    // Nothing that is under way can be written, and the gateway that took over goes on with it: there is nothing to drain.
    giveUpNow = () => {
      void stop('another gateway has taken over');
      hurry?.();
    };

    /** Ends within the budget and a second, whatever hangs: what is not closed then, the end of the process closes. */
    async function drainAndClose(reason: string): Promise<void> {
      draining = true;
      log.info({ reason }, 'stopping: draining');
      hub.publish('shutdown', { reason });
      agents?.heartbeat.stop();
      agents?.hooks.run('gateway_stop', { reason });
      const spent = Promise.withResolvers<void>();
      hurry = spent.resolve;
      const budget = clock.after(configService.settings['gateway.shutdownBudgetMs'], spent.resolve);
      // Also lets the answer of `gateway.shutdown` itself leave.
      const budgetMs = configService.settings['gateway.shutdownBudgetMs'];
      await Promise.race([
        Promise.all([scheduler.stop(), turns.park(budgetMs / 2), running.drain()]).then(
          () => new Promise((resolve) => setImmediate(resolve)),
        ),
        spent.promise,
      ]);
      const stopRecord = { actor: 'gateway', action: 'gateway.stop', target: 'gateway', details: { reason }, at: clock.now() };
      await Promise.race([store.write('audit.append', stopRecord).catch(() => {}), spent.promise]);
      budget.cancel();
      connections.closeAll(1012, 'service restart');
      log.info('stopping: closing');
      if (isSame(fileId(runningFile), runningId)) rmSync(runningFile, { force: true });
      const overdue = Promise.withResolvers<'overdue'>();
      const last = clock.after(CLOSE_WITHIN_MS, () => overdue.resolve('overdue'));
      for (const close of closers) {
        if ((await Promise.race([close(), overdue.promise])) === 'overdue') break;
      }
      last.cancel();
    }

    function signInUrl(): string {
      const scopes = ['operator.admin'] as const;
      return signIn.url(signIn.create({ scopes, by: 'gateway', held: expandScopes(scopes) }).id) ?? running.url;
    }

    const { given, secrets: givenSecrets } = givenSettings(config);
    const note = {
      url: running.url,
      port: running.port,
      ...identify(process.pid),
      tokenFile: secrets.tokenFile,
      startedAt,
      engine: store.engine,
      store: store.location,
      given,
      givenSecrets: [...givenSecrets, ...(token === undefined ? [] : ['token'])],
    };
    writeFileDurably(runningFile, `${JSON.stringify(note)}\n`);
    const runningId = fileId(runningFile);
    for (const warning of warnings) log.warn(warning);
    log.info({ url: running.url, version, store: store.location }, 'ready');
    store
      .write('audit.append', { actor: 'gateway', action: 'gateway.start', target: 'gateway', details: { version }, at: startedAt })
      .catch((error: unknown) => log.error({ error }, 'cannot write an audit record'));
    if (overBecause !== undefined) giveUpNow();
    return {
      url: running.url,
      port: running.port,
      tokenFile: secrets.tokenFile,
      signInUrl: signInUrl(),
      warnings,
      stop,
      stopped: stopped.promise,
    };
  } catch (error) {
    for (const close of closers) await Promise.resolve(close()).catch(() => {});
    throw toStartError(error, config);
  }
}

/** Beside the program where it is built; those of the repository where it runs from source. */
function bundledPlugins(): string | undefined {
  const isSource = import.meta.filename.endsWith('.ts');
  const folder = isSource ? join(import.meta.dirname, '..', '..', '..', 'plugins') : join(import.meta.dirname, 'plugins');
  return existsSync(folder) ? folder : undefined;
}

/** Refuses what would hand the machine to the network, and names what is less safe than the default. */
function checkExposure(settings: Settings): string[] {
  const bind = settings['gateway.bind'];
  const warnings: string[] = [];
  if (!isLoopback(bind)) {
    if (settings['gateway.auth'] === 'none')
      throw new StartError(`gateway.auth "none" is for loopback only, not for ${bind}; use auth "token"`, 2);
    if (!settings['gateway.insecure']) {
      throw new StartError(
        `gateway.bind ${bind} would send tokens over plain http; bind to 127.0.0.1 behind a TLS proxy, or allow it with --insecure`,
        2,
      );
    }
    warnings.push(`Listening on ${bind} over plain http: tokens can be read on the way`);
  }
  if (settings['gateway.auth'] === 'none') warnings.push('Authentication is off: everybody on this machine is admin');
  return warnings;
}

export function toStartError(error: unknown, config: Config): StartError {
  if (error instanceof StartError) return error;
  if (isFullDisk(error, config.home)) {
    const message = `The disk that holds ${config.home} is full, or your quota on it is used up; free some space there (a few megabytes are enough) or choose another folder with --home`;
    return new StartError(message, 1, error, 'STORAGE');
  }
  if (error instanceof StoreOpenError) return new StartError(error.message, error.reason === 'locked' ? 3 : 1, error);
  if (error instanceof HomeError) return new StartError(`${error.message}; ${error.hint}`, 1, error);
  const { code, message } = error as { code?: string; message: string };
  const port = config.settings['gateway.port'];
  const bind = config.settings['gateway.bind'];
  if (code === 'EADDRINUSE')
    return new StartError(`Port ${port} on ${bind} is in use by another program; choose another with --port`, 1, error);
  if (code === 'EADDRNOTAVAIL') return new StartError(`gateway.bind ${bind} is not an address of this machine`, 1, error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR')
    return new StartError(`Cannot use ${config.home}: ${message}`, 1, error);
  return new StartError(`Cannot start: ${message}`, 1, error);
}
