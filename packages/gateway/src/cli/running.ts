// The note that a running gateway leaves in its home folder: where it listens and which process it is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUNNING_FILE } from '../home.ts';

export interface RunningNote {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly tokenFile?: string;
  readonly startedAt?: number;
  readonly engine?: string;
  /** Where its store is, without credentials. */
  readonly store?: string;
}

/** The gateway of this home, if it is alive. A note left by one that was killed counts as none. */
export function readRunning(home: string): RunningNote | undefined {
  let note: Partial<RunningNote>;
  try {
    note = JSON.parse(readFileSync(join(home, RUNNING_FILE), 'utf8')) as Partial<RunningNote>;
  } catch {
    return undefined;
  }
  const { url, port, pid } = note ?? {};
  if (typeof url !== 'string' || typeof port !== 'number' || typeof pid !== 'number' || !isAlive(pid)) return undefined;
  return note as RunningNote;
}

export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    // It exists and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

// A process that has ended keeps its number until its parent asks for the exit code, and some parents never do.
function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
