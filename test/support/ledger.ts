// The ledger: drives writers with a seeded workload, keeps an account of its own of every request (sent, answered, refused
// or nobody knows), and compares it with what the gateway says after it was killed, stopped or starved.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Session } from '@tenon/protocol';
import { type Door, type Link, openLink, type Outcome } from './chaos-link.ts';
import { type Request, SessionHistory } from './ledger-model.ts';
import { Chronicle, Observer } from './ledger-observer.ts';
import { createRandom, type Random } from './random.ts';

/** Below what one connection may have under way. */
const MAX_IN_FLIGHT = 100;
const RETRY_AFTER_MS = 10;

export interface LedgerOptions {
  readonly seed: number;
  readonly writers?: number;
  readonly sessionsPerWriter?: number;
  readonly observers?: number;
}

export interface Load {
  /** No further requests; resolves when every one that was sent has ended, one way or the other. */
  stop(): Promise<void>;
  readonly links: readonly Link[];
}

export interface Compared {
  readonly sessions: ReadonlyMap<string, Session>;
  /** Position of the last event. */
  readonly head: number;
}

export class Ledger {
  readonly stats = { sent: 0, answered: 0, refused: 0, unknown: 0, repeats: 0, conflicts: 0, comparisons: 0 };
  readonly chronicle = new Chronicle();
  readonly observers: readonly Observer[];
  readonly #random: Random;
  readonly #seed: number;
  readonly #writers: readonly SessionHistory[][];
  readonly #histories = new Map<string, SessionHistory>();
  readonly #requests = new Map<string, Request>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #waiting = new Set<{ until: () => boolean; resolve: () => void; reject: (error: Error) => void }>();
  #writing = 0;
  #failure: Error | undefined;

  constructor({ seed, writers = 4, sessionsPerWriter = 6, observers = 2 }: LedgerOptions) {
    this.#seed = seed;
    this.#random = createRandom(seed);
    this.#writers = Array.from({ length: writers }, (_, writer) =>
      Array.from({ length: sessionsPerWriter }, (_, n) => new SessionHistory(`agent:main:w${writer}-${n}`)),
    );
    for (const history of this.#writers.flat()) this.#histories.set(history.sessionKey, history);
    this.observers = Array.from({ length: observers }, (_, n) => new Observer(this.chronicle, addressOf(n)));
  }

