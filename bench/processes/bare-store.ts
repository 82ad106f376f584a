// The limits of what is stored: a raw fsync, a bare SQLite group commit, a bare read of a page, a bare PostgreSQL update.
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { serveJobs } from '../child.ts';
import { median } from '../rounds.ts';

/** A page of SQLite's write-ahead log with its header. */
const WAL_FRAME_BYTES = 4096 + 24;

interface ReadArgs {
  readonly file: string;
  /** With `?` for each value. */
  readonly query: string;
  readonly values: (string | number)[];
  readonly count: number;
}

export const jobs = {
  /** Median milliseconds of an append that is on the disk when it returns. */
  fsync({ folder, count }: { folder: string; count: number }): number {
    const file = join(folder, 'fsync');
    const handle = openSync(file, 'w');
    const page = Buffer.alloc(WAL_FRAME_BYTES, 1);
    const taken: number[] = [];
    for (let done = 0; done < count; done++) {
      const startedAt = performance.now();
      writeSync(handle, page);
      fdatasyncSync(handle);
      taken.push(performance.now() - startedAt);
    }
    closeSync(handle);
    rmSync(file);
    return median(taken);
  },

  /** Operations a second, `group` of them a commit, each an update of a row and the insert of an event. */
  groupCommit({ folder, group, forMs }: { folder: string; group: number; forMs: number }): number {
    const home = join(folder, 'group-commit');
    mkdirSync(home);
    const database = new DatabaseSync(join(home, 'bare.db'));
    database.exec(`
      pragma journal_mode = wal; pragma synchronous = full;
      create table sessions (ord integer primary key, key text not null unique, title text not null, revision integer not null);
      create table events (seq integer primary key, payload text not null)`);
    const insert = database.prepare('insert into sessions (key, title, revision) values (?, ?, 1)');
    for (let number = 0; number < group; number++) insert.run(`agent:main:s${number}`, 'Title');
    const update = database.prepare('update sessions set title = ?, revision = revision + 1 where key = ?');
    const append = database.prepare('insert into events (payload) values (?)');
    const payload = JSON.stringify({ key: 'agent:main:s1', reason: 'patch', session: 'x'.repeat(200) });
    let operations = 0;
    const startedAt = performance.now();
    while (performance.now() - startedAt < forMs) {
      database.exec('begin immediate');
      for (let number = 0; number < group; number++) {
        update.run(`Title ${operations++}`, `agent:main:s${number}`);
        append.run(payload);
      }
      database.exec('commit');
    }
    const rate = (operations * 1000) / (performance.now() - startedAt);
    database.close();
    rmSync(home, { recursive: true });
    return rate;
  },

  /** Median milliseconds of one query on a store that a gateway has open, with its rows as JSON text. */
  read({ file, query, values, count }: ReadArgs): number {
    const database = new DatabaseSync(file, { readOnly: true });
    const statement = database.prepare(query);
    const taken: number[] = [];
    for (let done = 0; done < count; done++) {
      const startedAt = performance.now();
      JSON.stringify(statement.all(...values));
      taken.push(performance.now() - startedAt);
    }
    database.close();
    return median(taken);
  },

  /** The same on PostgreSQL, planned for its values each time. */
  async readPostgres({ url, query, values, count }: Omit<ReadArgs, 'file'> & { url: string }): Promise<number> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    let position = 0;
    const text = query.replaceAll('?', () => `$${++position}`);
    const taken: number[] = [];
    for (let done = 0; done < count; done++) {
      const startedAt = performance.now();
      JSON.stringify((await client.query(text, values)).rows);
      taken.push(performance.now() - startedAt);
    }
    await client.end();
    return median(taken);
  },

  /** `connections` that each update a row of their own and wait for the commit. */
  async postgres({ url, connections, forMs }: { url: string; connections: number; forMs: number }): Promise<{ p50: number; rate: number }> {
    const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: url }));
    for (const client of clients) await client.connect();
    const [first] = clients as [pg.Client];
    await first.query('create table if not exists bare (key integer primary key, title text not null, revision integer not null)');
    await first.query(`insert into bare select n, '', 1 from generate_series(1, ${connections}) n on conflict do nothing`);
    const taken: number[] = [];
    const startedAt = performance.now();
    const turns = clients.map(async (client, index) => {
      while (performance.now() - startedAt < forMs) {
        const sentAt = performance.now();
        await client.query({
          name: 'update',
          text: 'update bare set title = $1, revision = revision + 1 where key = $2',
          values: [`Title ${taken.length}`, index + 1],
        });
        taken.push(performance.now() - sentAt);
      }
    });
    await Promise.all(turns);
    const rate = (taken.length * 1000) / (performance.now() - startedAt);
    for (const client of clients) await client.end();
    return { p50: median(taken), rate };
  },
};

serveJobs(jobs);
