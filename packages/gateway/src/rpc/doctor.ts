// Looks the installation over. Each check is a row; each finding says what is wrong and what to do, and mends it where
// that is safe and asked for.
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type Finding, limits, visible } from '@tenon/protocol';
import { limits as sepLimits } from '@tenon/protocol/sep/wire';
import { homeFiles, keptCopies, LOG_FOLDER, weaknessesOf } from '../home.ts';
import type { PluginHost } from '../host/plugin-host.ts';
import type { LogBook } from '../kernel/log.ts';
import type { Weakness } from '../kernel/others.ts';
import { COUNTED_UP_TO } from '../store/retention.ts';
import { findingsOfFiles } from './doctor-files.ts';
import { WAL_BOUND_BYTES } from '../store/sqlite-file.ts';
import type { Store, StoreReport } from '../store/store.ts';

export interface Doctor {
  run(fix: boolean): Promise<{ ok: boolean; findings: Finding[] }>;
}

/** As much of a store as is asked here: it may be open for reading only. */
export type DoctorStore = Pick<Store, 'engine' | 'location' | 'schemaVersion' | 'read' | 'inspect'>;

export interface DoctorDeps {
  readonly home: string;
  /** Where the files of attachments are, if not there. */
  readonly filesHome?: string;
  /** Without one, the checks that need it are left out. */
  readonly store?: DoctorStore;
  /** What was found on the way to the store. */
  readonly storeFindings?: readonly Finding[];
  readonly logBook: Pick<LogBook, 'file' | 'bound' | 'lost'>;
  readonly warnings: readonly string[];
  readonly auditChain: () => Promise<{ ok: boolean; checked: number; reason?: string }>;
  /** Only in a gateway that runs. */
  readonly plugins?: () => Pick<PluginHost, 'list' | 'check' | 'missingGuards'>;
}

type Findings = Finding[] | Promise<Finding[]>;
type StoreCheck = (store: DoctorStore, report: StoreReport, deps: DoctorDeps) => Findings;
type HomeCheck = (deps: DoctorDeps, fix: boolean) => Findings;

/** Less free space than this and writes may soon be refused. */
const LOW_DISK_BYTES = 256 * 1024 * 1024;
/** The `journal_size_limit` of store/sqlite-file.ts: what a checkpoint leaves of the log. */

const storeChecks: Readonly<Record<string, StoreCheck>> = {
  store: (store, report) => [
    report.integrity.ok
      ? ok('store', `${store.location} is sound (${store.engine}, schema ${store.schemaVersion}, ${megabytes(report.bytes)})`)
      : {
          check: 'store',
          severity: 'error',
          message: `${store.location} is damaged: ${report.integrity.reason}`,
          remedy: 'Stop the gateway and restore the last backup: tenon restore <backup>',
        },
  ],
  'audit chain': async (_store, _report, { auditChain }) => {
    const chain = await auditChain();
    return [
      chain.ok
        ? ok('audit chain', `${chain.checked} records are whole and end where the head kept apart says`)
        : {
            check: 'audit chain',
            severity: 'error',
            message: `The audit log was tampered with or lost records: ${chain.reason}`,
            remedy: 'Keep a copy of the home folder for an investigation, then restore a backup from before',
          },
    ];
  },
  attachments: (store, _report, { home, filesHome = home }) => findingsOfFiles(store, filesHome, Date.now()),
  deliveries: async (store) => {
    const { troubled } = await store.read('deliveries.troubled', {});
    if (troubled.length === 0) return [ok('deliveries', 'none is in trouble')];
    const words = (state: string, isEdit = false) => {
      if (isEdit) return state === 'failed' ? 'were sent, and could not be changed' : 'were sent, and wait to be changed';
      return state === 'failed' ? 'could not be sent' : 'wait to be sent again';
    };
    return troubled.map(({ channel, state, count, reason, isEdit }) => ({
      check: 'deliveries',
      severity: 'warning' as const,
      message: visible(`${count} ${words(state, isEdit)} over ${channel}: ${reason}`),
      remedy: 'tenon call deliveries.list shows each; look at the plugin that serves the channel',
    }));
  },
  retention: async (store) => retentionOf(await store.read('tables.count', {})).map((message) => ok('retention', message)),
  'write-ahead log': (_, report) => {
    if (report.walBytes === undefined) return [];
    if (report.walBytes <= WAL_BOUND_BYTES)
      return [ok('write-ahead log', `${megabytes(report.walBytes)}, bound ${megabytes(WAL_BOUND_BYTES)}`)];
    return [
      {
        check: 'write-ahead log',
        severity: 'warning',
        message: `The write-ahead log has ${megabytes(report.walBytes)}, more than its bound of ${megabytes(WAL_BOUND_BYTES)}`,
        remedy: 'A long read keeps it from being folded in; restart the gateway if it stays',
      },
    ];
  },
};

