// How lines get from one side to the other: the standard streams of this process, or memory. A transport knows nothing of
// what is in a line.
import { createLineReader } from './lines.ts';
import { bounds } from './wire.ts';

export interface TransportEvents {
  onLine(line: string): void;
  /** Something was dropped: said in words, for a log. */
  onFault(what: string): void;
  /** Once: nothing more will come. */
  onClose(): void;
}

export interface Transport {
  /** Called once; nothing is delivered before. */
  start(events: TransportEvents): void;
  /** A frame without its newline. After the end it goes nowhere. */
  send(line: string): void;
  /** Resolves when everything that was sent is out. */
  close(): Promise<void>;
}

interface Readable {
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close' | 'error', listener: () => void): unknown;
}

interface Writable {
  write(text: string, done: () => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

export interface StdioOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  readonly maxLineBytes?: number;
}

/** Newline-delimited frames over two streams: by default those of this process. */
export function stdioTransport(options: StdioOptions = {}): Transport {
  const { input = process.stdin, output = process.stdout, maxLineBytes = bounds.readBytes } = options;
  // Taken now: `serve` later points what the rest of the program prints at stderr.
  const write = output.write.bind(output) as Writable['write'];
  let waiting = '';
  let isScheduled = false;
  let isBroken = false;

  function flush(done: () => void = () => {}): void {
    isScheduled = false;
    const text = waiting;
    waiting = '';
    if (text === '' || isBroken) return done();
    write(text, () => done());
  }

  return {
    start({ onLine, onFault, onClose }) {
      const reader = createLineReader(maxLineBytes, onLine, (bytes) =>
        onFault(`a line of ${bytes} bytes, at most ${maxLineBytes} are read`),
      );
      let isClosed = false;
      const close = () => {
        if (isClosed) return;
        isClosed = true;
        // Whoever has closed one direction may still read the other.
        flush();
        onClose();
      };
      input.on('data', (chunk) => reader.push(chunk));
      for (const event of ['end', 'close', 'error'] as const) input.on(event, close);
      output.on('error', () => {
        isBroken = true;
        close();
      });
    },
    // What is answered in one go leaves in one write: a call per frame would cost more than the frames.
    send(line) {
      waiting += `${line}\n`;
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(() => flush());
    },
    close: () => new Promise((resolve) => flush(resolve)),
  };
}

/** Two transports, each the other's far end, in memory. Lines arrive in order and never inside `send`. */
export function linkedPair(): readonly [Transport, Transport] {
  const ends = [createEnd(), createEnd()] as const;
  const transport = (own: End, other: End): Transport => ({
    start: (events) => own.start(events),
    send(line) {
      if (!own.isClosed()) other.deliver(({ onLine }) => onLine(line));
    },
    async close() {
      await Promise.all([own.end(), other.end()]);
    },
  });
  return [transport(ends[0], ends[1]), transport(ends[1], ends[0])];
}

interface End {
  start(events: TransportEvents): void;
  deliver(what: (events: TransportEvents) => void): void;
  end(): Promise<void>;
  isClosed(): boolean;
}

function createEnd(): End {
  const queue: ((events: TransportEvents) => void)[] = [];
  let events: TransportEvents | undefined;
  let isScheduled = false;
  let isClosed = false;

  function drain(): void {
    isScheduled = false;
    if (events) for (const what of queue.splice(0)) what(events);
  }

  function deliver(what: (to: TransportEvents) => void): void {
    queue.push(what);
    if (isScheduled) return;
    isScheduled = true;
    queueMicrotask(drain);
  }

  return {
    start(to) {
      events = to;
      drain();
    },
    deliver: (what) => {
      if (!isClosed) deliver(what);
    },
    end() {
      if (isClosed) return Promise.resolve();
      isClosed = true;
      return new Promise((resolve) => {
        deliver((to) => to.onClose());
        deliver(() => resolve());
        // An end that nobody listens to has nothing to wait for.
        if (!events) resolve();
      });
    },
    isClosed: () => isClosed,
  };
}
