// What a process and those that come from it use, as the kernel tells it under /proc: how many they are, their memory, their time.
// Nothing here throws: a process that ends while it is looked at is not there.
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

export interface TreeUse {
  readonly processes: number;
  readonly memoryBytes: number;
  /** Since each of them began. */
  readonly cpuMs: number;
  /** Whether one of them is stopped by a signal: in a sandbox, the first one is not the extension. */
  readonly isStopped: boolean;
}

const TICK_MS = 10;
const KIB = 1_024;

/** A process and those that come from it, up to so many of them. Undefined where there is no /proc, or no such process. */
export function readTree(pid: number, maxProcesses: number): TreeUse | undefined {
  const first = readProcess(pid);
  if (!first) return undefined;
  let { memoryBytes, cpuMs } = first;
  let isStopped = isHalted(first.state);
  const found = [pid];
  for (let index = 0; index < found.length && found.length <= maxProcesses; index++) {
    for (const child of childrenOf(found[index]!)) {
      const use = readProcess(child);
      if (!use) continue;
      found.push(child);
      memoryBytes += use.memoryBytes;
      cpuMs += use.cpuMs;
      isStopped ||= isHalted(use.state);
    }
  }
  return { processes: found.length, memoryBytes, cpuMs, isStopped };
}

/** The threads of a process and of those that come from it: each has a priority of its own. */
export function tasksOfTree(pid: number, maxProcesses: number): number[] {
  const found = [pid];
  for (let index = 0; index < found.length && found.length <= maxProcesses; index++) found.push(...childrenOf(found[index]!));
  return found.flatMap((each) => readNames(`/proc/${each}/task`).map(Number));
}

function isHalted(state: string): boolean {
  return state === 'T' || state === 't';
}

function readProcess(pid: number): { state: string; memoryBytes: number; cpuMs: number } | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name of the program stands in brackets and may have anything in it.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1];
  const ticks = Number(fields[10] ?? 0) + Number(fields[11] ?? 0);
  return { state, memoryBytes: Number(resident ?? 0) * KIB, cpuMs: ticks * TICK_MS };
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
      const text = readText(`/proc/${pid}/task/${task}/children`) ?? '';
      return text.split(' ').filter(Boolean).map(Number);
    });
  } catch {
    return [];
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Threads of the user that we are; none where there is no /proc. */
export function tasksOfUser(): number {
  const uid = process.getuid?.();
  let tasks = 0;
  for (const name of readNames('/proc')) {
    const status = /^\d+$/.test(name) ? readText(`/proc/${name}/status`) : undefined;
    if (status === undefined || Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) !== uid) continue;
    tasks += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 1);
  }
  return tasks;
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Processes whose environment has this in it, whoever they descend from. None where there is no /proc. */
export async function findMarked(marker: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const found: number[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
    if (`\0${environment}\0`.includes(`\0${marker}\0`)) found.push(Number(name));
  }
  return found;
}
