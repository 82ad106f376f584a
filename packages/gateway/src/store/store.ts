// What the rest of the gateway sees of the store, whichever engine is behind it.
import type { AnswerSlot } from './answers.ts';
import type { ReadArgs, ReadName, ReadResult, WriteArgs, WriteName, WriteResult } from './operations.ts';
import type { AuditHead, Dialect } from './sql.ts';
import type { StoredEvent, StreamState } from './stream.ts';

export interface Store {
  readonly engine: Dialect;
  /** For people: the file or the database, without credentials. */
  readonly location: string;
  readonly schemaVersion: number;
  /** Resolves after the commit. With a slot, a repeat resolves with the first answer instead. */
  write<Name extends WriteName>(name: Name, args: WriteArgs<Name>, slot?: AnswerSlot): Promise<WriteResult<Name>>;
  read<Name extends ReadName>(name: Name, args: ReadArgs<Name>): Promise<ReadResult<Name>>;
  /** Where the event stream stood when the store was opened. */
  readonly stream: StreamState;
  readonly stats: StoreStats;
  /** What keeps the store from being written that shows without a write; undefined when nothing does. Answers within a second. */
  check(): Promise<string | undefined>;
  /** What the engine says of the soundness and size of its files, for `doctor`. */
  inspect(): Promise<StoreReport>;
  /** Waits for what was accepted, then closes. */
  close(): Promise<void>;
}

export interface StoreStats {
  commits: number;
  operations: number;
  refused: number;
  failed: number;
}

export interface StoreReport {
  readonly integrity: { ok: boolean; reason?: string };
  readonly bytes: number;
  readonly walBytes?: number;
  readonly freeBytes?: number;
}

export interface StoreListener {
  /** After the commit, in the order of their positions, without gaps. */
  events(events: readonly StoredEvent[]): void;
  auditHead(head: AuditHead): void;
  /**
   * A write failed for a reason that lies with the disk or the database; or one succeeded again. `isOver`: another gateway
   * writes the store now, and this one never will again.
   */
  health(state: { ok: true } | { ok: false; reason: string; isOver?: true }): void;
}
