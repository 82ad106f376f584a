// What a session must look like after what was asked of it. A request whose end nobody saw has two possible pasts: all of
// them are kept until an answer or a look at the session rules some out. When none is left, a promise was broken.
import { isDeepStrictEqual } from 'node:util';
import type { Session } from '@tenon/protocol';
import type { Outcome } from './chaos-link.ts';

export interface Request {
  readonly key: string;
  readonly sessionKey: string;
  readonly method: 'sessions.create' | 'sessions.patch' | 'sessions.reset' | 'sessions.delete';
  readonly fields: { title?: string; label?: string | null; pinned?: boolean };
  /** The first answer: every repeat must give the same. */
  answer?: Answer;
  /** The code of its last refusal. */
  refusal?: string;
}

type Answer = { readonly session: Session } | { readonly key: string; readonly deleted: true };

/** One sending of a request. Attempts at one session are made on one connection, so their order is that of arrival. */
export interface Attempt {
  readonly request: Request;
  /** Undefined while it is under way. */
  outcome: Outcome | undefined;
  /** The connection that it was lost with: of what is lost together, the first part may have happened, never only a later one. */
  lostWith?: object;
}

/** What is not known, because no answer told it, is left out. */
type Seen = Pick<Session, 'title' | 'label' | 'pinned' | 'revision'> & Partial<Session>;

interface Past {
  readonly session: Seen | undefined;
  /** Requests that have happened without an answer: what each would have answered. */
  readonly silent: ReadonlyMap<string, Seen | undefined>;
  /** Of those that were lost together, one has not happened: none after it has. */
  readonly stoppedAt: object | undefined;
}

export class SessionHistory {
  readonly sessionKey: string;
  readonly #attempts: Attempt[] = [];
  #pasts: Past[] = [{ session: undefined, silent: new Map(), stoppedAt: undefined }];
  #done = 0;
  #latest: Attempt | undefined;
  readonly #answered = new Set<string>();

  constructor(sessionKey: string) {
    this.sessionKey = sessionKey;
  }

  add(request: Request): Attempt {
    const attempt: Attempt = { request, outcome: undefined };
    this.#attempts.push(attempt);
    if (!request.answer) this.#latest = attempt;
    return attempt;
  }

  /** Rules out what does not fit the outcomes. All attempts must have one. */
  settle(): void {
    for (; this.#done < this.#attempts.length; this.#done++) {
      const attempt = this.#attempts[this.#done]!;
      const before = this.#pasts;
      const isRepeat = this.#answered.has(attempt.request.key);
      this.#pasts = distinct(before.flatMap((past) => (isRepeat ? afterRepeat(past, attempt) : after(past, attempt))));
      if (attempt.outcome?.kind === 'answered') this.#answered.add(attempt.request.key);
      if (this.#pasts.length === 0) throw this.#broken(`cannot have answered ${JSON.stringify(attempt.outcome)}`, before, attempt);
    }
  }

  /** What a read has found. */
  observe(found: Session | undefined): void {
    this.settle();
    const before = this.#pasts;
    const fitting = before.filter(({ session }) => looksLike(session, found));
    this.#pasts = distinct(fitting.map((past) => learn(past, found)));
    if (this.#pasts.length === 0) throw this.#broken(`cannot be ${JSON.stringify(found)}`, before);
  }

  /** What the next request will find, if all that was asked for happens. */
  get exists(): boolean {
    const last = this.#latest;
    if (last?.outcome?.kind === 'refused' && last.outcome.error.code === 'NOT_FOUND') return false;
    return last !== undefined && last.request.method !== 'sessions.delete';
  }

  #broken(what: string, pasts: readonly Past[], attempt?: Attempt): Error {
    const recent = this.#attempts
      .slice(-20)
      .map(({ request, outcome }) => `  ${request.key} ${request.method} ${JSON.stringify(request.fields)} → ${JSON.stringify(outcome)}`);
    const possible = pasts.slice(0, 5).map(({ session, silent }) => `  ${JSON.stringify(session)} without answer: ${[...silent.keys()]}`);
    return new Error(
      `${this.sessionKey} ${what}${attempt ? ` to ${attempt.request.key}` : ''}\nIt could be:\n${possible.join('\n')}\nAfter:\n${recent.join('\n')}`,
    );
  }
}

function after(past: Past, { request, outcome, lostWith }: Attempt): Past[] {
  if (outcome === undefined) throw new Error(`${request.key} has no outcome yet`);
  switch (outcome.kind) {
    case 'unknown': {
      if (past.silent.has(request.key)) return [past];
      const effect = apply(past.session, request);
      if (effect === 'refused' || (lostWith && past.stoppedAt === lostWith)) return [past];
      const happened: Past = { ...past, session: effect, silent: new Map(past.silent).set(request.key, effect) };
      return [happened, { ...past, stoppedAt: lostWith }];
    }
    case 'refused': {
      if (past.silent.has(request.key)) return [];
      if (isPassing(outcome.error)) return [past];
      return apply(past.session, request) === 'refused' ? [past] : [];
    }
    case 'answered': {
      const answer = outcome.payload as Answer;
      const told = 'session' in answer ? answer.session : undefined;
      if (past.silent.has(request.key)) {
        const effect = past.silent.get(request.key);
        if (!looksLike(effect, told)) return [];
        const silent = new Map(past.silent);
        silent.delete(request.key);
        // The answer tells what was not known of a session that has not changed since.
        return [{ ...past, silent, session: past.session === effect ? told : past.session }];
      }
      const effect = apply(past.session, request);
      return effect !== 'refused' && looksLike(effect, told) ? [{ ...past, session: told }] : [];
    }
  }
}

/** A repeat of what was answered changes nothing. That it gets the first answer is checked where it arrives. */
function afterRepeat(past: Past, { outcome }: Attempt): Past[] {
  return outcome?.kind === 'refused' && !isPassing(outcome.error) ? [] : [past];
}

/** Refused without an effect, for a reason that lies elsewhere. */
function isPassing({ code }: { code: string }): boolean {
  return code === 'STORAGE' || code === 'UNAVAILABLE';
}

function learn(past: Past, found: Session | undefined): Past {
  const silent = new Map([...past.silent].map(([key, effect]) => [key, effect === past.session ? found : effect]));
  return { ...past, session: found, silent };
}

function apply(session: Seen | undefined, { method, fields }: Request): Seen | undefined | 'refused' {
  if (method === 'sessions.create') {
    return session ? 'refused' : { title: fields.title ?? '', label: fields.label ?? null, pinned: fields.pinned ?? false, revision: 1 };
  }
  if (!session) return 'refused';
  if (method === 'sessions.delete') return undefined;
  // Times move with every change, the id with a reset: both are known when an answer tells them.
  const { updatedAt: _, ...kept } = session;
  const changed = { ...kept, ...fields, revision: session.revision + 1 };
  if (method === 'sessions.reset') delete changed.sessionId;
  return changed;
}

function looksLike(expected: Seen | undefined, found: Session | undefined): boolean {
  if (!expected || !found) return expected === found;
  return Object.entries(expected).every(([name, value]) => found[name as keyof Session] === value);
}

function distinct(pasts: readonly Past[]): Past[] {
  const kept: Past[] = [];
  for (const past of pasts) {
    if (
      !kept.some((each) => each.stoppedAt === past.stoppedAt && isDeepStrictEqual([each.session, each.silent], [past.session, past.silent]))
    )
      kept.push(past);
  }
  return kept;
}
