// Waits for the end of a gateway on this machine: until its process is gone and the lock of its home is free, so that the
// next one can start at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, type ProcessIdentity } from '../kernel/process-identity.ts';
import { CliError, exitCodes } from './failure.ts';
import type { Output } from './output.ts';

const POLL_MS = 20;
/** How long nothing is said, and how often it is said again. */
const QUIET_MS = 3_000;
/** What a stop may take when nobody said otherwise: the gateway's own budget is shorter. */
const DEFAULT_WAIT_MS = 60_000;
/** What the system needs to clear away a process that was killed. */
const KILL_WAIT_MS = 10_000;

export interface Ending {
  readonly home: string;
  readonly process: ProcessIdentity;
  readonly timeoutMs: number | undefined;
  /** End it by force when the time is up. */
  readonly kill: boolean;
  readonly out: Pick<Output, 'json' | 'talk'>;
}

/** Gives how it ended. Throws TIMEOUT when it has not. */
export async function awaitEnd({ home, process: gateway, timeoutMs = DEFAULT_WAIT_MS, kill, out }: Ending): Promise<'stopped' | 'killed'> {
  const { lockHolder } = await import('../maintenance.ts');
  // A lock that another process holds meanwhile is not that of the one waited for.
  const isHere = () => isRunning(gateway) || lockHolder(home)?.pid === gateway.pid;
  const say = (text: string) => {
    if (!out.json) out.talk(text);
  };
  if (await isGone(isHere, timeoutMs, (seconds) => say(`Waiting for process ${gateway.pid} to stop (${seconds} s)`))) return 'stopped';
  if (!kill)
    throw new CliError(
      'TIMEOUT',
      exitCodes.failed,
      `The gateway (process ${gateway.pid}) is still stopping`,
      'wait longer with --timeout 2m, or end it at once with: tenon stop --kill --timeout 1s',
    );
  await endProcess(home, gateway, 'SIGKILL');
  if (await isGone(isHere, KILL_WAIT_MS, () => {})) return 'killed';
  throw new CliError('TIMEOUT', exitCodes.failed, `Process ${gateway.pid} was killed and is still there: the system is waiting for a disk`);
}

/** Where the system does not tell when a process began, only the one that holds the home is surely no other. */
export async function endProcess(home: string, gateway: ProcessIdentity, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const { lockHolder } = await import('../maintenance.ts');
  if (!isRunning(gateway) || (gateway.began === undefined && lockHolder(home)?.pid !== gateway.pid)) return;
  try {
    process.kill(gateway.pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return;
    throw new CliError(
      'DENIED',
      exitCodes.denied,
      `Process ${gateway.pid} belongs to somebody else`,
      'do it as the user who started the gateway',
    );
  }
}

async function isGone(isHere: () => boolean, timeoutMs: number, tell: (seconds: number) => void): Promise<boolean> {
  const startedAt = performance.now();
  let told = 1;
  while (isHere()) {
    const waited = performance.now() - startedAt;
    if (waited > timeoutMs) return false;
    if (waited > told * QUIET_MS) {
      tell(Math.round(waited / 1000));
      told++;
    }
    await sleep(POLL_MS);
  }
  return true;
}