const homeChecks: Readonly<Record<string, HomeCheck>> = {
  disk: async ({ home }) => {
    const { bavail, bsize } = await statfs(home);
    const free = bavail * bsize;
    if (free > LOW_DISK_BYTES) return [ok('disk', `${megabytes(free)} free`)];
    return [
      {
        check: 'disk',
        severity: 'warning',
        message: `Only ${megabytes(free)} free`,
        remedy: 'Free some space; reads go on, writes will be refused',
      },
    ];
  },
  logs: ({ logBook }) => [
    logBook.lost === 0
      ? ok('logs', `${logBook.file}, kept: ${logBook.bound.files + 1} files of ${megabytes(logBook.bound.maxBytes)}`)
      : {
          check: 'logs',
          severity: 'warning',
          message: `${logBook.lost} log records could not be written`,
          remedy: `Look at the disk of ${logBook.file}`,
        },
  ],
  'kept copies': ({ home }) => {
    const copies = keptCopies(home);
    if (copies.length === 0) return [ok('kept copies', 'none')];
    const bytes = copies.reduce((sum, path) => sum + bytesOf(path), 0);
    return [
      {
        check: 'kept copies',
        severity: 'info',
        message: `${copies.length} of the store from before an update, a restore or a salvage, ${megabytes(bytes)} in ${home}`,
        remedy: 'Remove what you no longer need',
      },
    ];
  },
  plugins: async ({ plugins }) => (plugins ? pluginFindings(plugins()) : []),
  permissions: ({ home }, fix) => [
    ...weaknessesOf(home).map((weakness) => weaknessFinding(weakness, fix)),
    ...privateFiles(home).flatMap((path) => checkMode(path, fix)),
  ],
  exposure: ({ warnings }) =>
    warnings.map((message) => ({ check: 'exposure', severity: 'warning' as const, message, remedy: 'See SECURITY.md' })),
};

export function createDoctor(deps: DoctorDeps): Doctor {
  return {
    async run(fix) {
      const { store } = deps;
      const findings: Finding[] = [...(deps.storeFindings ?? [])];
      const take = async (name: string, check: () => Findings) => {
        try {
          findings.push(...(await check()));
        } catch (error) {
          findings.push({ check: name, severity: 'error', message: `The check itself failed: ${(error as Error).message}` });
        }
      };
      if (store) {
        await take('store', async () => {
          const report = await store.inspect();
          for (const [name, check] of Object.entries(storeChecks)) await take(name, () => check(store, report, deps));
          return [];
        });
      }
      for (const [name, check] of Object.entries(homeChecks)) await take(name, () => check(deps, fix));
      return { ok: findings.every((finding) => finding.severity !== 'error' || finding.fixed === true), findings };
    },
  };
}

function ok(check: string, message: string): Finding {
  return { check, severity: 'ok', message };
}

const incidentWords = { threw: 'threw', rejected: 'left a promise rejected', blocked: 'blocked the gateway' } as const;

