// Turns that the plugin has scheduled, when they are due.
import type { Contribution } from '@tenon/protocol';
import type { SessionContext } from './contributions.ts';

/** One of its turns that is due. */
export interface DueTurn extends SessionContext {
  readonly sessionKey: string;
  readonly agentId: string;
  /** The same in every attempt: a good part of an `idempotencyKey`. */
  readonly runId: string;
  readonly jobId: string;
  readonly name: string;
  readonly tag?: string;
  /** What the agent would be told. */
  readonly message: string;
  readonly dueAt: number;
}

export interface ScheduledTurnHandler extends Contribution<'scheduledTurn'> {
  /**
   * `handled`: the agent is not asked. With a `reply`, that and the message stand in the transcript; without one, nothing does. Otherwise,
   * and when it throws or takes too long, the next handler of the plugin is asked, and then the agent. A gateway that dies meanwhile
   * asks again.
   */
  readonly handler: (
    turn: DueTurn,
  ) =>
    | { readonly handled: boolean; readonly reply?: string }
    | undefined
    | Promise<{ readonly handled: boolean; readonly reply?: string } | undefined>;
}
