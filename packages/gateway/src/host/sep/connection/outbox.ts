// What waits to be written to an extension. Two lanes: messages that somebody waits for, which are refused when there are
// too many, and events, of which the oldest are shed. Nothing is handed to the stream while the other side does not read,
// so that what has timed out can still be taken back.
import type { Writable } from 'node:stream';

/** A message that waits. */
export interface Waiting {
  readonly text: string;
  readonly bytes: number;
  readonly isAnswer: boolean;
}

export interface Outbox {
  /** Whether `put` would take something: what would not be taken need not be built. */
  readonly hasRoom: boolean;
  /** Undefined when too much waits already. */
  put(text: string): Waiting | undefined;
  /** An answer is always taken: who causes them is not read while there are too many. */
  answer(text: string): void;
  /** False when it was written before. */
  takeBack(waiting: Waiting): boolean;
  /** An event: the oldest that wait make room for it. */
  offer(text: string): void;
  /** Whether the answers that wait are more than should. Messages of ours do not count: they end by themselves. */
  readonly hasTooManyAnswers: boolean;
  readonly waitingBytes: number;
  /** Events that were shed. */
  readonly shed: number;
  close(): void;
}

export interface OutboxLimits {
  readonly messages: number;
  readonly bytes: number;
  readonly events: number;
  readonly eventBytes: number;
}

export interface OutboxOptions {
  readonly limits: OutboxLimits;
  /** The message that tells how many events were lost. */
  lostEvents(lost: number): string;
  /** There is room again, after there was none. */
  onRoom(): void;
  /** The stream is broken: nothing will be written any more. */
  onBroken(): void;
}

/** Handed to the stream in one piece. */
const WRITE_CHARS = 65_536;

export function createOutbox(output: Writable, { limits, lostEvents, onRoom, onBroken }: OutboxOptions): Outbox {
  const messages = new Set<Waiting>();
  const events = new Set<Waiting>();
  let bytes = 0;
  let answers = 0;
  let answerBytes = 0;
  let eventBytes = 0;
  let shed = 0;
  let untold = 0;
  let isPumping = false;
  let isBlocked = false;
  let isClosed = false;

  const hasTooManyAnswers = () => answers >= limits.messages || answerBytes >= limits.bytes;

  const hasRoom = () => !isClosed && messages.size - answers < limits.messages && bytes - answerBytes < limits.bytes;

  function add(text: string, isAnswer: boolean): Waiting {
    const waiting = { text, bytes: Buffer.byteLength(text), isAnswer };
    messages.add(waiting);
    count(waiting, 1);
    pumpSoon();
    return waiting;
  }

  function remove(waiting: Waiting): boolean {
    const wasThere = messages.delete(waiting);
    if (wasThere) count(waiting, -1);
    return wasThere;
  }

  function count(waiting: Waiting, by: 1 | -1): void {
    bytes += by * waiting.bytes;
    if (!waiting.isAnswer) return;
    answers += by;
    answerBytes += by * waiting.bytes;
  }

  function pumpSoon(): void {
    if (isPumping || isBlocked || isClosed) return;
    isPumping = true;
    // What is said in one step goes out in one write.
    queueMicrotask(pump);
  }

  function pump(): void {
    isPumping = false;
    const wasFull = hasTooManyAnswers();
    while (!isBlocked && !isClosed && messages.size + events.size > 0) isBlocked = !write(next());
    if (wasFull && !hasTooManyAnswers() && !isClosed) onRoom();
  }

  function next(): string {
    let text = '';
    for (const each of messages) {
      remove(each);
      text += each.text;
      if (text.length >= WRITE_CHARS) return text;
    }
    if (untold > 0) {
      text += lostEvents(untold);
      untold = 0;
    }
    for (const each of events) {
      events.delete(each);
      eventBytes -= each.bytes;
      text += each.text;
      if (text.length >= WRITE_CHARS) return text;
    }
    return text;
  }

  function write(text: string): boolean {
    if (output.destroyed || !output.writable) {
      broken();
      return false;
    }
    return output.write(text);
  }

  function drained(): void {
    isBlocked = false;
    pump();
  }

  function broken(): void {
    if (isClosed) return;
    close();
    onBroken();
  }

  function close(): void {
    isClosed = true;
    messages.clear();
    events.clear();
    bytes = 0;
    answers = 0;
    answerBytes = 0;
    eventBytes = 0;
  }

  output.on('drain', drained);
  // It stays: a write that fails after the end (EPIPE) must never become an error that nobody has caught.
  output.on('error', broken);
  output.once('close', broken);

  return {
    get hasRoom() {
      return hasRoom();
    },
    put: (text) => (hasRoom() ? add(text, false) : undefined),
    answer(text) {
      if (!isClosed) add(text, true);
    },
    takeBack: remove,
    offer(text) {
      if (isClosed) return;
      const waiting = { text, bytes: Buffer.byteLength(text), isAnswer: false };
      events.add(waiting);
      eventBytes += waiting.bytes;
      for (const oldest of events) {
        if (events.size <= limits.events && eventBytes <= limits.eventBytes) break;
        events.delete(oldest);
        eventBytes -= oldest.bytes;
        shed++;
        untold++;
      }
      pumpSoon();
    },
    get hasTooManyAnswers() {
      return hasTooManyAnswers();
    },
    get waitingBytes() {
      return bytes + eventBytes;
    },
    get shed() {
      return shed;
    },
    close,
  };
}
