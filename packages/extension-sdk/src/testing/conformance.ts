// Whether an extension keeps the protocol: a real process, every step with a time of its own, and a report that says what was
// shown, what failed and what there was nothing to show of. An extension that dies is started again for the next step.
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { type Step, type StepDeps, conformanceSteps } from './conformance-steps.ts';
import { allGroups, seamAnswers } from './samples.ts';
import type { ScriptedHostOptions, UiAnswer, UiRequest } from './scripted-host.ts';
import { type ExtensionCommand, startExtension, type RunningExtension } from './running-extension.ts';

export interface ConformanceOptions extends ExtensionCommand {
  /** For each step; 10 s without it. */
  readonly timeoutMs?: number;
  /** Beside what the host of the steps does by itself: it answers dialogs with the first choice. */
  readonly host?: ScriptedHostOptions;
  onStep?(step: ConformanceStep): void;
  /** Ends the processes and rejects. With one, each of them has a process group of its own. */
  readonly signal?: AbortSignal;
}

export interface ConformanceStep {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly reason?: string;
  readonly ms: number;
}

export interface ConformanceReport {
  readonly ok: boolean;
  readonly steps: readonly ConformanceStep[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const { timeoutMs = STEP_MS, onStep, signal } = options;
  const all: RunningExtension[] = [];
  const main: RunningExtension[] = [];
  let current: RunningExtension | undefined;

  const fresh = (more: ScriptedHostOptions = {}) => {
    const subject = startExtension(options, {
      ...{ onUiRequest: firstChoice, ...more, ...options.host, timeoutMs },
      ...(signal === undefined ? {} : { signal }),
    });
    all.push(subject);
    return subject;
  };
  const deps: StepDeps = {
    timeoutMs,
    fresh: () => fresh(),
    async subjectWithSeams() {
      const subject = fresh({ initialize: { capabilities_enabled: allGroups }, answers: seamAnswers });
      main.push(subject);
      return subject;
    },
    subjects: () => main,
    async subject() {
      if (current && (await hasEnded(current))) current = undefined;
      if (current) return current;
      current = fresh();
      main.push(current);
      return current;
    },
  };

  const done: ConformanceStep[] = [];
  try {
    for (const [name, step] of Object.entries(conformanceSteps)) {
      signal?.throwIfAborted();
      const result: ConformanceStep =
        done[0]?.outcome === 'failed'
          ? { name, outcome: 'skipped', reason: 'it cannot be initialized', ms: 0 }
          : await take(name, step, deps, () => current);
      signal?.throwIfAborted();
      // What has hung may hang for good.
      if (result.outcome === 'failed') {
        await current?.stop();
        current = undefined;
      }
      done.push(result);
      onStep?.(result);
    }
  } finally {
    await Promise.all(all.map((subject) => subject.stop()));
  }
  const count = (outcome: ConformanceStep['outcome']) => done.filter((step) => step.outcome === outcome).length;
  return { ok: count('failed') === 0, steps: done, passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

async function take(name: string, step: Step, deps: StepDeps, current: () => RunningExtension | undefined): Promise<ConformanceStep> {
  const startedAt = performance.now();
  const ms = () => Math.round(performance.now() - startedAt);
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = startTimer(() => reject(new Error(`It took more than ${deps.timeoutMs} ms`)), deps.timeoutMs);
    });
    const reason = await Promise.race([step(deps), late]);
    return reason === undefined ? { name, outcome: 'passed', ms: ms() } : { name, outcome: 'skipped', reason: String(reason), ms: ms() };
  } catch (thrown) {
    return { name, outcome: 'failed', reason: await explained(thrown, current()), ms: ms() };
  } finally {
    clearTimeout(timer);
  }
}

async function explained(thrown: unknown, subject: RunningExtension | undefined): Promise<string> {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (!subject || !(await hasEnded(subject))) return message;
  const complaints = subject.complaints();
  const exit = await Promise.race([subject.exited, setTimeout(0, 'a closed stream')]);
  return `${message}; the extension has ended with ${exit}${complaints === '' ? '' : `, and said: ${complaints}`}`;
}

// Its streams end a little before it does.
async function hasEnded({ host, exited }: RunningExtension): Promise<boolean> {
  if (!host.isClosed) return false;
  await Promise.race([exited, setTimeout(EXIT_MS, undefined, { ref: false })]);
  return true;
}

const EXIT_MS = 1_000;
const STEP_MS = 10_000;

function firstChoice({ kind, options }: UiRequest): UiAnswer | undefined {
  if (kind === 'select') return Array.isArray(options) ? { value: String(options[0]) } : undefined;
  return kind === 'confirm' ? { confirmed: true } : { text: 'text' };
}
