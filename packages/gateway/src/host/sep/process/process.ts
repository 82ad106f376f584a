// One process of an extension, in a group of its own: started with little of our environment, watched for what it uses, and
// ended with everything that it has started. `ended` never rejects, and once it has come nothing of it is running.
import type { ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { withoutInherited } from '../../../kernel/inherited-descriptors.ts';
import type { StderrRing } from './stderr-ring.ts';
import { findMarked, readTree, tasksOfTree, tasksOfUser, type TreeUse } from '../../../kernel/process-tree.ts';
import { type OrphanGuard, RUN_VARIABLE } from './orphan-guard.ts';

export interface ProcessLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly openFiles: number;
  /** Of one file that it writes. */
  readonly fileBytes: number;
  /** A whole processor without a break for so long: from then on it gives way to everybody else. */
  readonly yieldMs: number;
  /** And for so long: it is ended. */
  readonly busyMs: number;
}

export const processLimits: ProcessLimits = {
  memoryBytes: 1_073_741_824,
  processes: 64,
  openFiles: 1_024,
  fileBytes: 1_073_741_824,
  yieldMs: 10_000,
  busyMs: 600_000,
};

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  readonly error?: NodeJS.ErrnoException;
  /** Why we ended it. */
  readonly overused?: string;
}

export interface ExtensionProcess {
  readonly pid: number | undefined;
  readonly input: Readable;
  readonly output: Writable;
  readonly ended: Promise<ProcessEnd>;
  /** What it uses now, where the system tells. */
  use(): TreeUse | undefined;
  /** Asks the group to end, and ends it after the grace time. */
  stop(graceMs: number): void;
  /** Ends the group at once. */
  kill(): void;
}

export interface StartOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: typeof spawn;
  readonly clock: Clock;
  readonly stderr: StderrRing;
  readonly orphans: OrphanGuard;
  /** Of this process among all that the gateway starts. */
  readonly number: number;
  readonly limits?: ProcessLimits;
  /** Why it must not be started; looked at just before. */
  fault?(): string | undefined;
}

const LOOK_MS = 500;
/** While there are many of them: a storm grows faster than that. */
const CLOSE_LOOK_MS = 50;
const MANY = 8;
/** Beyond what the user runs already: processes and their threads. */
const SPARE_TASKS = 1_024;
const FILE_BLOCK = 512;
const KIB = 1_024;
const RESERVED_BYTES = 2_147_483_648;
/** How often the whole system is searched for processes that have left the group. */
const SEARCH_LOOKS = 20;
const SWEEPS = 20;
const NICE = 5;
/** The least that the system has. Many processes with a little less would still leave the gateway little. */
const LEAST_NICE = 19;

export function startProcess(options: StartOptions): ExtensionProcess {
  const { clock, orphans, limits = processLimits } = options;
  const mark = `${orphans.run}.${options.number}`;
  let child: ChildProcess;
  const fault = options.fault?.();
  if (fault !== undefined) return notStarted(new Error(fault));
  try {
    child = start(options, mark, limits);
  } catch (error) {
    return notStarted(error as NodeJS.ErrnoException);
  }
  const { pid } = child;
  let overused: string | undefined;
  let isOver = false;

  const signal = (name: NodeJS.Signals): void => {
    if (pid === undefined || isOver) return;
    try {
      process.kill(-pid, name);
    } catch {
      // Nothing of the group is left.
    }
  };
  if (pid !== undefined) {
    orphans.add(pid);
    // What an extension computes must not slow down those who wait for the gateway.
    try {
      setPriority(pid, NICE);
    } catch {
      // It has ended already.
    }
  }
  if (child.stderr) options.stderr.follow(child.stderr);
  const watch = pid === undefined ? undefined : watchUse(pid, mark, clock, limits, end);

  function end(reason: string): void {
    overused ??= reason;
    signal('SIGKILL');
  }

  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (error) => {
      if (pid === undefined) resolve({ code: null, signal: null, error });
    });
    child.once('exit', (code, signalName) => {
      // The first process is gone; what it left behind goes too.
      signal('SIGKILL');
      isOver = true;
      watch?.cancel();
      void sweep(mark).then(() => {
        if (pid !== undefined) orphans.remove(pid);
        for (const stream of child.stdio) stream?.destroy();
        resolve({ code, signal: signalName, ...(overused === undefined ? {} : { overused }) });
      });
    });
  });

  return {
    pid,
    input: child.stdout ?? new PassThrough(),
    output: child.stdin ?? new PassThrough(),
    ended,
    use: () => (pid === undefined || isOver ? undefined : readTree(pid, limits.processes)),
    stop(graceMs) {
      signal('SIGTERM');
      const timer = clock.after(graceMs, () => signal('SIGKILL'));
      void ended.then(() => timer.cancel());
    },
    kill: () => signal('SIGKILL'),
  };
}

