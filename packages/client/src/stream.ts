// Where this client stands in the store's event stream. It decides for each durable event: deliver it, drop it because
// it was seen, or stop because something before it is missing. Ephemeral events have no position and never come here.
import type { EventFrame, EventPayload } from '@tenon/protocol';

export interface Position {
  /** Unknown until the gateway says it, when one starts from a bare `seq`. */
  readonly epoch?: string;
  readonly seq: number;
}

export type Verdict = 'deliver' | 'duplicate' | 'gap';

export interface EventStream {
  readonly position: Position | undefined;
  /** Does not move the position; `advance` does, so that an event that is not taken is asked for again. */
  judge(frame: EventFrame): Verdict;
  advance(frame: EventFrame): void;
  /** The first `hello-ok` says where the stream stands; later ones do not count, because we know what we saw. */
  begin(position: Position | undefined): void;
  resumed(payload: EventPayload<'resumed'>): void;
  restart(payload: EventPayload<'snapshot-required'>): void;
}

export function createEventStream(start?: Position): EventStream {
  let position = start;

  // A gateway without the capability `resume` sends no epoch: then only `seq` can be compared.
  const otherEpoch = (epoch: string | undefined) => epoch !== undefined && position?.epoch !== undefined && epoch !== position.epoch;

  const moveTo = (epoch: string | undefined, seq: number) => {
    const known = epoch ?? position?.epoch;
    position = { ...(known === undefined ? {} : { epoch: known }), seq };
  };

  return {
    get position() {
      return position;
    },
    judge({ seq, epoch, prev }) {
      if (seq === undefined || position === undefined) return 'deliver';
      if (otherEpoch(epoch)) return 'gap';
      if (seq <= position.seq) return 'duplicate';
      // `prev` is the last event that the gateway sent to this client. Beyond our position, it is one that we never got.
      // Below our position nothing is missing: the gateway counts from an earlier place, and there was nothing in between.
      return prev !== undefined && prev > position.seq ? 'gap' : 'deliver';
    },
    advance({ seq, epoch }) {
      if (seq !== undefined) moveTo(epoch, seq);
    },
    begin(at) {
      position ??= at;
    },
    resumed({ epoch, to }) {
      moveTo(epoch, otherEpoch(epoch) ? to : Math.max(position?.seq ?? 0, to));
    },
    restart({ epoch, seq }) {
      moveTo(epoch, seq);
    },
  };
}
