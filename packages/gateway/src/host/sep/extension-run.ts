// What the host of plugins knows of an extension: a plugin whose code runs in a process of its own.
import type { ExtensionState } from '@tenon/protocol';

/** The files and rights that the operator has accepted. */
export interface Accepted {
  readonly hash: string;
  readonly granted: ReadonlySet<string>;
}

export interface ProcessInfo {
  readonly state: ExtensionState;
  /** In words, where it is not ready. */
  readonly reason?: string;
  readonly pid?: number;
  /** Of those that count. */
  readonly crashes: number;
  /** What its own processes can reach is not limited. */
  readonly sandboxed: boolean;
}

export interface ExtensionRun {
  /**
   * Has a process at work that was started from these files with these rights, and gives what a module of a plugin would
   * export. Rejects with an error that says why there is none; one that was at work before stays.
   */
  prepare(accepted: Accepted): Promise<unknown>;
  /** The next `prepare` starts a new process, also where one is at work, or is down for good. */
  renew(): void;
  /** Whether a process is at work. */
  readonly isReady: boolean;
  readonly info: ProcessInfo;
  /** Resolves when nothing of it is running. */
  stop(): Promise<void>;
}
