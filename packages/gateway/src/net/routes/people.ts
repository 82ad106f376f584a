// What extensions ask people, over HTTP: for runs elsewhere whose questions are relayed to this gateway, and for whoever answers
// without a socket. The rules are those of the socket: the same credentials, the same scopes, the first answer counts.
import { explain, GatewayError, limits, matches, OwnerId, RandomId, SessionKey, type UiReply } from '@tenon/protocol';
import { isUiKind } from '@tenon/protocol/sep/wire';
import { type Static, type TSchema, Type } from 'typebox';
import { json } from '../answer.ts';
import { jsonOf } from '../body.ts';
import { joinConnections } from '../join-connections.ts';
import { JSON_TYPES, type Routes } from '../route.ts';

const Asked = Type.Object({
  ext: OwnerId,
  kind: Type.String({ maxLength: 64 }),
  params: Type.Optional(Type.Object({})),
  session_key: Type.Optional(SessionKey),
  /** The name of others for where the run takes place; a session where it is the key of one. */
  task_id: Type.Optional(Type.String({ maxLength: 256 })),
});

const Answered = Type.Object({
  request_id: RandomId,
  value: Type.Optional(Type.String({ maxLength: limits.uiPromptChars.value })),
  confirmed: Type.Optional(Type.Boolean()),
  text: Type.Optional(Type.String({ maxLength: limits.uiAnswerChars.value })),
  cancelled: Type.Optional(Type.Boolean()),
});

const BODY = { maxBytes: 262_144, types: JSON_TYPES };

export const peopleRoutes: Routes = {
  '/api/ui/request': {
    method: 'POST',
    scope: 'operator.write',
    bound: 'own-session',
    body: BODY,
    async handle(call, deps) {
      const { ext, kind, params = {}, session_key, task_id } = bodyOf(Asked, call.body);
      const { principal } = call;
      if (!isUiKind(kind)) throw invalid(`body/kind: there is no kind "${kind}"`);
      const { context: _context, ...said } = params as Record<string, unknown>;
      // Loaded when it is needed: every start would wait for the schemas of extensions.
      const { readParams } = await import('@tenon/protocol/sep');
      const read = readParams('ui/request', { ...said, kind });
      if (!read.ok) throw invalid(`body/${read.message}`);
      const named = session_key ?? (matches(SessionKey, task_id) ? task_id : undefined);
      const sessionKey = named ?? principal.sessionKey;
      if (sessionKey === undefined) throw invalid('body/session_key is missing: it says who is asked');
      if (principal.sessionKey !== undefined && sessionKey !== principal.sessionKey)
        throw new GatewayError('NOT_FOUND', `Cannot find session "${sessionKey}"`);
      await deps.store.read('sessions.expect', { key: sessionKey });
      const ended = new AbortController();
      const connection = joinConnections(call, deps, (why) => ended.abort(why));
      try {
        const signal = AbortSignal.any([call.gone, ended.signal]);
        const answer = await deps.ui.request({ sessionKey, extension: ext, via: principal.id }, read.value, signal);
        if (ended.signal.aborted) throw ended.signal.reason;
        return json(200, answer);
      } finally {
        deps.connections.remove(connection);
      }
    },
  },

  '/api/ui/answer': {
    method: 'POST',
    scope: 'operator.write',
    bound: 'own-session',
    body: BODY,
    async handle({ body, principal }, { store, clock, ui }) {
      const { request_id: id, ...said } = bodyOf(Answered, body);
      const reply = replyOf(said);
      const boundTo = principal.sessionKey === undefined ? {} : { boundTo: principal.sessionKey };
      try {
        await store.write('ui.answer', { id, reply, by: principal.id, ...boundTo, at: clock.now() });
      } catch (error) {
        // Settled, expired or not there: somebody else was faster, and that is no fault of whoever asks.
        if (error instanceof GatewayError && (error.code === 'GONE' || error.code === 'NOT_FOUND')) return json(200, { ok: false });
        throw error;
      }
      ui.answered(id, reply);
      return json(200, { ok: true });
    },
  },
};

function replyOf({ value, confirmed, text, cancelled }: Omit<Static<typeof Answered>, 'request_id'>): UiReply {
  if (cancelled === true) return { cancelled: true };
  const given = [
    ...(value === undefined ? [] : [{ value }]),
    ...(confirmed === undefined ? [] : [{ confirmed }]),
    ...(text === undefined ? [] : [{ text }]),
  ];
  const [reply] = given;
  if (!reply || given.length > 1) throw invalid('body takes one of value, confirmed, text and cancelled');
  return reply;
}

function bodyOf<Schema extends TSchema>(schema: Schema, body: Buffer): Static<Schema> {
  const given = jsonOf(body);
  if (matches(schema, given)) return given;
  throw invalid(explain(schema, given, 'body') ?? 'The body does not fit');
}

function invalid(message: string): GatewayError {
  return new GatewayError('INVALID_REQUEST', message, { details: { code: 'INVALID_PARAMS' } });
}
