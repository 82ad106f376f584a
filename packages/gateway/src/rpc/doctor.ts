// Looks the installation over. Each check is a row; each finding says what is wrong and what to do, and mends it where
// that is safe and asked for.
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, limits } from '@tenon/protocol';
import type { LogBook } from '../kernel/log.ts';
import { COUNTED_UP_TO } from '../store/retention.ts';
import type { Store, StoreReport } from '../store/store.ts';

export interface Doctor {
  run(fix: boolean): Promise<{ ok: boolean; findings: Finding[] }>;
}

export interface DoctorDeps {
  readonly home: string;
  readonly store: Store;
  readonly logBook: LogBook;
  readonly warnings: readonly string[];
  readonly auditChain: () => Promise<{ ok: boolean; checked: number; reason?: string }>;
}

type Check = (deps: DoctorDeps, context: { fix: boolean; report: StoreReport }) => Finding[] | Promise<Finding[]>;

/** Less free space than this and writes may soon be refused. */
const LOW_DISK_BYTES = 256 * 1024 * 1024;
const LARGE_WAL_BYTES = 64 * 1024 * 1024;

const checks: Readonly<Record<string, Check>> = {
  store: ({ store }, { report }) => [
    report.integrity.ok
      ? ok('store', `${store.location} is sound (${store.engine}, schema ${store.schemaVersion}, ${megabytes(report.bytes)})`)
      : {
          check: 'store',
          severity: 'error',
          message: `${store.location} is damaged: ${report.integrity.reason}`,
          remedy: 'Stop the gateway and restore the last backup: tenon restore <backup>',
        },
  ],
  'audit chain': async ({ auditChain }) => {
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
  retention: async ({ store }) => retentionOf(await store.read('tables.count', {})).map((message) => ok('retention', message)),
  'write-ahead log': (_, { report }) => {
    if (report.walBytes === undefined) return [];
    if (report.walBytes <= LARGE_WAL_BYTES)
      return [ok('write-ahead log', `${megabytes(report.walBytes)}, bound ${megabytes(LARGE_WAL_BYTES)}`)];
    return [
      {
        check: 'write-ahead log',
        severity: 'warning',
        message: `The write-ahead log has ${megabytes(report.walBytes)}`,
        remedy: 'A long read keeps it from being folded in; restart the gateway if it stays',
      },
    ];
  },
  disk: (_, { report }) => {
    if (report.freeBytes === undefined) return [];
    if (report.freeBytes > LOW_DISK_BYTES) return [ok('disk', `${megabytes(report.freeBytes)} free`)];
    return [
      {
        check: 'disk',
        severity: 'warning',
        message: `Only ${megabytes(report.freeBytes)} free`,
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
  permissions: ({ home }, { fix }) => privateFiles(home).flatMap((path) => checkMode(path, fix)),
  exposure: ({ warnings }) =>
    warnings.map((message) => ({ check: 'exposure', severity: 'warning' as const, message, remedy: 'See SECURITY.md' })),
};

export function createDoctor(deps: DoctorDeps): Doctor {
  return {
    async run(fix) {
      const report = await deps.store.inspect();
      const findings: Finding[] = [];
      for (const [name, check] of Object.entries(checks)) {
        try {
          findings.push(...(await check(deps, { fix, report })));
        } catch (error) {
          findings.push({ check: name, severity: 'error', message: `The check itself failed: ${(error as Error).message}` });
        }
      }
      return { ok: findings.every((finding) => finding.severity !== 'error' || finding.fixed === true), findings };
    },
  };
}

function ok(check: string, message: string): Finding {
  return { check, severity: 'ok', message };
}

/** Every table with its bound: nothing grows without one. */
function retentionOf(tables: Readonly<Record<string, number>>): string[] {
  const hours = (ms: number) => `${ms / 3_600_000} h`;
  const bounds: Record<string, string> = {
    stream: 'one row',
    events: `the last ${limits.eventRetentionCount.value} of the last ${hours(limits.eventRetentionMs.value)}`,
    sessions: 'until deleted',
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
  return [home, ...['token', 'home.key', 'tenon.toml', 'tenon.db', 'audit-head.json', 'logs'].map((name) => join(home, name))].filter(
    existsSync,
  );
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
