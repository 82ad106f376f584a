// A store with many sessions, in seconds: made by a gateway, then filled by one statement. The rows are what
// `sessions.create` would have written. Whatever keeps an index up to date row by row is taken away and put back: to build
// it at the end is far faster.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { startGatewayProcess } from '../test/support/gateway.ts';

/** Every session has it in its title. */
export const COMMON_WORD = 'session';
/** One session of a thousand has it. */
export const RARE_WORD = 'topic007';

/** From 0. */
export const sessionKey = (number: number | string) => `agent:main:b${number}`;

/** Makes the home, and says where its store is. */
export async function fillHome(home: string, sessions: number): Promise<string> {
  const gateway = await startGatewayProcess({ home });
  await gateway.stop();
  const file = globSync('*.db', { cwd: home })[0];
  if (file === undefined) throw new Error(`the gateway has made no store in ${home}`);
  const database = new DatabaseSync(join(home, file));
  try {
    fill(database, sessions);
  } finally {
    database.close();
  }
  return join(home, file);
}

function fill(database: DatabaseSync, sessions: number): void {
  const upkeep = database
    .prepare(`select type, name, sql from sqlite_master where tbl_name = 'sessions' and type in ('index', 'trigger') and sql is not null`)
    .all() as { type: string; name: string; sql: string }[];
  database.exec('pragma synchronous = off; pragma cache_size = -262144; begin');
  for (const { type, name } of upkeep) database.exec(`drop ${type} ${name}`);
  const at = Date.now() - 86_400_000;
  database
    .prepare(
      `insert into sessions (key, session_id, agent_id, title, label, pinned, archived, revision, words, created_at, updated_at)
       with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ?)
       select 'agent:main:b' || n, lower(hex(randomblob(8))), 'main', format('Session %d topic%03d', n, n % 1000), null, 0, 0, 1,
         format('session %d topic%03d agent main b%d', n, n % 1000, n), ? + n, ? + n
       from numbers`,
    )
    .run(sessions - 1, at, at);
  database.exec(`insert into session_words (session_words) values ('rebuild')`);
  for (const { sql } of upkeep) database.exec(sql);
  database.exec('commit; analyze; pragma wal_checkpoint(truncate)');
}

/** A gateway may run on it. */
export async function fillPostgres(url: string, sessions: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
      `select indexname, indexdef from pg_indexes where tablename = 'sessions' and indexdef not like 'CREATE UNIQUE%'`,
    );
    for (const { indexname } of indexes) await client.query(`drop index ${indexname}`);
    const at = Date.now() - 86_400_000;
    await client.query(`
      insert into sessions (key, session_id, agent_id, title, label, pinned, archived, revision, words, created_at, updated_at)
      select 'agent:main:b' || n, md5(n::text), 'main', format('Session %s topic%s', n, lpad((n % 1000)::text, 3, '0')), null, 0, 0, 1,
        format('session %s topic%s agent main b%s', n, lpad((n % 1000)::text, 3, '0'), n), ${at} + n, ${at} + n
      from generate_series(0, ${sessions - 1}) n`);
    for (const { indexdef } of indexes) await client.query(indexdef);
    await client.query('vacuum analyze sessions');
  } finally {
    await client.end();
  }
}
