// The head of the event stream, kept outside the store: at least so many positions were acknowledged. A store that ends before it has
// lost commits, or is an older copy. It is written after commits and beside them, at most every 200 ms, so it may lag behind and never
// runs ahead.
import { join } from 'node:path';
import type { Clock, Timer } from '../kernel/clock.ts';
import { readIfThere, replaceDurably } from '../kernel/durable-file.ts';
import { sha256 } from '../kernel/ids.ts';
import { schemaVersion } from './migrations.ts';
import type { StreamState } from './stream.ts';

export const STREAM_HEAD_FILE = 'stream-head.json';
const WRITE_AFTER_MS = 200;

export interface StreamHead {
  readonly epoch: string;
  readonly head: number;
  /** Of the store when this was written. */
  readonly schema: number;
}

export interface StreamKeeper {
  /** Once the store is open. */
  begin(stream: StreamState): void;
  /** After a commit that moved the head. */
  moved(head: number): void;
  close(): Promise<void>;
}

export function openStreamKeeper(home: string, clock: Clock, onFailure: (error: unknown) => void, schema = schemaVersion): StreamKeeper {
  const file = join(home, STREAM_HEAD_FILE);
  let epoch: string | undefined;
  let head = 0;
  let savedHead = -1;
  let timer: Timer | undefined;
  let saving: Promise<void> | undefined;

  async function save(kept: StreamHead): Promise<void> {
    try {
      await replaceDurably(file, textOf(kept));
      savedHead = kept.head;
    } catch (error) {
      onFailure(error);
    }
    saving = undefined;
    // One that failed is tried again when the head moves on.
    if (head > kept.head) saveSoon();
  }

  function saveSoon(): void {
    if (epoch === undefined || saving) return;
    const own = epoch;
    timer ??= clock.after(WRITE_AFTER_MS, () => {
      timer = undefined;
      saving = save({ epoch: own, head, schema });
    });
  }

  return {
    begin(stream) {
      epoch = stream.epoch;
      head = Math.max(head, stream.head);
      const kept = readStreamHead(home);
      if (kept === 'unreadable') onFailure(new Error(`${file} cannot be read, so nobody can tell whether the store lost events`));
      else if (kept?.epoch === epoch && kept.head === head) savedHead = head;
      if (head !== savedHead) saveSoon();
    },
    moved(next) {
      if (next <= head) return;
      head = next;
      saveSoon();
    },
    async close() {
      await saving;
      timer?.cancel();
      if (epoch !== undefined && head !== savedHead) await save({ epoch, head, schema });
      timer?.cancel();
    },
  };
}

export function readStreamHead(home: string): StreamHead | undefined | 'unreadable' {
  const text = readIfThere(join(home, STREAM_HEAD_FILE));
  if (text === undefined) return undefined;
  try {
    const { epoch, head, schema } = JSON.parse(text) as StreamHead;
    // Its digest tells a flipped digit from a store that is behind.
    return textOf({ epoch, head, schema }) === text ? { epoch, head, schema } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

/**
 * What the store lacks, in words; undefined where it lacks nothing. A new epoch is a new life, after a restore. `version` is the schema
 * that the store has now: an older one is the copy from before an update, which somebody put back.
 */
export function lackOf(kept: StreamHead | undefined, stream: Pick<StreamState, 'epoch' | 'head'>, version: number): string | undefined {
  if (!kept || kept.epoch !== stream.epoch || kept.head <= stream.head || version < kept.schema) return undefined;
  return `it ends at position ${stream.head}, but events up to ${kept.head} were acknowledged: it lost commits, or is an older copy`;
}

function textOf({ epoch, head, schema }: StreamHead): string {
  const facts = { epoch, head, schema };
  return `${JSON.stringify({ ...facts, digest: sha256(JSON.stringify(facts)) })}\n`;
}
