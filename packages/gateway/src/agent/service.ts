// What the rest of the gateway sees of the agents. A message becomes durable by the store's `runs.accept`; the turns
// are then told that something waits, and everything else follows from the store.
import type { AgentInfo, AttachmentRef, ImageBlock, Run, RunStream, TextBlock, ThinkingLevel } from '@tenon/protocol';
import type { ScheduledTime } from '../store/run-origin.ts';

/** Kept with a run; what a turn needs to know beside its message. */
export interface RunOptions {
  readonly model?: string;
  readonly thinking?: ThinkingLevel;
  readonly extraSystemPrompt?: string;
  /** Files that were said with the message. */
  readonly attachments?: readonly AttachmentRef[];
  /** Set by the store: its message made the session. */
  readonly startsSession?: true;
  /** Set by the store: the time of a job that it is. */
  readonly scheduled?: ScheduledTime;
  /** Set by the store, of a turn without a message: whether a person asked for it, or it began by itself. */
  readonly by?: 'client' | 'wake';
}

export type Content = readonly (TextBlock | ImageBlock)[];

export interface Turns {
  /** Something was accepted for this session. Safe to call again: what is durable decides. */
  accepted(sessionKey: string): void;
  /** Stops the running turn of the session, or one run, running or queued; gives the runs that were stopped, once they have ended. */
  abort(sessionKey: string, runId?: string): Promise<string[]>;
  /** The run of the turn that is at work in the session here, if there is one. */
  running(sessionKey: string): string | undefined;
  /** The credential was revoked: turns that serve it stop. */
  stopFor(principal: string): void;
  /** Resolves when the run has ended or the time is over. `text` is what the agent said last in it. */
  wait(runId: string, timeoutMs: number): Promise<{ run: Run; text?: string } | undefined>;
  /** What the run says while it works, from now on. */
  watch(runId: string, listener: (said: RunStream) => void): () => void;
}

export interface Agents {
  list(): AgentInfo[];
  get(agentId: string): AgentInfo | undefined;
}
