// The event stream as rows: what a client that comes back reads.
import { all, change, one, type Operation, sql } from './sql.ts';
import type { DurableEvent } from '@tenon/protocol';

export interface StoredEvent {
  readonly seq: number;
  readonly event: DurableEvent;
  /** JSON text, as it goes over the wire. */
  readonly payload: string;
  readonly sessionKey: string | null;
}

export interface StreamState {
  readonly epoch: string;
  readonly head: number;
  /** The position before the oldest event that is kept: a reader behind it has missed something. */
  readonly floor: number;
}

export function* readStream(args: { after: number; limit: number }): Operation<StoredEvent[]> {
  return yield* all<StoredEvent>(sql`
    select seq, event, payload, session_key as "sessionKey" from events where seq > ${args.after} order by seq limit ${args.limit}`);
}

/** Used when the store is new, and after a restore: what clients remember of the old life no longer holds. */
export function* beginStream(epoch: string): Operation<void> {
  yield* change(sql`
    insert into stream (id, epoch, head) values (1, ${epoch}, 0) on conflict (id) do update set epoch = excluded.epoch`);
}

export function* streamState(_: object): Operation<StreamState> {
  const stream = yield* one<{ epoch: string; head: number }>(sql`select epoch, head from stream where id = 1`);
  const oldest = yield* one<{ seq: number | null }>(sql`select min(seq) as seq from events`);
  if (!stream) return { epoch: '', head: 0, floor: 0 };
  return { ...stream, floor: oldest?.seq == null ? stream.head : oldest.seq - 1 };
}
