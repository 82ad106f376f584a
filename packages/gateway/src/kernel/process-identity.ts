// Which process a number stands for. Numbers are used again, so a process that is to be waited for or ended is known by
// its number and the moment at which it began, where the system tells that.
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** In the system's own count, only to be compared; undefined where the system does not tell. */
  readonly began?: string | undefined;
}

export function identify(pid: number): ProcessIdentity {
  return { pid, began: statOf(pid)?.began };
}

/** Whether this very process still runs. One that has ended and waits for its parent to notice does not. */
export function isRunning({ pid, began }: ProcessIdentity): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It exists and belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = statOf(pid);
  if (now === undefined) return true;
  return !now.ended && (began === undefined || began === now.began);
}

/** Linux: the state and the start time. The name of the program comes before them, in brackets, and may hold anything. */
function statOf(pid: number): { readonly ended: boolean; readonly began: string | undefined } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { ended: fields[0] === 'Z' || fields[0] === 'X', began: fields[19] };
  } catch {
    return undefined;
  }
}