  /** The requests that were answered so far, each once. */
  get answered(): Request[] {
    return [...this.#requests.values()].filter(({ answer }) => answer);
  }

  async observe(door: Door): Promise<void> {
    await Promise.all(this.observers.map((observer) => observer.connect(door)));
  }

  /** Writers write until they are stopped or cut off. */
  async load(door: Door): Promise<Load> {
    const stop = new AbortController();
    const links = await Promise.all(this.#writers.map((_, writer) => openLink(door, { from: addressOf(100 + writer) })));
    this.#writing = links.length;
    const writing = links.map((link, writer) => this.#write(link, writer, stop.signal).finally(() => this.#ended()));
    return {
      links,
      stop: async () => {
        stop.abort();
        await Promise.all(writing);
        await this.settled();
        for (const link of links) await link.cut();
      },
    };
  }

  /** Resolves as soon as it holds; looked at whenever something was sent or answered. Rejects when all writers were cut off. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiting.add({ until: holds, resolve, reject }));
  }

  /** Every request has ended. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (this.#failure) throw this.#failure;
  }

  /**
   * Nothing that was answered is missing, what was not is whole or absent, a repeat under the same key ends with one effect
   * and one answer, and another request under a used key is a conflict.
   */
  async compare(door: Door): Promise<Compared> {
    await this.settled();
    this.stats.comparisons++;
    const link = await openLink(door);
    this.#look(await readSessions(link));
    for (const request of this.#requests.values()) {
      if (!isOpen(request)) continue;
      this.send(link, request);
      if (this.#underWay.size >= MAX_IN_FLIGHT) await this.settled();
    }
    const { answered } = this;
    for (let n = 0; n < 12 && answered.length > 0; n++) {
      this.stats.repeats++;
      this.send(link, this.#random.pick(answered));
    }
    for (let n = 0; n < 3 && answered.length > 0; n++) await this.#expectConflict(link, this.#random.pick(answered));
    await this.settled();
    const sessions = await readSessions(link);
    this.#look(sessions);
    await link.cut();
    const last = await openLink(door, { connect: { caps: ['resume'] } });
    const { seq: head } = last.hello.events as { seq: number };
    await last.cut();
    return { sessions, head };
  }

  /** Every observer has everything up to the head, and the events of each session tell its story in the order of its revisions. */
  async compareEvents({ sessions, head }: Compared): Promise<void> {
    await Promise.all(this.observers.map((observer) => observer.reach(head)));
    if (this.observers.every(({ snapshots }) => snapshots > 0)) return;
    for (const [key] of this.#histories) {
      const changes = this.chronicle.changesOf(key);
      let session: Session | undefined;
      for (const change of changes) {
        assert.equal(change.reason === 'create', session === undefined, `${key}: ${change.reason} at ${change.seq}`);
        if (change.reason !== 'delete')
          assert.equal(change.session?.revision, (session?.revision ?? 0) + 1, `${key}: order at ${change.seq}`);
        session = change.session;
      }
      assert.deepEqual(sessions.get(key), session, `${key} is not what its events say`);
      const effects = [...this.#requests.values()].filter((request) => request.sessionKey === key && request.answer);
      assert.equal(changes.length, effects.length, `${key} has ${changes.length} events for ${effects.length} answered requests`);
      const told = new Set(changes.map((change) => JSON.stringify(change.session)));
      for (const { key: id, answer } of effects) {
        if (answer && 'session' in answer) assert.ok(told.has(JSON.stringify(answer.session)), `${id} was answered and has no event`);
      }
    }
  }

  /** Sends the request; its end is noted. */
  send(link: Link, request: Request): Promise<Outcome> {
    const attempt = this.#histories.get(request.sessionKey)!.add(request);
    this.stats.sent++;
    const sending = link.request(request.method, paramsOf(request)).then((outcome) => {
      const isUnknown = outcome.kind === 'unknown' || isOutcomeUnknown(outcome);
      attempt.outcome = isUnknown ? { kind: 'unknown' } : outcome;
      if (outcome.kind === 'unknown') attempt.lostWith = link;
      this.#note(request, attempt.outcome);
      this.#underWay.delete(sending);
      return attempt.outcome;
    });
    this.#underWay.add(sending);
    this.#tell();
    return sending;
  }

  /** A request of the given writer that it has not sent yet. */
  next(writer: number, random: Random): Request {
    const history = random.pick(this.#writers[writer]!);
    const key = `k${this.#requests.size}`;
    const roll = random.next();
    const method = !history.exists ? 'create' : roll < 0.72 ? 'patch' : roll < 0.87 ? 'reset' : 'delete';
    const fields: Request['fields'] = {};
    if (method === 'create' || method === 'patch') {
      fields.title = `${key} ${random.chance(0.2) ? 'x'.repeat(random.below(500)) : ''}`;
      if (random.chance(0.3)) fields.pinned = random.chance(0.5);
      if (random.chance(0.3)) fields.label = random.chance(0.3) ? null : `l${random.below(9)}`;
    }
    const request: Request = { key, sessionKey: history.sessionKey, method: `sessions.${method}`, fields };
    this.#requests.set(key, request);
    return request;
  }

  async #write(link: Link, writer: number, signal: AbortSignal): Promise<void> {
    const random = createRandom(this.#seed * 31 + writer + this.#requests.size * 7);
    const inFlight = new Set<Promise<Outcome>>();
    while (!signal.aborted && link.isOpen && !this.#failure) {
      const depth = 1 + random.below(12);
      const request = this.next(writer, random);
      const times = random.chance(0.25) ? 2 + random.below(4) : 1;
      for (let n = 0; n < times; n++) {
        const sending = this.send(link, request).finally(() => inFlight.delete(sending));
        inFlight.add(sending);
      }
      this.stats.repeats += times - 1;
      while (inFlight.size >= depth) {
        const outcome = await Promise.race(inFlight);
        // As a client should: not at once again.
        if (outcome.kind === 'refused') await pause(RETRY_AFTER_MS);
      }
    }
    await Promise.all(inFlight);
  }

  #ended(): void {
    this.#writing--;
    if (this.#writing > 0) return;
    for (const waiting of this.#waiting) waiting.reject(new Error('Every writer was cut off'));
    this.#waiting.clear();
  }

  #note(request: Request, outcome: Outcome): void {
    this.stats[outcome.kind]++;
    if (outcome.kind === 'answered') {
      request.answer ??= outcome.payload;
      if (!isDeepStrictEqual(request.answer, outcome.payload)) {
        this.#failure ??= new Error(
          `${request.key} was answered ${JSON.stringify(request.answer)} and then ${JSON.stringify(outcome.payload)}`,
        );
      }
    } else if (outcome.kind === 'refused') request.refusal = outcome.error.code;
    this.#tell();
  }

  #tell(): void {
    for (const waiting of this.#waiting) {
      if (!this.#failure && !waiting.until()) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  #look(sessions: ReadonlyMap<string, Session>): void {
    for (const key of sessions.keys()) assert.ok(this.#histories.has(key), `${key} was never asked for`);
    for (const [key, history] of this.#histories) history.observe(sessions.get(key));
  }

  async #expectConflict(link: Link, request: Request): Promise<void> {
    this.stats.conflicts++;
    const outcome = await link.request('sessions.patch', {
      key: request.sessionKey,
      idempotencyKey: request.key,
      title: 'another request',
    });
    assert.equal(outcome.kind === 'refused' && outcome.error.code, 'IDEMPOTENCY_CONFLICT', `${request.key}: ${JSON.stringify(outcome)}`);
  }
}

export async function readSessions(link: Link): Promise<Map<string, Session>> {
  const sessions = new Map<string, Session>();
  for (let cursor: string | undefined; ; ) {
    const page = await link.request('sessions.list', { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    if (page.kind !== 'answered') throw new Error(`sessions.list: ${JSON.stringify(page)}`);
    for (const session of page.payload.sessions as Session[]) {
      assert.ok(!sessions.has(session.key), `${session.key} is listed twice`);
      sessions.set(session.key, session);
    }
    cursor = page.payload.nextCursor as string | undefined;
    if (cursor === undefined) return sessions;
  }
}

/** Neither answered nor refused for good. */
function isOpen({ answer, refusal }: Request): boolean {
  return !answer && (refusal === undefined || refusal === 'STORAGE' || refusal === 'UNAVAILABLE');
}

function isOutcomeUnknown(outcome: Outcome): boolean {
  return outcome.kind === 'refused' && outcome.error.details?.code === 'OUTCOME_UNKNOWN';
}

export function paramsOf({ key, sessionKey, fields }: Request): Record<string, unknown> {
  return { key: sessionKey, idempotencyKey: key, ...fields };
}

function addressOf(n: number): string {
  return `127.0.${2 + (n >> 8)}.${1 + (n & 127)}`;
}
