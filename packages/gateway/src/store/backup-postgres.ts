// Backup and restore for the shared engine: the rows of one moment into a backup file, and back in one transaction.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { syncFolder } from '../kernel/durable-file.ts';
import { faultpoint } from '../kernel/fault.ts';
import { AUDIT_HEAD_FILE } from './audit-head.ts';
import { backupRows } from './backup.ts';
import { StoreOpenError } from './failure.ts';
import { migrationsAfter, numberedTables, storedTables } from './migrations.ts';
import { GATEWAY_LOCK, withOwnClient } from './postgres-connect.ts';
import type { Row, SqlValue } from './sql.ts';

type Progress = (done: { table: string; rows: number }) => void;

/** Rows are bounded in number where they are read and in size where they are sent: one can be as large as an image. */
const PAGE = 200;
const PAGE_BYTES = 8_388_608;

/** The columns by which a table is paged. */
const pagedBy: Readonly<Record<(typeof storedTables)[number], readonly string[]>> = {
  stream: ['id'],
  events: ['seq'],
  sessions: ['ord'],
  entries: ['ord'],
  runs: ['ord'],
  calls: ['ord'],
  approvals: ['ord'],
  approval_rules: ['ord'],
  usage: ['session_key', 'model', 'day'],
  retired_sessions: ['session_id'],
  plugin_state: ['session_key', 'plugin_id', 'namespace'],
  injections: ['ord'],
  plugin_grants: ['plugin_id', 'grant_name'],
  plugin_settings: ['plugin_id'],
  extension_values: ['plugin_id', 'name'],
  extension_use: ['plugin_id'],
  plugin_consents: ['plugin_id'],
  jobs: ['ord'],
  occurrences: ['ord'],
  attachments: ['ord'],
  attachment_garbage: ['sha256'],
  uploads: ['upload_id'],
  session_routes: ['session_key'],
  deliveries: ['ord'],
  action_requests: ['ord'],
  ui_questions: ['ord'],
  answers: ['principal', 'key'],
  tokens: ['id'],
  devices: ['id'],
  pairings: ['request_id'],
  audit: ['seq'],
  audit_chain: ['id'],
};

export async function copyFromPostgres(url: string, database: DatabaseSync, onProgress: Progress): Promise<void> {
  await withOwnClient(url, async (client) => {
    // One snapshot for all tables, while the gateway goes on writing.
    await client.query('begin isolation level repeatable read read only');
    for (const table of tablesIn(database)) {
      let rows = 0;
      for await (const page of pagesOf(client, table)) {
        const columns = Object.keys(page[0] as Row);
        const insert = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`);
        for (const row of page) insert.run(...columns.map((column) => row[column] ?? null));
        rows += page.length;
        onProgress({ table, rows });
      }
    }
    await client.query('commit');
  });
}

/**
 * The way back from a migration: a backup, of the schema that the database still has, which an older Tenon restores.
 * One that an earlier try left is replaced.
 */
export async function copyBeforeMigrating(options: { url: string; home: string; version: number; now: number }): Promise<void> {
  const { url, home, version, now } = options;
  const copy = join(home, `postgres.schema-${version}.db`);
  const draft = `${copy}.new`;
  rmSync(draft, { force: true });
  await backupRows({ home, homeFiles: [AUDIT_HEAD_FILE], file: draft, now }, async (database) => {
    takeBackTo(version, database);
    await copyFromPostgres(url, database, () => {});
  });
  renameSync(draft, copy);
  syncFolder(home);
}

/** Replaces everything that is stored; `keepOld` is called when no gateway can change it any more. */
export async function copyToPostgres(
  url: string,
  database: DatabaseSync,
  onProgress: Progress,
  keepOld: () => Promise<unknown>,
): Promise<void> {
  await withOwnClient(url, async (client) => {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [GATEWAY_LOCK]);
    if (!rows[0]?.taken) throw new StoreOpenError('locked', 'A gateway is running on this PostgreSQL database; stop it first');
    await keepOld();
    await client.query('begin');
    await client.query(`truncate ${storedTables.join(', ')}`);
    for (const table of storedTables) {
      let count = 0;
      let page: string[] = [];
      let bytes = 0;
      const flush = async () => {
        if (page.length === 0) return;
        await client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [`[${page.join(',')}]`]);
        count += page.length;
        page = [];
        bytes = 0;
        onProgress({ table, rows: count });
      };
      for (const row of database.prepare(`select * from ${table}`).iterate()) {
        const text = JSON.stringify(row);
        page.push(text);
        bytes += text.length;
        if (page.length === PAGE || bytes > PAGE_BYTES) await flush();
      }
      await flush();
    }
    for (const table of numberedTables) {
      await client.query(
        `select setval(pg_get_serial_sequence('${table}', 'ord'), (select coalesce(max(ord), 0) + 1 from ${table}), false)`,
      );
    }
    faultpoint('restore.before-commit');
    await client.query('commit');
  });
}

/** An empty store of the given schema in place of one of today's. */
function takeBackTo(version: number, database: DatabaseSync): void {
  // Virtual tables first: the tables behind them go with them.
  const table = database.prepare(
    `select name from sqlite_schema where type = 'table' and name not like 'sqlite!_%' escape '!' order by rootpage limit 1`,
  );
  for (let found = table.get(); found; found = table.get()) database.exec(`drop table "${String(found.name)}"`);
  for (const { statements } of migrationsAfter(0, 'sqlite').slice(0, version)) {
    for (const statement of statements) database.exec(statement);
  }
  for (const name of tablesIn(database)) database.exec(`delete from ${name}`);
  database.exec(`pragma user_version = ${version}`);
}

/** Not all of them where the schema is an older one. */
function tablesIn(database: DatabaseSync): (typeof storedTables)[number][] {
  const names = new Set(
    database
      .prepare(`select name from sqlite_schema where type = 'table'`)
      .all()
      .map(({ name }) => name),
  );
  return storedTables.filter((table) => names.has(table));
}

async function* pagesOf(client: Client, table: (typeof storedTables)[number]): AsyncGenerator<Row[]> {
  const keys = pagedBy[table];
  let after: SqlValue[] | undefined;
  for (;;) {
    const where = after ? `where (${keys.join(', ')}) > (${keys.map((_, index) => `$${index + 1}`).join(', ')})` : '';
    const { rows } = await client.query<Row>(`select * from ${table} ${where} order by ${keys.join(', ')} limit ${PAGE}`, after ?? []);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = keys.map((key) => last[key] ?? null);
  }
}
