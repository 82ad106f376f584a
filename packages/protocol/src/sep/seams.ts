// Methods beyond SEP: the seams of the gateway that plugins have in the process, for extensions. They are taken only under
// capabilities that the handshake enables. What a seam takes is said once, for plugins; here it has the names of the wire, and
// the session may be given by a context: that of the dispatch in which it is asked.
import { Type, type Static, type TObject, type TProperties } from 'typebox';
import { ItemName } from '../contributions.ts';
import { Decision, Risk } from '../approval.ts';
import { ApprovalRequest } from '../hooks/tools.ts';
import { answerFields, lateParams } from '../late-params.ts';
import { Count, OwnerId, RandomId, SessionKey, Timestamp } from '../names.ts';
import { ScopeList } from '../scopes.ts';
import { Session, sessionFields } from '../session.ts';
import { EntryId, RunId } from '../transcript.ts';
import { AnyObject, Anything, closed, Context, Empty, Text } from './shapes.ts';
import { snake, type Snake } from './snake.ts';

const Optional = Type.Optional;

/** Which session it is about: that of the context, or this one. One of them is needed; the key wins. */
const place = { context: Optional(Context), session_key: Optional(SessionKey) };
type Place = Static<TObject<typeof place>>;

/** What a call of a plugin takes, with the place of the wire instead of the key of the session. */
function placed<Properties extends TProperties>(params: TObject<Properties>) {
  const { sessionKey: _, ...properties } = params.properties;
  const wire = snake(Type.Object(properties, closed)) as unknown as TObject;
  return Type.Unsafe<Place & Snake<Omit<Static<TObject<Properties>>, 'sessionKey'>>>(Type.Object({ ...place, ...wire.properties }, closed));
}

/** Where something was asked for, and by whom. */
const dispatched = { context: Context, session_key: SessionKey, agent_id: OwnerId };
const client = Type.Object({ scopes: ScopeList }, closed);

const CleanupReason = Type.Enum(['reset', 'delete', 'disable', 'restart']);

const Injection = snake(answerFields.inject);

/** What is committed together with an answer. */
const effects = {
  continue_agent: Optional(Type.Boolean()),
  state_patch: Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'namespace → value; null removes it' }),
  ),
  inject: Optional(Type.Array(Injection, { maxItems: 32 })),
};

const ActionAnswer = Type.Union([
  Type.Object(
    {
      ok: Optional(Type.Literal(true)),
      result: Optional(Anything),
      reply: Optional(Type.String({ description: 'said in the conversation' })),
      ...effects,
    },
    closed,
  ),
  Type.Object(
    {
      ok: Type.Literal(false),
      error: Type.String({ minLength: 1, maxLength: 4_096 }),
      code: Optional(Type.String({ minLength: 1, maxLength: 128 })),
      details: Optional(Anything),
    },
    closed,
  ),
]);

const { permissions: _permissions, ...patchFields } = sessionFields;
const PatchAnswer = Type.Union([
  Type.Object(
    {
      ok: Type.Literal(true),
      // Beside these, the slots that the extension has registered.
      entry_patch: Optional(Type.Object(patchFields)),
      ...effects,
    },
    closed,
  ),
  Type.Object({ ok: Type.Literal(false), error: Type.String({ minLength: 1, maxLength: 4_096 }) }, closed),
]);

const PolicyAnswer = Type.Union([
  Type.Object({ decision: Type.Literal('allow'), arguments: Optional(AnyObject) }, closed),
  Type.Object({ decision: Type.Literal('deny'), reason: Optional(Text) }, closed),
  Type.Object({ decision: Type.Literal('ask'), approval: snake(ApprovalRequest), arguments: Optional(AnyObject) }, closed),
]);

const Stored = Type.Object({ value: Anything, revision: Count }, closed);
const namespace = ItemName;

