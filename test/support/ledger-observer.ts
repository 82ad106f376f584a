// A client that watches the event stream and comes back whenever it is cut off, from the position it knows. It fails at
// once on a gap, a repeat, or a history that was rewritten; what it cannot be given it must be told.
import type { Session } from '@tenon/protocol';
import { type Door, type Link, openLink } from './chaos-link.ts';
import type { Frame } from './raw-client.ts';

export interface Change {
  readonly seq: number;
  readonly key: string;
  readonly reason: 'create' | 'patch' | 'reset' | 'delete';
  readonly session?: Session;
}

/** What all observers of one run have seen: one position never has two contents. */
export class Chronicle {
  readonly #byPosition = new Map<string, string>();
  readonly #changes = new Map<string, Change[]>();

  /** Whether nobody has seen this position before. */
  record(epoch: string, frame: Frame): boolean {
    const position = `${epoch}:${frame.seq}`;
    const payload = JSON.stringify(frame.payload);
    const known = this.#byPosition.get(position);
    if (known !== undefined && known !== payload) throw new Error(`Position ${position} was ${known} and is now ${payload}`);
    if (known !== undefined) return false;
    this.#byPosition.set(position, payload);
    if (frame.event === 'sessions.changed') {
      const changes = this.#changes.get(frame.payload.key) ?? [];
      changes.push({ ...(frame.payload as Change), seq: frame.seq! });
      this.#changes.set(frame.payload.key, changes);
    }
    return true;
  }

  get size(): number {
    return this.#byPosition.size;
  }

  /** Every session as it was when this position was the last. */
  sessionsAt(seq: number): Map<string, Session> {
    const sessions = new Map<string, Session>();
    for (const key of this.#changes.keys()) {
      const session = this.changesOf(key).findLast((change) => change.seq <= seq)?.session;
      if (session) sessions.set(key, session);
    }
    return sessions;
  }

  changesUpTo(seq: number): Change[] {
    return [...this.#changes.values()].flat().filter((change) => change.seq <= seq);
  }

  changesOf(sessionKey: string): readonly Change[] {
    return (this.#changes.get(sessionKey) ?? []).toSorted((a, b) => a.seq - b.seq);
  }
}

export class Observer {
  /** How often it was told to read a snapshot. */
  snapshots = 0;
  resumes = 0;
  received = 0;
  failure: Error | undefined;
  readonly #chronicle: Chronicle;
  readonly #from: string;
  #link: Link | undefined;
  #position: { epoch: string; seq: number } | undefined;
  /** Between `connect` and `resumed` or `snapshot-required`: exactly one of them must come. */
  #catchingUp = false;
  #reached: { seq: number; resolve: () => void } | undefined;

  constructor(chronicle: Chronicle, from: string) {
    this.#chronicle = chronicle;
    this.#from = from;
  }

  get position(): number {
    return this.#position?.seq ?? 0;
  }

  async connect(door: Door): Promise<void> {
    await this.cut();
    const position = this.#position;
    this.#catchingUp = position !== undefined;
    const link = await openLink(door, {
      from: this.#from,
      connect: { caps: ['resume'], ...(position ? { resume: position } : {}) },
      onEvent: (frame) => {
        try {
          this.#take(frame);
        } catch (error) {
          this.failure ??= error as Error;
          this.#reached?.resolve();
        }
      },
    });
    this.#link = link;
    this.#position ??= link.hello.events as { epoch: string; seq: number };
  }

  /** Stops and begins to read what has come. */
  pause(): void {
    this.#link?.socket.pause();
  }

  resume(): void {
    this.#link?.socket.resume();
  }

  get closed(): Promise<{ code: number; reason: string }> | undefined {
    return this.#link?.closed;
  }

  /** Ends the socket as a broken network would. */
  async cut(): Promise<void> {
    await this.#link?.cut();
  }

  /** Resolves when everything up to this position was received. */
  async reach(seq: number): Promise<void> {
    if (!this.failure && (this.position < seq || this.#catchingUp)) {
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#reached = { seq, resolve };
        }),
        this.#link?.closed.then(({ code }) => {
          throw new Error(`An observer was closed with ${code} at ${this.position}, before ${seq}`);
        }),
      ]);
    }
    if (this.failure) throw this.failure;
  }

  #take(frame: Frame): void {
    if (frame.event === 'resumed') {
      if (!this.#catchingUp) throw new Error('resumed came without a resume');
      this.#catchingUp = false;
      this.resumes++;
      this.#moveTo(frame.payload.epoch as string, frame.payload.to as number);
    } else if (frame.event === 'snapshot-required') {
      this.#catchingUp = false;
      this.snapshots++;
      this.#moveTo(frame.payload.epoch as string, frame.payload.seq as number, true);
    } else if (frame.seq !== undefined) this.#takeDurable(frame, frame.seq);
  }

  #takeDurable(frame: Frame, seq: number): void {
    // Before the first answer was read the position is that of the first event.
    const position = this.#position ?? { epoch: frame.epoch!, seq: frame.prev! };
    if (frame.epoch !== position.epoch) throw new Error(`An event of epoch ${frame.epoch} came in epoch ${position.epoch}`);
    if (frame.prev !== position.seq) throw new Error(`After ${position.seq} came ${seq}, which follows ${frame.prev}`);
    // It subscribes to everything and may see everything: positions have no gaps for it.
    if (seq !== position.seq + 1) throw new Error(`After ${position.seq} came ${seq}`);
    this.received++;
    this.#chronicle.record(position.epoch, frame);
    this.#moveTo(position.epoch, seq);
  }

  #moveTo(epoch: string, seq: number, anew = false): void {
    if (!anew && seq < this.position) throw new Error(`The stream went back from ${this.position} to ${seq}`);
    this.#position = { epoch, seq };
    if (this.#reached && !this.#catchingUp && seq >= this.#reached.seq) {
      this.#reached.resolve();
      this.#reached = undefined;
    }
  }
}
