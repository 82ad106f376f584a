// The programs that run now, and the background jobs of each session. Everything here ends with the gateway.
import { constrainedMemory } from 'node:process';
import { totalmem } from 'node:os';
import { limits } from '@tenon/protocol';
import type { Clock } from '../../kernel/clock.ts';
import { type OutputName, type Program, type ProgramEnd, startProgram } from '../../kernel/processes.ts';
import type { Owner } from '../../kernel/sandbox/owner.ts';
import type { Spawn } from '../../kernel/sandbox/sandbox.ts';
import { type ProgramLimits, watchProgram } from '../../kernel/watch-program.ts';
import { createOutputSink, type OutputSink } from './output-sink.ts';
import type { Spool } from './spool.ts';
import { ToolError } from './tool.ts';

const MAX_RUNNING = 32;
const MAX_RUNNING_PER_SESSION = 8;
/** Jobs that have ended and are still listed. */
const MAX_ENDED = 64;
/** Shorter than for a single program: the gateway is waiting. */
const CLOSE_GRACE_MS = 1_000;

export interface JobRequest {
  readonly sessionKey: string;
  /** The workspace that it may change. */
  readonly workspace: string;
  /** As people know it. */
  readonly title: string;
  /** What is spawned, the sandbox included. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** As whom it runs; without it, as we do, or as the sandbox says. */
  readonly owner?: Owner | undefined;
  readonly timeoutMs: number | undefined;
  readonly background: boolean;
  /** Done when nothing of it runs any more, however it ended. What it gives is said behind the output. */
  readonly afterwards?: () => Promise<string | undefined>;
  onUpdate(text: string): void;
  /** Everything that it says, as it comes. */
  readonly onOutput?: ((chunk: Buffer, from: OutputName) => void) | undefined;
}

export interface Job {
  readonly id: string;
  readonly sessionKey: string;
  readonly workspace: string;
  readonly title: string;
  readonly startedAt: number;
  readonly output: OutputSink;
  readonly ended: Promise<JobEnd>;
  /** Undefined while it runs. */
  readonly end: JobEnd | undefined;
  stop(): void;
}

export interface JobEnd extends ProgramEnd {
  /** Why it was ended, where it used too much. */
  readonly overused?: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

export interface Jobs {
  start(request: JobRequest): Job;
  /** Background jobs of a session, the newest first. */
  list(sessionKey: string): Job[];
  /** Everything that runs in a workspace now, whichever session it is of. */
  runningIn(workspace: string): Job[];
  /** The session is over: its jobs end, and are listed no longer. */
  endOf(sessionKey: string): void;
  /** Ends everything; settles when nothing runs any more. */
  close(): Promise<void>;
}

/** Of a small machine it gets no more than leaves the gateway its part. */
function programLimits(): ProgramLimits {
  const there = Math.min(constrainedMemory() || Number.MAX_SAFE_INTEGER, totalmem());
  return { processes: limits.programProcesses.value, memoryBytes: Math.min(limits.programMemoryBytes.value, Math.floor(there * 0.75)) };
}

export interface JobsDeps {
  readonly spawn: Spawn;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly spool: Spool;
  readonly usable?: ProgramLimits;
}

export function createJobs({ spawn, clock, newId, spool, usable = programLimits() }: JobsDeps): Jobs {
  const running = new Map<Job, Program>();
  const background: Job[] = [];
  let closing = false;

  function start(request: JobRequest): Job {
    if (closing) throw new ToolError('STOPPING', 'The gateway is stopping; no programs are started');
    const own = [...running.keys()].filter(({ sessionKey }) => sessionKey === request.sessionKey).length;
    if (running.size >= MAX_RUNNING || own >= MAX_RUNNING_PER_SESSION)
      throw new ToolError('TOO_MANY', `${own} programs run in this session and ${running.size} in all; end one with process first`);
    const output = createOutputSink(spool, clock, request.onUpdate, request.background);
    const begun = clock.monotonic();
    let timedOut = false;
    let end: JobEnd | undefined;
    const program = startProgram(request.argv, {
      spawn,
      clock,
      cwd: request.cwd,
      env: request.env,
      owner: request.owner?.isOther ? request.owner : undefined,
      onOutput(chunk, from) {
        output.write(chunk);
        request.onOutput?.(chunk, from);
      },
    });
    let overused: string | undefined;
    const watch =
      program.pid === undefined
        ? undefined
        : watchProgram(program.pid, usable, clock, (reason) => {
            overused = reason;
            program.kill();
          });
    const timer =
      request.timeoutMs === undefined
        ? undefined
        : clock.after(request.timeoutMs, () => {
            timedOut = true;
            program.stop();
          });
    const job: Job = {
      id: `job-${newId().slice(0, 8)}`,
      sessionKey: request.sessionKey,
      workspace: request.workspace,
      title: request.title,
      startedAt: clock.now(),
      output,
      ended: program.ended.then(async (result) => {
        timer?.cancel();
        watch?.cancel();
        const note = await request.afterwards?.();
        if (note !== undefined) output.write(Buffer.from(`\n[${note}]\n`));
        output.finish();
        running.delete(job);
        end = { ...result, ...(overused === undefined ? {} : { overused }), timedOut, durationMs: Math.round(clock.monotonic() - begun) };
        return end;
      }),
      get end() {
        return end;
      },
      stop: () => program.stop(),
    };
    running.set(job, program);
    if (request.background) remember(job);
    return job;
  }

  function remember(job: Job): void {
    background.unshift(job);
    const ended = background.filter((each) => each.end !== undefined);
    for (const old of ended.slice(MAX_ENDED)) background.splice(background.indexOf(old), 1);
  }

  return {
    start,
    list: (sessionKey) => background.filter((job) => job.sessionKey === sessionKey),
    runningIn: (workspace) => [...running.keys()].filter((job) => job.workspace === workspace),
    endOf(sessionKey) {
      for (const job of background.filter((each) => each.sessionKey === sessionKey)) {
        background.splice(background.indexOf(job), 1);
        if (!job.end) job.stop();
      }
    },
    async close() {
      closing = true;
      for (const program of running.values()) program.stop();
      const timer = clock.after(CLOSE_GRACE_MS, () => {
        for (const program of running.values()) program.kill();
      });
      await Promise.all([...running.keys()].map((job) => job.ended));
      timer.cancel();
    },
  };
}
