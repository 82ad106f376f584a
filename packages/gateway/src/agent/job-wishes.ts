// What every way to make a job has in common: ids, names, the rules that hold where nobody has said others, and the session
// and run that an occurrence becomes.
import type { Job, OnMiss, Overlap } from '@tenon/protocol';
import { randomId } from '../kernel/ids.ts';

const NAME_CHARS = 60;

interface Rules {
  readonly onMiss: OnMiss;
  readonly overlap: Overlap;
  readonly delivery: Job['delivery'];
}

/** Made up for once, one at a time. */
export function rulesOf(given: Partial<Rules>): Rules {
  return { onMiss: given.onMiss ?? 'run', overlap: given.overlap ?? 'skip', delivery: given.delivery ?? 'announce' };
}

export function newJobId(): string {
  return `j${randomId()}`;
}

/** The first words of what it tells. */
export function nameOf(message: string): string {
  const line = message.trim().replace(/\s+/g, ' ');
  return line.length <= NAME_CHARS ? line : `${line.slice(0, NAME_CHARS - 1)}…`;
}

/** A session of its own for each time, where the job says so. */
export function newRunOf({ session }: Pick<Job, 'session'>): { key: string; runId: string } {
  const runId = `c${randomId()}`;
  return { key: 'key' in session ? session.key : `agent:${session.agentId}:cron-${runId}`, runId };
}
