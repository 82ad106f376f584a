// Who began a run where no person did, and whether its answer is carried to where the session came from. Both are decided by what
// the run was accepted with, so that they hold whatever becomes of the job or the plugin meanwhile.
import type { Job, MessageOrigin } from '@tenon/protocol';

/** What an agent says to a heartbeat when there is nothing to say. */
export const QUIET_ANSWER = 'HEARTBEAT_OK';

/** The time of a job that a run is; kept with the run. */
export interface ScheduledTime {
  readonly jobId: string;
  readonly name: string;
  readonly dueAt: number;
  readonly tag?: string;
  readonly delivery: Job['delivery'];
}

/** What of the options of a run is asked for here. */
export interface RunOrigin {
  /** The name of the plugin that asked for it. */
  readonly plugin?: unknown;
  readonly scheduled?: ScheduledTime;
}

export function originOf(trigger: string, { plugin, scheduled }: RunOrigin): MessageOrigin | undefined {
  if (trigger === 'heartbeat') return { from: 'Heartbeat', via: 'heartbeat' };
  if (trigger === 'schedule' && scheduled) return { from: scheduled.name, via: 'schedule' };
  return typeof plugin === 'string' && plugin !== '' ? { from: plugin, via: 'plugin' } : undefined;
}

/**
 * What a person has asked is answered where they asked it: a channel is told, and clients see the transcript anyway (`route`). What
 * nobody has asked is a delivery on record, also to clients (`always`), unless the job says otherwise or there is nothing to say.
 */
export function deliveryOf(trigger: string, { scheduled }: RunOrigin, answer: string): 'route' | 'always' | 'never' {
  if (trigger === 'schedule') return scheduled?.delivery === 'none' ? 'never' : 'always';
  if (trigger === 'heartbeat') return answer.trim() === QUIET_ANSWER ? 'never' : 'always';
  return 'route';
}
