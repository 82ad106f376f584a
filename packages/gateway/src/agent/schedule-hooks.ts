// Tells plugins what becomes of jobs, from what was committed: nothing is told that is not so, and nothing is read for it where
// nobody listens.
import type { HookEvent, Job, Occurrence } from '@tenon/protocol';
import type { HookRunner } from '../host/run-hook.ts';
import type { StoredEvent } from '../store/stream.ts';
import { agentIdOf } from './agents.ts';

interface CronEvent {
  readonly kind: 'added' | 'updated' | 'removed' | 'occurrence';
  readonly job: Job;
  readonly occurrence?: Occurrence;
}

export function tellJobs(batch: readonly StoredEvent[], hooks: Pick<HookRunner, 'has' | 'run'>): void {
  if (!hooks.has('cron_changed')) return;
  for (const { event, payload } of batch) {
    if (event === 'cron') hooks.run('cron_changed', changeOf(JSON.parse(payload) as CronEvent));
  }
}

function changeOf({
  kind,
  job: { name: _name, message: _message, last: _last, ...job },
  occurrence,
}: CronEvent): HookEvent<'cron_changed'> {
  const sessionKey = occurrence?.sessionKey ?? ('key' in job.session ? job.session.key : undefined);
  const agentId = 'agentId' in job.session ? job.session.agentId : agentIdOf(job.session.key);
  return {
    action: kind === 'occurrence' ? actionOf(occurrence) : kind,
    job,
    agentId,
    ...(occurrence ? { occurrence } : {}),
    ...(sessionKey === undefined ? {} : { sessionKey }),
    ...(occurrence?.runId === undefined ? {} : { runId: occurrence.runId }),
  };
}

function actionOf(occurrence: Occurrence | undefined): 'scheduled' | 'started' | 'finished' {
  if (occurrence?.state === 'waiting') return 'scheduled';
  return occurrence?.state === 'running' ? 'started' : 'finished';
}