/** What keeps plugins from doing what people think they do: nothing that was refused stays unseen. */
export async function pluginFindings(host: Pick<PluginHost, 'list' | 'check' | 'missingGuards'>): Promise<Finding[]> {
  const all = host.list();
  const warning = (message: string, remedy: string): Finding => ({ check: 'plugins', severity: 'warning', message, remedy });
  const findings = all.flatMap(({ id, state, reason, enabled, missing = [], registrations, switchedOff, incidents, services, process }) => {
    const look = `tenon plugin inspect ${id}`;
    return [
      ...(state === 'failed' || state === 'rejected' || (state === 'changed' && enabled)
        ? [
            warning(
              `Plugin ${id} is not loaded: ${reason ?? state}`,
              state === 'changed' ? `Look at its files, then: tenon plugin enable ${id}` : look,
            ),
          ]
        : []),
      ...(state === 'ungranted'
        ? [warning(`Extension ${id} does not run: its hooks need what you have not granted`, `tenon ext grant ${id} ${missing.join(' ')}`)]
        : []),
      ...(state === 'loaded' && (process?.state === 'quarantined' || process?.state === 'failed')
        ? [
            warning(
              `Extension ${id} is down: ${process.reason ?? process.state}`,
              `tenon ext reload ${id}, and what it said: tenon ext logs ${id}`,
            ),
          ]
        : []),
      ...(state === 'loaded' && process?.sandbox !== undefined && !process.sandboxed
        ? [
            warning(
              `Extension ${id} runs unconfined, with your rights: ${process.sandbox}`,
              `Have a sandbox work here, or switch it off: tenon plugin disable ${id}`,
            ),
          ]
        : []),
      ...registrations.flatMap(({ kind, key, accepted, code, message }) =>
        accepted ? [] : [warning(`Plugin ${id}: ${kind} ${key} was not taken (${code}): ${message}`, look)],
      ),
      ...switchedOff.map(({ place, reason: why }) =>
        warning(`Plugin ${id}: ${place} is switched off: ${why}`, `tenon plugin reload ${id}`),
      ),
      ...incidents.map(({ kind, place, count, message }) =>
        warning(`Plugin ${id} ${incidentWords[kind]} ${place}${count === 1 ? '' : ` (${count} times)`}: ${message}`, look),
      ),
      ...services.flatMap((service) =>
        service.state === 'failed' ? [warning(`Plugin ${id}: the service ${service.id} failed: ${service.reason ?? ''}`, look)] : [],
      ),
    ];
  });
  for (const { plugin, reason } of host.missingGuards) {
    const remedy = `tenon plugin inspect ${plugin}, or switch it off: tenon plugin disable ${plugin}`;
    findings.push({ check: 'plugins', severity: 'error', message: `What plugin ${plugin} guards is refused: ${reason}`, remedy });
  }
  for (const { plugin, id, ok: isWell, message } of await host.check()) {
    if (!isWell) findings.push(warning(`Plugin ${plugin}: ${id}: ${message}`, `tenon plugin inspect ${plugin}`));
  }
  const loaded = all.filter(({ state }) => state === 'loaded').length;
  return findings.length > 0 ? findings : [ok('plugins', `${loaded} of ${all.length} loaded`)];
}

