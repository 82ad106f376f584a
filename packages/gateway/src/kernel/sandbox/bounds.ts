// What the kernel holds by itself for a program in the sandbox: the number of its processes and threads, and that it is the first to
// go when memory runs out. The limit on processes counts those of a user in a user namespace, and never those of root.
import { release } from 'node:os';
import { limits } from '@tenon/protocol';

const [major = 0, minor = 0] = release().split('.').map(Number);
const isAtLeast = (wantedMajor: number, wantedMinor: number) => major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);

const TASKS = limits.programProcesses.value;
/** Numbers below are used once only. */
const RESERVED_PIDS = 300;
const OOM_SCORE = 500;

/**
 * The words that run `argv` within its bounds, inside the user namespace that it runs in. Before Linux 5.14 the limit would count all
 * processes of the user; there, who started the program looks. Shells do not agree on the letter.
 */
export function bounded(argv: readonly string[]): string[] {
  const tasks = isAtLeast(5, 14) ? `ulimit -p ${TASKS} 2>/dev/null || ulimit -u ${TASKS} 2>/dev/null; ` : '';
  const script = `${tasks}echo ${OOM_SCORE} 2>/dev/null > /proc/self/oom_score_adj; exec "$@"`;
  return ['/bin/sh', '-c', script, 'program', ...argv];
}

/**
 * A line of the set-up script that bounds the process namespace, which holds for root too. Before Linux 6.14 there is one such bound for
 * the whole system, which is not ours to set.
 */
export function boundNamespace(): string[] {
  return isAtLeast(6, 14) ? [`{ echo ${RESERVED_PIDS + TASKS} > /proc/sys/kernel/pid_max; } 2>/dev/null || :`] : [];
}
