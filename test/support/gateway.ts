// A real gateway: the bundle that users start, as a process of its own, in a temporary home on a port that the system picks.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface GatewayProcess extends AsyncDisposable {
  readonly home: string;
  readonly url: string;
  /** The address of the socket: `ws://…`. */
  readonly socketUrl: string;
  readonly port: number;
  readonly pid: number;
  readonly token: string;
  /** Signs one browser in, once. */
  readonly signInUrl: string;
  readonly child: ChildProcess;
  /** What it has written to standard error so far. */
  readonly stderr: () => string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** kill -9; the home stays. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Ends the process and, if it made the home itself, removes it. */
  remove(): Promise<void>;
}

export interface StartOptions {
  /** An existing home is kept; without one a temporary home is made and removed at the end. */
  readonly home?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Text of tenon.toml. */
  readonly config?: string;
  readonly port?: number;
  /** Words in front of the command, such as a shell that starts it with open files. It has to become the gateway (`exec "$@"`). */
  readonly through?: readonly string[];
  /** Puts the plugins of the tests into the home; they are found, and none is on. */
  readonly plugins?: true;
  /** Descriptors of ours that it inherits, by the number that they have there. */
  readonly descriptors?: Readonly<Record<number, number>>;
}

/**
 * For `through`, as on a machine where no sandbox works: a user namespace in which no further one can be made, which is what bubblewrap and
 * unshare both need. Where that cannot be had either, no sandbox works anyway.
 */
export const withoutSandbox = [
  '/bin/sh',
  '-c',
  'unshare --user --map-root-user true 2>/dev/null || exec "$@"; exec unshare --user --map-root-user sh -c \'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"\' sh "$@"',
  'sh',
];

/** A test that fails before it puts its gateway away leaves none. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export const tenonBin = join(import.meta.dirname, '..', '..', 'packages', 'gateway', 'bin', 'tenon.js');

export function temporaryHome(): string {
  return mkdtempSync(join(tmpdir(), 'tenon-test-'));
}

/** A copy, which belongs to whoever runs the tests, as plugins must. */
export function copyPlugins(home: string): void {
  cpSync(join(import.meta.dirname, '..', 'fixtures', 'plugins'), join(home, 'plugins'), { recursive: true });
}

/** The environment of a test process: nothing of the person who runs the tests. */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('TENON_') && !['NODE_TEST_CONTEXT', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE'].includes(name),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: '1', ...more };
}

function inherited(descriptors: Readonly<Record<number, number>>): ('ignore' | number)[] {
  const most = Math.max(2, ...Object.keys(descriptors).map(Number));
  return Array.from({ length: most - 2 }, (_, index) => descriptors[index + 3] ?? 'ignore');
}

export async function startGatewayProcess(options: StartOptions = {}): Promise<GatewayProcess> {
  const home = options.home ?? temporaryHome();
  if (options.config !== undefined) writeFileSync(join(home, 'tenon.toml'), options.config);
  if (options.plugins) copyPlugins(home);
  const [command, ...words] = [...(options.through ?? []), process.execPath];
  const child = spawn(
    command!,
    [
      ...words,
      tenonBin,
      'start',
      '--json',
      '--home',
      home,
      '--port',
      String(options.port ?? 0),
      ...(options.plugins ? ['--plugins-paths', 'plugins'] : []),
      ...(options.args ?? []),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe', ...inherited(options.descriptors ?? {})],
      env: cleanEnv(options.env),
    },
  );
  running.add(child);
  child.once('exit', () => running.delete(child));
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-100_000);
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }));
  const lines = createInterface({ input: child.stdout! });
  const first = await Promise.race([once(lines, 'line').then(([line]) => line as string), exited]);
  if (typeof first !== 'string') {
    if (options.home === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    throw Object.assign(new Error(`The gateway did not start (${JSON.stringify(first)}): ${stderr}`), { exit: first, stderr });
  }
  const { url, port, pid, tokenFile, signInUrl } = JSON.parse(first) as {
    url: string;
    port: number;
    pid: number;
    tokenFile: string;
    signInUrl: string;
  };

  async function end(signal: NodeJS.Signals): Promise<{ code: number | null }> {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exited;
  }
  async function remove(): Promise<void> {
    await end('SIGKILL');
    lines.close();
    if (options.home === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }

  return {
    home,
    url,
    socketUrl: url.replace('http', 'ws'),
    port,
    pid,
    token: readFileSync(tokenFile, 'utf8').trim(),
    signInUrl,
    child,
    stderr: () => stderr,
    exited,
    kill: async () => void (await end('SIGKILL')),
    stop: async () => (await end('SIGTERM')).code,
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
