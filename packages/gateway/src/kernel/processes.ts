// A program in a process group of its own, so that it ends with everything it has started. `ended` never rejects, and once
// it has come nothing of the group is running.
import type { ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Clock } from './clock.ts';
import { giveBackAfter } from './give-back.ts';
import { withoutInherited } from './inherited-descriptors.ts';

export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  readonly error?: NodeJS.ErrnoException;
}

export interface Program {
  readonly pid: number | undefined;
  readonly ended: Promise<ProgramEnd>;
  /** Asks the group to end, and ends it after the grace time. */
  stop(): void;
  /** Ends the group at once. */
  kill(): void;
}

export type OutputName = 'stdout' | 'stderr';

export interface ProgramOptions {
  readonly spawn: typeof spawn;
  readonly clock: Clock;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** As whom it runs, without further groups; without it, as we do. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Both outputs in the order they arrive. While a promise that it returned is pending, nothing more is read of that one. */
  onOutput(chunk: Buffer, from: OutputName): Promise<void> | void;
}

const GRACE_MS = 2_000;
/** Output that is still in the pipes when the group has ended arrives within this time. */
const DRAIN_MS = 1_000;

export function startProgram(argv: readonly string[], options: ProgramOptions): Program {
  const { clock } = options;
  let child: ChildProcess;
  try {
    child = options.spawn(argv[0]!, argv.slice(1), {
      cwd: options.cwd,
      env: options.env,
      stdio: withoutInherited(['ignore', 'pipe', 'pipe']),
      detached: true,
      ...(options.owner ? { uid: options.owner.uid, gid: options.owner.gid } : {}),
    });
  } catch (error) {
    return failed(error as NodeJS.ErrnoException);
  }
  const { pid } = child;
  const outputs = [child.stdout, child.stderr].filter((output) => output !== null) as Readable[];
  for (const output of outputs) forward(output, output === child.stderr ? 'stderr' : 'stdout', options);

  let stopping = false;
  let over = false;
  const signal = (name: NodeJS.Signals) => {
    if (pid === undefined) return;
    try {
      process.kill(-pid, name);
    } catch {
      // Nothing of the group is left.
    }
  };
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once('error', (error) => {
      if (pid === undefined) resolve({ code: null, signal: null, error });
    });
    child.once('exit', (code, signalName) => {
      // The first process is gone; what it left behind in its group goes too, and may still hold the pipes open.
      signal('SIGKILL');
      over = true;
      const done = () => {
        drain.cancel();
        for (const output of outputs) output.destroy();
        resolve({ code, signal: signalName });
      };
      const drain = clock.after(DRAIN_MS, done);
      child.once('close', done);
    });
  });
  return {
    pid,
    ended,
    stop() {
      if (stopping || over) return;
      stopping = true;
      signal('SIGTERM');
      const timer = clock.after(GRACE_MS, () => signal('SIGKILL'));
      void ended.then(() => timer.cancel());
    },
    kill() {
      if (!over) signal('SIGKILL');
    },
  };
}

function forward(output: Readable, name: OutputName, { onOutput }: ProgramOptions): void {
  output.on('data', (chunk: Buffer) => {
    giveBackAfter(chunk.length);
    const taken = onOutput(chunk, name);
    if (!(taken instanceof Promise)) return;
    output.pause();
    void taken.then(() => output.resume());
  });
  // A pipe that breaks has said all it will say; the end of the program is what counts.
  output.on('error', () => {});
}

function failed(error: NodeJS.ErrnoException): Program {
  return { pid: undefined, ended: Promise.resolve({ code: null, signal: null, error }), stop() {}, kill() {} };
}
