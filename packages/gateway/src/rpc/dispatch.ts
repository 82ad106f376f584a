// A request, from top to bottom: row → scope → params → handler (which commits and so finds an earlier answer to the
// same key) → one catch → response. It stays synchronous up to the handler, so requests keep their order.
import {
  explain,
  GatewayError,
  isMethodName,
  limits,
  matches,
  type MethodName,
  methodRow,
  type RequestFrame,
  type Scope,
} from '@tenon/protocol';
import { canonical } from '../kernel/canonical.ts';
import { faultpoint } from '../kernel/fault.ts';
import { randomId, sha256 } from '../kernel/ids.ts';
import { createLanes, type Lanes } from '../kernel/lane.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { type AnswerSlot, isDraft } from '../store/answers.ts';
import type { Store } from '../store/store.ts';
import type { Connection } from './connections.ts';
import { callPluginMethod, isPluginMethod } from './plugin-rpc.ts';
import type { Committed, Handlers, RequestContext, Services } from './handler.ts';

/** Contract: must not throw or reject. Gives the text of the response frame and whether the request itself was refused. */
export type Dispatch = (frame: RequestFrame, connection: Connection) => Promise<Answered> | Answered;

export interface Answered {
  readonly text: string;
  /** Unknown method, bad params, no scope: what a well-made client never sends twice. */
  readonly refused: boolean;
}

const REFUSALS: ReadonlySet<string> = new Set(['UNKNOWN_METHOD', 'INVALID_REQUEST', 'SCOPE', 'PARSE']);

