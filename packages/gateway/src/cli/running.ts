// The note that a running gateway leaves in its home folder: where it listens, which process it is, and what it was told
// at its start.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingName } from '@tenon/protocol';
import { RUNNING_FILE } from '../home.ts';
import { isRunning } from '../kernel/process-identity.ts';
import { CliError, exitCodes } from './failure.ts';

export interface RunningNote {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** When the process began, in the system's own count. */
  readonly began?: string;
  readonly tokenFile?: string;
  readonly startedAt?: number;
  readonly engine?: string;
  /** Where its store is, without credentials. */
  readonly store?: string;
  /** Settings of flags and variables, but for secrets. */
  readonly given?: Readonly<Partial<Record<SettingName, unknown>>>;
  /** Secrets among them, by name, and `token` where that of the token file is not used. */
  readonly givenSecrets?: readonly string[];
}

/** The gateway of this home, if it is alive. A note left by one that was killed counts as none. */
export function readRunning(home: string): RunningNote | undefined {
  let note: Partial<RunningNote>;
  try {
    note = JSON.parse(readFileSync(join(home, RUNNING_FILE), 'utf8')) as Partial<RunningNote>;
  } catch {
    return undefined;
  }
  const { url, port, pid, began } = note ?? {};
  if (typeof url !== 'string' || typeof port !== 'number' || typeof pid !== 'number') return undefined;
  return isRunning({ pid, began: typeof began === 'string' ? began : undefined }) ? (note as RunningNote) : undefined;
}

/** For what needs the home for itself. */
export function refuseIfRunning(home: string): void {
  const running = readRunning(home);
  if (!running) return;
  const message = `A gateway (process ${running.pid}) runs in ${home}`;
  throw new CliError('LOCKED', exitCodes.locked, message, 'stop it first with: tenon stop');
}
