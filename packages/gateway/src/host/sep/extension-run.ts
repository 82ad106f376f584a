// What the host of plugins knows of an extension: a plugin whose code runs in a process of its own.
import type { ExtensionState, JsonObject } from '@tenon/protocol';
import type { Reach } from './process/sandbox.ts';
import type { LogPage } from './process/log-ring.ts';

/** The files and rights that the operator has accepted. */
export interface Accepted {
  readonly hash: string;
  readonly granted: ReadonlySet<string>;
  /** Values of its flags, as the operator has set them up. */
  readonly flags: JsonObject;
}

export interface ProcessInfo {
  readonly state: ExtensionState;
  /** In words, where it is not ready. */
  readonly reason?: string;
  readonly pid?: number;
  /** While it is `restarting`. */
  readonly restartAt?: number;
  /** Of those that count. */
  readonly crashes: number;
  /** Whether what its processes can reach of the machine is limited, or would be. */
  readonly sandboxed: boolean;
  /** By what, or why not; once that is known. */
  readonly sandbox?: string;
  /** What its manifest asks for: the network, and places of the machine. */
  readonly reach: Reach;
  /** Events, by their names in the protocol. */
  readonly follows?: readonly string[];
  /** What it registers and nothing was made of. */
  readonly leftOut?: readonly { readonly kind: string; readonly key: string; readonly message: string }[];
}

export interface ExtensionRun {
  /**
   * Has a process at work that was started from these files with these rights, and gives what a module of a plugin would
   * export. Rejects with an error that says why there is none; one that was at work before stays.
   */
  prepare(accepted: Accepted): Promise<unknown>;
  /** The next `prepare` starts a new process, also where one is at work, or is down for good. */
  renew(): void;
  /** Grants for what its process has registered and its manifest says nothing of: plain extensions name their hooks and events then. */
  readonly wanted: readonly string[];
  /** What it needs to run on this machine, beside what its manifest asks for, as far as that is known. */
  readonly needs: readonly string[];
  /** The same, when it is known. */
  needed(): Promise<readonly string[]>;
  /** What must be granted for the hooks that its process takes part in: without it, it would run and guard nothing. */
  readonly hookGrants: readonly string[];
  /** Whether a process is at work. */
  readonly isReady: boolean;
  /** Whether one is being started, or will be after a while. */
  readonly isComing: boolean;
  readonly info: ProcessInfo;
  /** The last `limit` lines of its log after this one. */
  logs(after: number, limit: number): LogPage;
  /** Resolves when nothing of it is running. */
  stop(): Promise<void>;
}