export function createDispatch(handlers: Handlers, services: Services, metrics: Metrics): Dispatch {
  metrics.describe('tenon_requests_total', 'Requests by method and outcome.');
  const lanes = createLanes();
  /** Made once, because it is what is counted most. */
  const succeeded = new Map(Object.keys(handlers).map((method) => [method, Object.freeze({ method, outcome: 'ok' })]));

  return function dispatch(frame, connection) {
    try {
      if (isPluginMethod(frame.method)) return callPlugin(frame, connection);
      const method = admit(frame, connection);
      const params = checkParams(method, frame.params ?? {});
      const result = callHandler(method, params, connection);
      if (!(result instanceof Promise)) return succeed(frame, result);
      return result.then(
        (value) => succeed(frame, value),
        (error: unknown) => fail(frame, error),
      );
    } catch (error) {
      return fail(frame, error);
    }
  };

  function callHandler(method: MethodName, params: Record<string, unknown>, connection: Connection): unknown {
    keepToSession(method, params, connection);
    const slot = slotOf(method, params, connection.principal.id, services.clock.now());
    const handler = handlers[method] as unknown as AnyHandler;
    if (typeof handler === 'object' && 'complete' in handler) return callDrafting(handler, params, slot, connection);
    const context = createContext(slot, connection, services, lanes);
    if (typeof handler === 'function') return orEarlier(slot, () => handler(params, context));
    return orEarlier(slot, () => handler.commit(params, context)).then((stored) => handler.present(stored, context));
  }

  /** What was answered once is answered again, also where the request would be refused by now. */
  function orEarlier<Answer>(slot: AnswerSlot | undefined, answer: () => Answer, read = (earlier: unknown) => earlier): Answer {
    if (!slot) return answer();
    const refused = async (error: unknown) => {
      const earlier = error instanceof GatewayError ? await services.store.read('answer.find', slot) : undefined;
      if (!earlier) throw error;
      return read(earlier.answer);
    };
    try {
      const made = answer();
      return made instanceof Promise ? (made.catch(refused) as Answer) : made;
    } catch (error) {
      return refused(error) as Answer;
    }
  }

  /** What is committed may lack something: it is added, and the whole is kept before anybody gets it. */
  async function callDrafting(
    handler: DraftingHandler,
    params: Record<string, unknown>,
    slot: AnswerSlot | undefined,
    connection: Connection,
  ): Promise<unknown> {
    const mayLack = handler.isDraft(services);
    // With a key it is the store that knows: a repeat finds what was kept, whatever plugins show now.
    let lacks = mayLack && !slot;
    const read = (answer: unknown) => {
      lacks = isDraft(answer);
      return isDraft(answer) ? answer.$draft : answer;
    };
    const context = createContext(slot && mayLack ? { ...slot, isDraft: true } : slot, connection, services, lanes, slot && read);
    const stored = await orEarlier(slot, () => handler.commit(params, context), read);
    if (!lacks) return stored;
    const answer = await handler.complete(stored, context);
    if (!slot) return answer;
    return services.store.write('answer.complete', { slot, lane: `${slot.principal}\n${slot.key}`, answer });
  }

  function callPlugin(frame: RequestFrame, connection: Connection): Promise<Answered> {
    requireValid(connection);
    return callPluginMethod(frame.method, frame.params ?? {}, connection.principal, services.plugins()).then(
      (value) => succeed(frame, value),
      (error: unknown) => fail(frame, error),
    );
  }

  function succeed(frame: RequestFrame, payload: unknown): Answered {
    faultpoint('dispatch.before-reply');
    metrics.count('tenon_requests_total', succeeded.get(frame.method) ?? { method: frame.method, outcome: 'ok' });
    const text = `{"type":"res","id":${JSON.stringify(frame.id)},"ok":true,"payload":${JSON.stringify(payload)}}`;
    if (text.length > limits.maxPayload.value)
      return fail(frame, new GatewayError('TOO_LARGE', 'The answer is too large; ask for fewer rows'));
    return { text, refused: false };
  }

  /** The one catch. What is not a refusal is a fault of ours: the log gets all of it, the client a reference. */
  function fail(frame: RequestFrame, error: unknown): Answered {
    let refusal: GatewayError;
    if (error instanceof GatewayError) refusal = error;
    else {
      const reference = randomId(6);
      services.log.error({ error, method: frame.method, reference }, 'a request failed');
      refusal = new GatewayError('INTERNAL', 'The gateway could not do this because of a fault of its own', { details: { reference } });
    }
    if (refusal.code === 'STORAGE') services.log.error({ method: frame.method, cause: refusal.cause }, refusal.message);
    metrics.count('tenon_requests_total', { method: isMethodName(frame.method) ? frame.method : 'unknown', outcome: refusal.code });
    return {
      text: JSON.stringify({ type: 'res', id: frame.id, ok: false, error: refusal.toShape() }),
      refused: REFUSALS.has(refusal.code),
    };
  }
}

/** A row of the handler table as dispatch sees it; the compiler has checked each against its own types. */
type AnyHandler =
  | ((params: unknown, context: RequestContext) => unknown)
  | { commit(params: unknown, context: RequestContext): Promise<unknown>; present(stored: unknown, context: RequestContext): unknown }
  | DraftingHandler;

interface DraftingHandler {
  isDraft(services: Services): boolean;
  commit(params: unknown, context: RequestContext): Promise<unknown>;
  complete(draft: unknown, context: RequestContext): Promise<unknown>;
}

/** Scope before params: who lacks the right learns nothing about the schema and costs nothing. */
function admit(frame: RequestFrame, connection: Connection): MethodName {
  requireValid(connection);
  if (frame.method === 'connect') throw new GatewayError('INVALID_REQUEST', 'This connection is connected already');
  if (!isMethodName(frame.method)) throw new GatewayError('UNKNOWN_METHOD', `There is no method "${frame.method.slice(0, 64)}"`);
  const { scope } = methodRow(frame.method);
  if (scope !== 'any') requireScope(scope, connection);
  return frame.method;
}

function requireValid({ revoked }: Connection): void {
  if (revoked)
    throw new GatewayError('UNAUTHORIZED', 'The credential of this connection is no longer valid', { details: { code: 'AUTH_REVOKED' } });
}

