// What can be seen of processes from outside.
import { readdirSync, readFileSync } from 'node:fs';

/** Of the process: what it holds in memory now, and the most that it ever held. */
export function residentBytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return { now: kilobytes('VmRSS') * 1024, peak: kilobytes('VmHWM') * 1024 };
}

/** The processes that have the text as one of their arguments. */
export function runningWith(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(text) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

export function isRunning(pid: number): boolean {
  try {
    // One that has ended and was not waited for does nothing any more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export async function becomesTrue(isSo: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    if (await isSo()) return true;
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
