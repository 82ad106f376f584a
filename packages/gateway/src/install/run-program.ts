// A program that helps to fetch (npm, git): in a process group of its own, without a terminal, within a time and a size, and
// with nothing of our environment but what it needs to reach the network.
import type { spawn } from 'node:child_process';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TREE_BOUNDS } from '../host/tree-hash.ts';
import type { Clock } from '../kernel/clock.ts';
import { startProgram } from '../kernel/processes.ts';
import { InstallError } from './install-error.ts';

export interface ProgramDeps {
  readonly spawn: typeof spawn;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface ProgramRequest {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** What it writes there is looked at from time to time. */
  readonly watched?: string;
}

/** To be found, to be understood, and to reach the network as we do. */
const PASSED_ON = [
  ...['PATH', 'LANG', 'LC_ALL', 'TMPDIR', 'SystemRoot'],
  ...['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'],
];
const MAX_OUTPUT = 65_536;
const LOOK_MS = 2_000;

/** Resolves with what it wrote, both outputs together. Rejects where it fails, and says what it said last. */
export async function runProgram({ argv, cwd, env, timeoutMs, watched }: ProgramRequest, deps: ProgramDeps): Promise<string> {
  const { clock, signal } = deps;
  const kept: Buffer[] = [];
  let size = 0;
  let fault: InstallError | undefined;
  const inherited = Object.fromEntries(PASSED_ON.flatMap((name) => (deps.env[name] === undefined ? [] : [[name, deps.env[name]!]])));
  const program = startProgram(argv, {
    spawn: deps.spawn,
    clock,
    cwd,
    env: { ...inherited, ...env },
    onOutput(chunk) {
      kept.push(chunk);
      size += chunk.length;
      // The last of it says what went wrong.
      while (size > MAX_OUTPUT && kept.length > 1) size -= kept.shift()!.length;
    },
  });
  const stop = (error: InstallError) => {
    fault ??= error;
    program.kill();
  };
  const interrupted = () => stop(new InstallError('INTERRUPTED', 'Interrupted; nothing was changed'));
  signal.addEventListener('abort', interrupted, { once: true });
  if (signal.aborted) interrupted();
  const timer = clock.after(timeoutMs, () => stop(new InstallError('FETCH', `${argv[0]} took longer than ${timeoutMs / 1_000} s`)));
  let isLooking = false;
  const looks = clock.every(LOOK_MS, () => {
    if (watched === undefined || isLooking) return;
    isLooking = true;
    void measure(watched)
      .then((tooMuch) => tooMuch !== undefined && stop(new InstallError('REFUSED', `${argv[0]} fetched more than ${tooMuch}`)))
      .finally(() => {
        isLooking = false;
      });
  });
  const { code, error } = await program.ended;
  timer.cancel();
  looks.cancel();
  signal.removeEventListener('abort', interrupted);
  const output = Buffer.concat(kept).toString('utf8');
  if (fault) throw fault;
  if (error?.code === 'ENOENT') throw new InstallError('FETCH', `The program ${argv[0]} is needed and not there`, `install ${argv[0]}`);
  if (error || code !== 0)
    throw new InstallError('FETCH', `${argv[0]} failed: ${lastLines(output) || error?.message || `exit code ${code}`}`);
  return output;
}

/** What of the bounds is passed, if one is. Files may come and go meanwhile. */
async function measure(root: string): Promise<string | undefined> {
  // Beside the files there are archives and caches of them.
  const most = { files: TREE_BOUNDS.files * 3, bytes: TREE_BOUNDS.bytes * 3 };
  let [files, bytes] = [0, 0];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      if (++files > most.files) return `${most.files} files`;
      if (entry.isDirectory()) folders.push(path);
      else bytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
      if (bytes > most.bytes) return `${most.bytes} bytes`;
    }
  }
  return undefined;
}

function lastLines(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !/A complete log of this run/.test(line));
  return lines.slice(-3).join(' | ').slice(-600);
}