function requireScope(scope: Scope, { principal }: Connection): void {
  if (principal.held.has(scope)) return;
  throw new GatewayError('SCOPE', `This needs the scope ${scope}`, {
    details: { code: 'MISSING_SCOPE', missingScope: scope, requiredScopes: [scope] },
  });
}

function checkParams(method: MethodName, params: unknown): Record<string, unknown> {
  const { params: schema } = methodRow(method);
  if (!matches(schema, params)) {
    throw new GatewayError('INVALID_REQUEST', explain(schema, params, 'params') ?? 'params do not fit', {
      details: { code: 'INVALID_PARAMS' },
    });
  }
  return params as Record<string, unknown>;
}

/**
 * A credential that is bound to one session sees nothing else. Another session and one that does not exist are refused at
 * the same place in the same way, so neither the answer nor its time tells them apart.
 */
function keepToSession(method: MethodName, params: Record<string, unknown>, connection: Connection): void {
  const own = connection.principal.sessionKey;
  if (own === undefined) return;
  const { bound, scope } = methodRow(method);
  if (bound === 'filtered' || (bound === undefined && scope === 'any')) return;
  if (bound === undefined)
    throw new GatewayError('SCOPE', 'This credential is bound to one session', { details: { code: 'SESSION_BOUND' } });
  const key = params[bound.param];
  if (key === undefined)
    throw new GatewayError('SCOPE', `This credential is bound to one session: name it in params/${bound.param}`, {
      details: { code: 'SESSION_BOUND' },
    });
  if (key !== own) throw new GatewayError('NOT_FOUND', `Cannot find session "${String(key)}"`);
}

/** `read`: what a handler sees of an answer that the store gave. */
function createContext(
  slot: AnswerSlot | undefined,
  connection: Connection,
  services: Services,
  lanes: Lanes,
  read?: (answer: unknown) => unknown,
): RequestContext {
  const { principal } = connection;
  const keepAnswer = async <Answer>(answer: Answer) =>
    (slot ? await services.store.write('answer.record', { answer }, slot) : answer) as Committed<Answer>;
  const own: Omit<RequestContext, keyof Services> & { readonly __proto__: Services } = {
    // The parts are behind it: to copy them would cost more than most requests.
    __proto__: services,
    principal,
    connection,
    commit: (name, args) =>
      (read ? services.store.write(name, args, slot).then(read) : services.store.write(name, args, slot)) as Promise<never>,
    keepAnswer,
    commitAnswer: <Answer>(effect: () => Promise<Answer>) =>
      (slot ? firstAnswer(slot, async () => keepAnswer(await effect()), services.store, lanes) : effect()) as Promise<Committed<Answer>>,
    commitAfter: <Answer>(effect: () => Promise<Committed<Answer>>) =>
      (slot ? firstAnswer(slot, effect, services.store, lanes, read) : effect()) as Promise<Committed<Answer>>,
    get actor() {
      return { actor: principal.id, at: services.clock.now(), held: [...principal.held] };
    },
  };
  return own as unknown as RequestContext;
}

/** One after another for each key, so that a repeat that comes at the same time finds the answer too. */
function firstAnswer(
  slot: AnswerSlot,
  answer: () => Promise<unknown>,
  store: Store,
  lanes: Lanes,
  read: (answer: unknown) => unknown = (earlier) => earlier,
): Promise<unknown> {
  return lanes.run(`${slot.principal}\n${slot.key}`, async () => {
    const earlier = await store.read('answer.find', slot);
    return earlier ? read(earlier.answer) : answer();
  });
}

function slotOf(method: MethodName, params: Record<string, unknown>, principal: string, at: number): AnswerSlot | undefined {
  if (typeof params.idempotencyKey !== 'string') return undefined;
  const { idempotencyKey, ...rest } = params;
  return { principal, key: idempotencyKey as string, method, digest: sha256(`${method}\n${canonical(rest)}`), at };
}
