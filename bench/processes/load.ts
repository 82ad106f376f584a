// The load: a process of its own, raw sockets, no parsing but a look for the bytes that a good answer has. The same code
// drives the gateway and the bare server, so that its own cost is on both sides.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { serveJobs } from '../child.ts';
import { percentile } from '../rounds.ts';

export interface OpenArgs {
  readonly name: string;
  readonly url: string;
  /** The first frame; its answer is awaited. */
  readonly hello?: string;
}

export interface DriveArgs {
  readonly name: string;
  /** The request; `{n}` becomes a number that never comes again, `{m}` one below `spread`, all of them in turn and far apart. */
  readonly text: string;
  readonly spread?: number;
  readonly inFlight: number;
  readonly forMs?: number;
  readonly count?: number;
  /** Bytes that every good answer has. */
  readonly marker: string;
}

export interface Driven {
  readonly count: number;
  readonly rate: number;
  /** Milliseconds; meaningful with one in flight. */
  readonly p50: number;
  readonly p99: number;
}

interface Saying {
  /** The connection that says it. */
  readonly name: string;
  readonly text: string;
}

interface Link {
  readonly socket: WebSocket;
  readonly send: (text: string) => void;
}

const links = new Map<string, Link>();
const PATIENCE_MS = 20_000;
/** A prime: neighbours in the store are not neighbours in time. */
const STRIDE = 7919;
let sent = 0;

export const jobs = {
  async open(args: OpenArgs): Promise<void> {
    links.set(args.name, await open(args));
  },

  close({ prefix }: { prefix: string }): void {
    for (const [name, { socket }] of links) {
      if (!name.startsWith(prefix)) continue;
      links.delete(name);
      socket.terminate();
    }
  },

  /** The text of the answer to one request. */
  async ask({ name, text, marker }: { name: string; text: string; marker: string }): Promise<string> {
    const link = linkOf(name);
    const answer = next(link.socket, marker);
    link.send(render(text, 1)(++sent));
    return answer;
  },

  drive(args: DriveArgs): Promise<Driven> {
    return drive(linkOf(args.name), args);
  },

  /** Loads until the other side dies. */
  driveUntilClosed(args: DriveArgs): Promise<{ count: number }> {
    const { socket } = linkOf(args.name);
    let count = 0;
    socket.on('message', () => count++);
    const closed = once(socket, 'close').then(() => ({ count }));
    drive(linkOf(args.name), { ...args, forMs: 3_600_000 }).catch(() => {});
    return closed;
  },

  /** Each time a new socket: open, first frame, its answer. Closing is not counted. */
  async connect({ url, hello, count }: { url: string; hello: string; count: number }): Promise<{ p50: number; p99: number }> {
    const taken: number[] = [];
    for (let done = 0; done < count; done++) {
      const startedAt = performance.now();
      const { socket } = await open({ name: '', url, hello });
      taken.push(performance.now() - startedAt);
      socket.close();
      await once(socket, 'close');
    }
    return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) };
  },

  /**
   * In turn a message that every listener gets and one that none gets: from the send to the last listener, and from the
   * send to the answer.
   */
  async fanOut(args: { heard: Saying; unheard: Saying; listeners: string; count: number }): Promise<{ heard: number; unheard: number }> {
    const listeners = [...links].filter(([name]) => name.startsWith(args.listeners)).map(([, { socket }]) => socket);
    const taken = { heard: [] as number[], unheard: [] as number[] };
    for (let done = 0; done < args.count; done++) {
      taken.heard.push(await say(args.heard, listeners));
      taken.unheard.push(await say(args.unheard, []));
    }
    return { heard: percentile(taken.heard, 0.5), unheard: percentile(taken.unheard, 0.5) };
  },
};

function linkOf(name: string): Link {
  const link = links.get(name);
  if (!link) throw new Error(`there is no connection "${name}"`);
  return link;
}

