// The two sides of a turn: a client that says something to an agent and waits for the end, and somebody who makes the two
// calls of the model himself. Both are in one process, so that its cost is on both sides.
import { Agent, request } from 'node:http';
import { WebSocket } from 'ws';
import { serveJobs } from '../child.ts';
import { percentile } from '../rounds.ts';

interface Talk {
  readonly socketUrl: string;
  readonly hello: string;
}

export interface Spoken {
  readonly count: number;
  readonly rate: number;
  /** Milliseconds from the message to the end. */
  readonly p50: number;
  /** Milliseconds from the message to the first text. */
  readonly firstP50: number;
}

interface Waiting {
  readonly startedAt: number;
  first: number | undefined;
  readonly end: () => void;
}

let socket: WebSocket | undefined;
let id = 0;
const waiting = new Map<string, Waiting>();
const prepared = new Set<string>();
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export const jobs = {
  async open({ socketUrl, hello }: Talk): Promise<void> {
    socket = new WebSocket(socketUrl, { perMessageDeflate: false });
    const ready = Promise.withResolvers<void>();
    socket.on('open', () => socket?.send(hello));
    socket.on('error', ready.reject);
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(String(data)) as {
        id?: string;
        ok?: boolean;
        event?: string;
        payload: { runId: string; stream?: string; kind?: string };
      };
      if (frame.id === 'hello') ready.resolve();
      if (frame.ok === false) ready.reject(new Error(String(data)));
      const run = frame.event === undefined ? undefined : waiting.get(frame.payload.runId);
      if (!run) return;
      if (frame.event === 'agent' && frame.payload.stream === 'assistant') run.first ??= performance.now() - run.startedAt;
      if (frame.event === 'chat' && frame.payload.kind === 'ended') run.end();
    });
    await ready.promise;
  },

  close(_: object): void {
    socket?.terminate();
  },

  /** `inFlight` conversations side by side, each in a session of its own that is begun anew after a few turns. */
  async turns({
    inFlight,
    forMs,
    count = Number.POSITIVE_INFINITY,
    perSession = 5,
    before,
  }: {
    inFlight: number;
    forMs?: number;
    count?: number;
    perSession?: number;
    /** Asked in the session before each turn, and not counted. */
    before?: { readonly method: string; readonly params: object };
  }): Promise<Spoken> {
    const times: number[] = [];
    const firsts: number[] = [];
    const startedAt = performance.now();
    const until = forMs === undefined ? Number.POSITIVE_INFINITY : startedAt + forMs;
    let begun = 0;
    const lane = async () => {
      for (let turn = 0, key = ''; performance.now() < until && begun < count; turn++) {
        begun++;
        if (turn % perSession === 0) key = `agent:main:bench-${process.pid}-${id++}`;
        if (before) await prepare(key, before);
        const { took, first } = await say(key);
        times.push(took);
        if (first !== undefined) firsts.push(first);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    return spoken(times, firsts, startedAt);
  },

  /** The two calls that a turn with one tool call makes, and nothing else. */
  async calls({
    url,
    bodies,
    inFlight,
    forMs,
  }: {
    url: string;
    bodies: readonly string[];
    inFlight: number;
    forMs: number;
  }): Promise<Spoken> {
    const times: number[] = [];
    const firsts: number[] = [];
    const startedAt = performance.now();
    const lane = async () => {
      while (performance.now() < startedAt + forMs) {
        const begunAt = performance.now();
        let first: number | undefined;
        for (const body of bodies) first = await post(`${url}/chat/completions`, body, begunAt);
        times.push(performance.now() - begunAt);
        if (first !== undefined) firsts.push(first);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    return spoken(times, firsts, startedAt);
  },

  /** One request after another; the p50 of their times. */
  async history({ sessionKey, limit, count }: { sessionKey: string; limit: number; count: number }): Promise<number> {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const begunAt = performance.now();
      await ask('chat.history', { sessionKey, limit });
      times.push(performance.now() - begunAt);
    }
    return percentile(times, 0.5);
  },

  /** Every page of a session; how long that took. */
  async wholeHistory({ sessionKey }: { sessionKey: string }): Promise<number> {
    const begunAt = performance.now();
    for (let before: string | undefined; ; ) {
      const { more } = (await ask('chat.history', { sessionKey, limit: 200, ...(before === undefined ? {} : { before }) })) as {
        more?: string;
      };
      if (more === undefined) return performance.now() - begunAt;
      before = more;
    }
  },
};

function spoken(times: readonly number[], firsts: readonly number[], startedAt: number): Spoken {
  return {
    count: times.length,
    rate: times.length / ((performance.now() - startedAt) / 1000),
    p50: percentile(times, 0.5),
    firstP50: percentile(firsts, 0.5),
  };
}

function say(sessionKey: string): Promise<{ took: number; first: number | undefined }> {
  const runId = `bench-${process.pid}-${id++}`;
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const run: Waiting = {
      startedAt,
      first: undefined,
      end() {
        waiting.delete(runId);
        resolve({ took: performance.now() - startedAt, first: run.first });
      },
    };
    waiting.set(runId, run);
    socket?.send(
      JSON.stringify({
        type: 'req',
        id: runId,
        method: 'chat.send',
        params: { sessionKey, message: 'List the files', idempotencyKey: runId },
      }),
    );
  });
}

function ask(method: string, params: object): Promise<unknown> {
  const requestId = `ask-${id++}`;
  return new Promise((resolve, reject) => {
    const listener = (data: Buffer) => {
      const frame = JSON.parse(String(data)) as { id?: string; ok: boolean; payload: unknown; error?: { message: string } };
      if (frame.id !== requestId) return;
      socket?.off('message', listener);
      if (frame.ok) resolve(frame.payload);
      else reject(new Error(frame.error?.message));
    };
    socket?.on('message', listener);
    socket?.send(JSON.stringify({ type: 'req', id: requestId, method, params }));
  });
}

async function prepare(sessionKey: string, { method, params }: { readonly method: string; readonly params: object }): Promise<void> {
  if (!prepared.has(sessionKey)) await ask('sessions.create', { key: sessionKey });
  prepared.add(sessionKey);
  const answer = (await ask(method, { ...params, sessionKey })) as { ok: boolean; error?: string };
  if (!answer.ok) throw new Error(`the turn could not be prepared: ${answer.error}`);
}

/** Resolves when all of the answer is there; with the time of its first bytes. */
function post(url: string, body: string, begunAt: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } },
      (response) => {
        let first: number | undefined;
        response.on('data', () => {
          first ??= performance.now() - begunAt;
        });
        response.on('end', () => resolve(first ?? 0));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

serveJobs(jobs);