export const seamMethods = {
  'kv/compare_and_set': {
    params: Type.Object({ key: Text, expected: Anything, value: Anything }, closed),
    result: Type.Object({ swapped: Type.Boolean(), value: Anything }, closed),
  },
  'action/execute': {
    params: Type.Object({ ...dispatched, action: ItemName, payload: Optional(Anything), run_id: Optional(RunId), client }, closed),
    result: ActionAnswer,
  },
  'patch_action/execute': {
    params: Type.Object({ ...dispatched, action: ItemName, entry: snake(Session), payload: Optional(Anything), client }, closed),
    result: PatchAnswer,
  },
  'policy/decide': {
    params: Type.Object(
      {
        ...dispatched,
        ...{ policy: ItemName, tool: Text, arguments: AnyObject, call_id: Text, run_id: RunId, risk: Risk, workspace_dir: Text },
        ...{ derived_paths: Optional(Type.Array(Text)), command_words: Optional(Type.Array(Text)), hosts: Optional(Type.Array(Text)) },
      },
      closed,
    ),
    result: PolicyAnswer,
  },
  'interaction/press': {
    params: Type.Object({ ...dispatched, channel: Text, namespace: Text, payload: Text, callback_id: Optional(Text), client }, closed),
    result: Type.Object({ text: Optional(Text) }, closed),
  },
  'schedule/due': {
    params: Type.Object(
      {
        ...{ ...dispatched, handler: ItemName, run_id: RunId, job_id: RandomId, name: Text, tag: Optional(Text), message: Text },
        due_at: Timestamp,
      },
      closed,
    ),
    result: Type.Object({ handled: Type.Boolean(), reply: Optional(Type.String({ maxLength: 32_768 })) }, closed),
  },
  'schedule/clean_up': {
    params: Type.Object({ context: Context, job: ItemName, reason: CleanupReason, session_key: Optional(SessionKey) }, closed),
    result: Empty,
  },
  'gateway_method/call': {
    params: Type.Object({ context: Context, name: Text, params: Anything, client }, closed),
    result: Type.Object({ result: Anything }, closed),
  },
  'startup_check/run': {
    params: Type.Object({ context: Context, check: ItemName }, closed),
    result: Type.Object({ ok: Type.Boolean(), message: Text }, closed),
  },
  'state/get': { params: Type.Object({ ...place, namespace }, closed), result: Stored },
  'state/patch': {
    params: Type.Object({ ...place, namespace, value: Anything, if_revision: Optional(Count) }, closed),
    result: Type.Object({ revision: Count }, closed),
  },
  'state/list': {
    params: Type.Object({ namespace }, closed),
    result: Type.Object({ sessions: Type.Array(Type.Object({ session_key: SessionKey, ...Stored.properties }, closed)) }, closed),
  },
  'injection/enqueue': {
    params: placed(lateParams['session.workflow.enqueueNextTurnInjection']),
    result: Type.Object({ id: Text, session_key: SessionKey }, closed),
  },
  'turn/continue': {
    params: placed(lateParams['session.workflow.continueAgent']),
    result: Type.Object({ run_id: Optional(RunId) }, closed),
  },
  'schedule/turn': {
    params: placed(lateParams['session.workflow.scheduleSessionTurn']),
    result: Type.Object({ id: RandomId, session_key: SessionKey, next_at: Timestamp }, closed),
  },
  'schedule/remove': {
    params: placed(lateParams['session.workflow.unscheduleSessionTurnsByTag']),
    result: Type.Object({ removed: Count }, closed),
  },
  'attachment/send': {
    params: placed(lateParams['session.workflow.sendSessionAttachment']),
    result: Type.Object(
      {
        ...{ channel: Text, delivered_to: Text, count: Count, delivery_id: RandomId, entry_id: EntryId },
        state: Type.Enum(['sent', 'waiting', 'failed']),
      },
      closed,
    ),
  },
  'attachment/update': {
    params: placed(lateParams['session.workflow.updateSessionAttachment']),
    result: Type.Object(
      {
        ...{ delivery_id: RandomId, entry_id: EntryId, revision: Count, changed: Type.Boolean() },
        edits: Type.Enum(['waiting', 'done', 'none', 'failed']),
      },
      closed,
    ),
  },
  'approval/request': {
    params: placed(lateParams['session.workflow.requestApproval']),
    result: Type.Object({ decision: Decision, by: Type.Enum(['person', 'rule', 'timeout']) }, closed),
  },
  'action_required/notify': {
    params: placed(lateParams['session.workflow.notifyActionRequired']),
    result: Type.Object({ id: RandomId }, closed),
  },
  'action_required/withdraw': {
    params: placed(lateParams['session.workflow.withdrawActionRequired']),
    result: Type.Object({ withdrawn: Count }, closed),
  },
  'stream/emit': {
    params: Type.Object(
      { ...place, run_id: Optional(RunId), stream: Type.String({ minLength: 1, maxLength: 128 }), data: Anything },
      closed,
    ),
    result: Empty,
  },
  'gateway_event/emit': {
    params: Type.Object({ name: ItemName, data: Anything, session_key: Optional(SessionKey) }, closed),
    result: Empty,
  },
};