async function open({ url, hello }: OpenArgs): Promise<Link> {
  const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
  const upgraded = once(socket, 'upgrade') as Promise<[IncomingMessage]>;
  const answer = hello === undefined ? undefined : next(socket, '"id":"hello"');
  answer?.catch(() => {});
  await once(socket, 'open');
  const [response] = await upgraded;
  const link = { socket, send: createSender(socket, response.socket) };
  socket.on('error', () => {});
  if (hello === undefined || answer === undefined) return link;
  socket.send(hello);
  const text = await answer;
  if (text.includes('"ok":false')) throw new Error(`refused: ${text.slice(0, 300)}`);
  return link;
}

/** What is sent in one turn of the event loop leaves in one write; the first of a turn does not wait for others. */
function createSender(socket: WebSocket, stream: Socket): (text: string) => void {
  let corked = false;
  return (text) => {
    if (!corked) {
      corked = true;
      stream.cork();
      process.nextTick(() => {
        corked = false;
        stream.uncork();
      });
    }
    socket.send(text);
  };
}

function next(socket: WebSocket, marker: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const onMessage = (data: Buffer) => {
      if (data.includes(marker)) settle(() => resolve(data.toString()));
    };
    const onEnd = (reason: unknown) => settle(() => reject(new Error(`the socket ended (${reason})`)));
    const settle = (how: () => void) => {
      socket.off('message', onMessage).off('close', onEnd).off('error', onEnd);
      how();
    };
    socket.on('message', onMessage).on('close', onEnd).on('error', onEnd);
  });
}

/** Resolves when it is answered and all have heard it, with the time until the last has; without listeners, until the answer. */
function say({ name, text }: Saying, listeners: readonly WebSocket[]): Promise<number> {
  const { socket, send } = linkOf(name);
  return new Promise((resolve) => {
    let missing = listeners.length;
    let took = 0;
    let answered = false;
    const onHeard = () => {
      if (--missing === 0) finish();
    };
    const onAnswer = () => {
      answered = true;
      finish();
    };
    const finish = () => {
      if (missing === 0) took ||= performance.now() - startedAt;
      if (missing > 0 || !answered) return;
      for (const listener of listeners) listener.off('message', onHeard);
      socket.off('message', onAnswer);
      resolve(took);
    };
    for (const listener of listeners) listener.on('message', onHeard);
    socket.on('message', onAnswer);
    const startedAt = performance.now();
    send(render(text, 1)(++sent));
  });
}

function drive({ socket, send }: Link, args: DriveArgs): Promise<Driven> {
  const make = render(args.text, args.spread ?? 1);
  const most = args.count ?? Number.POSITIVE_INFINITY;
  const taken: number[] = [];
  let count = 0;
  let underWay = 0;
  let sentAt = 0;
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const endAt = startedAt + (args.forMs ?? PATIENCE_MS);
    const timer = setTimeout(() => stop(new Error('an answer did not come')), (args.forMs ?? 0) + PATIENCE_MS);
    const onClose = () => stop(new Error('the socket closed'));
    socket.on('message', onMessage);
    socket.on('close', onClose);
    for (let each = 0; each < Math.min(args.inFlight, most); each++) ask();

    function ask(): void {
      underWay++;
      sentAt = performance.now();
      send(make(++sent));
    }
    function onMessage(data: Buffer): void {
      const now = performance.now();
      if (!data.includes(args.marker)) {
        stop(new Error(`not the answer that was expected: ${data.toString().slice(0, 300)}`));
        return;
      }
      if (args.inFlight === 1) taken.push(now - sentAt);
      count++;
      underWay--;
      if (now < endAt && count + underWay < most) ask();
      else if (underWay === 0) stop();
    }
    function stop(error?: Error): void {
      clearTimeout(timer);
      socket.off('message', onMessage).off('close', onClose);
      const rate = (count * 1000) / (performance.now() - startedAt);
      if (error) reject(error);
      else resolve({ count, rate, p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) });
    }
  });
}

function render(text: string, spread: number): (number: number) => string {
  const parts = text.split(/(\{[nm]\})/);
  return (number) => {
    let made = '';
    for (const part of parts) made += part === '{n}' ? number : part === '{m}' ? (number * STRIDE) % spread : part;
    return made;
  };
}

serveJobs(jobs);