/** Every table with its bound: nothing grows without one. */
function retentionOf(tables: Readonly<Record<string, number>>): string[] {
  const hours = (ms: number) => `${ms / 3_600_000} h`;
  const bounds: Record<string, string> = {
    stream: 'one row',
    events: `the last ${limits.eventRetentionCount.value} of the last ${hours(limits.eventRetentionMs.value)}`,
    sessions: 'until deleted',
    entries: `with their session, those of a reset for ${hours(limits.transcriptRetentionMs.value)}`,
    runs: `${limits.queuedRuns.value} that wait per session, ended ones for ${hours(limits.runRetentionMs.value)}`,
    calls: 'while their run runs',
    approvals: `until answered or expired, then for ${hours(limits.approvalRetentionMs.value)}`,
    approval_rules: 'until taken back',
    usage: `one row per session, model and day, for ${hours(limits.usageRetentionMs.value)}`,
    jobs: `until somebody removes them, finished ones for ${hours(limits.occurrenceRetentionMs.value)}`,
    occurrences: hours(limits.occurrenceRetentionMs.value),
    attachments: 'with their session, unused ones and all in all as the settings `attachments.*` say',
    attachment_garbage: 'until their files are removed',
    uploads: `${limits.openUploads.value}, ${hours(limits.uploadTtlMs.value)} each`,
    session_routes: 'with their session',
    deliveries: `${limits.deliveriesWaiting.value} that wait, settled ones for ${hours(limits.approvalRetentionMs.value)}`,
    action_requests: `${limits.pendingActions.value} per plugin and session, until somebody acts`,
    ui_questions: `${limits.uiPending.value} that wait per session, settled ones for ${hours(limits.approvalRetentionMs.value)}`,
    retired_sessions: hours(limits.transcriptRetentionMs.value),
    plugin_state: `with their session, ${limits.pluginStateTotalBytes.value} bytes per plugin in each`,
    injections: `${limits.pluginInjections.value} that wait per session and plugin, told ones with their run`,
    plugin_grants: `${limits.pluginGrants.value} per plugin, until revoked`,
    plugin_settings: 'one row per plugin, until it is removed',
    plugin_consents: 'one row per plugin, until it is removed',
    extension_values: `${sepLimits.kvKeys.value} keys and ${sepLimits.kvTotalBytes.value} bytes per extension, until it is removed`,
    extension_use: 'one row per extension, until it is removed',
    answers: hours(limits.answerRetentionMs.value),
    tokens: `${limits.maxTokens.value} live ones, ended ones for ${hours(limits.credentialRetentionMs.value)}`,
    devices: `${limits.maxDevices.value} paired ones, revoked ones for ${hours(limits.credentialRetentionMs.value)}`,
    pairings: `${limits.pendingPairings.value}, ${limits.pairingTtlMs.value / 60_000} min each`,
    audit: `the last ${limits.auditRetentionCount.value}`,
    audit_chain: 'one row',
  };
  return Object.entries(tables).map(
    ([table, rows]) =>
      `${table}: ${rows > COUNTED_UP_TO ? `more than ${COUNTED_UP_TO}` : rows} rows, kept: ${bounds[table] ?? 'no bound is stated'}`,
  );
}

function privateFiles(home: string): string[] {
  const named = homeFiles.filter((file) => file.private).map(({ name }) => join(home, name));
  const logs = join(home, LOG_FOLDER);
  const logFiles = existsSync(logs) ? readdirSync(logs).map((name) => join(logs, name)) : [];
  return [home, ...named, ...logFiles, ...keptCopies(home)].filter(existsSync);
}

function bytesOf(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  const inside = readdirSync(path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return inside.reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0);
}

/** Worse than what others can read: what they can change. */
export function weaknessFinding({ path, fault, remedy, mode }: Weakness, fix: boolean): Finding {
  const message = `${path} ${fault}: others could change how Tenon runs`;
  if (mode === undefined) return { check: 'permissions', severity: 'error', message, remedy };
  if (fix) chmodSync(path, mode);
  return { check: 'permissions', severity: 'error', message, remedy: `${remedy}, or tenon doctor --fix`, fixable: true, fixed: fix };
}

function checkMode(path: string, fix: boolean): Finding[] {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  const wanted = statSync(path).isDirectory() ? 0o700 : 0o600;
  if (fix) chmodSync(path, wanted);
  return [
    {
      check: 'permissions',
      severity: 'warning',
      message: `${path} can be read by others (mode ${mode.toString(8)})`,
      remedy: `chmod ${wanted.toString(8)} ${path}, or tenon doctor --fix`,
      fixable: true,
      ...(fix ? { fixed: true } : {}),
    },
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}