function notStarted(error: NodeJS.ErrnoException): ExtensionProcess {
  const ended = Promise.resolve({ code: null, signal: null, error });
  return { pid: undefined, input: new PassThrough(), output: new PassThrough(), ended, use: () => undefined, stop() {}, kill() {} };
}

function start({ spawn: run, command, cwd, env }: StartOptions, mark: string, limits: ProcessLimits): ChildProcess {
  const words = process.platform === 'win32' ? [...command] : ['/bin/sh', '-c', `${bounds(limits)}; exec "$@"`, 'extension', ...command];
  return run(words[0]!, words.slice(1), {
    cwd,
    env: { ...env, [RUN_VARIABLE]: mark },
    stdio: withoutInherited(['pipe', 'pipe', 'pipe']),
    detached: true,
  });
}

/**
 * What the kernel holds by itself, between two looks of ours. What is reserved and never used counts as memory there. The number of
 * processes is that of the user, and does not bind root: that is what we look at.
 */
function bounds({ openFiles, fileBytes, memoryBytes }: ProcessLimits): string {
  const quietly = (text: string) => `${text} 2>/dev/null`;
  const tasks = process.getuid?.() === 0 ? undefined : tasksOfUser() + SPARE_TASKS;
  return [
    'ulimit -c 0',
    quietly(`ulimit -n ${openFiles}`),
    quietly(`ulimit -f ${Math.ceil(fileBytes / FILE_BLOCK)}`),
    quietly(`ulimit -d ${Math.ceil((memoryBytes + RESERVED_BYTES) / KIB)}`),
    // Shells do not agree on its letter.
    ...(tasks === undefined ? [] : [`${quietly(`ulimit -p ${tasks}`)} || ${quietly(`ulimit -u ${tasks}`)}`]),
  ].join('; ');
}

function watchUse(pid: number, mark: string, clock: Clock, limits: ProcessLimits, end: (reason: string) => void) {
  let looks = 0;
  let isMany = false;
  let timer: Timer | undefined;
  let isOver = false;
  let hasYielded = false;
  let busySince: { readonly at: number; readonly cpuMs: number } | undefined;

  function look(): void {
    const use = readTree(pid, limits.processes);
    if (!use) return;
    if (use.processes > limits.processes) return end(`it has more than ${limits.processes} processes`);
    if (use.memoryBytes > limits.memoryBytes) return end(`it uses more than ${limits.memoryBytes} bytes of memory`);
    const now = clock.monotonic();
    const isBusy = busySince !== undefined && use.cpuMs - busySince.cpuMs >= 0.9 * (now - busySince.at);
    if (!busySince || !isBusy) busySince = { at: now, cpuMs: use.cpuMs };
    else if (now - busySince.at > limits.busyMs) return end(`it has used a whole processor for ${limits.busyMs} ms`);
    if (isBusy && !hasYielded && busySince && now - busySince.at > limits.yieldMs) {
      hasYielded = true;
      for (const task of tasksOfTree(pid, limits.processes)) giveWay(task);
    }
    isMany = use.processes > MANY;
    if (++looks % SEARCH_LOOKS === 0) void search();
  }

  async function search(): Promise<void> {
    const found = await findMarked(`${RUN_VARIABLE}=${mark}`);
    if (found.length > limits.processes) end(`it has more than ${limits.processes} processes`);
  }

  function later(): void {
    timer = clock.after(isMany ? CLOSE_LOOK_MS : LOOK_MS, () => {
      look();
      if (!isOver) later();
    });
  }

  later();
  return {
    cancel() {
      isOver = true;
      timer?.cancel();
    },
  };
}

/** What it starts from now on gives way as well. */
function giveWay(task: number): void {
  try {
    setPriority(task, LEAST_NICE);
  } catch {
    // It has ended.
  }
}

/** Ends what has left the group. Who starts others faster than they are ended is chased a bounded number of times. */
async function sweep(mark: string): Promise<void> {
  for (let pass = 0; pass < SWEEPS; pass++) {
    const left = await findMarked(`${RUN_VARIABLE}=${mark}`);
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  }
}
