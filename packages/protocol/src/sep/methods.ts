// Params and results of every method, as they are written: closed objects, so that a misspelt field is found by whoever wrote it.
// How they are read stands in read.ts. Methods beyond SEP stand in seams.ts.
import { Type, type Static, type TSchema } from 'typebox';
import { AnyObject, Anything, closed, Context, Empty, Id, Name, Text } from './shapes.ts';
import { LaterRegistrations, Registrations } from './registrations.ts';
import { seamMethods } from './seams.ts';
import { UiAnswer, UiRequest } from './ui.ts';
import { furtherHookNames, groupNames, hookNames, logLevels, modes, type SepMethodName } from './wire.ts';

export interface MethodShapes {
  readonly params: TSchema;
  /** Not of a notification. */
  readonly result?: TSchema;
}

const Optional = Type.Optional;
const Version = Type.Integer({ minimum: 1 });
const Party = Type.Object({ name: Text, version: Text }, closed);

const Groups = Type.Unsafe<Readonly<Record<string, boolean>>>({
  type: 'object',
  properties: Object.fromEntries(groupNames.map((group) => [group, { type: 'boolean' }])),
  additionalProperties: { type: 'boolean' },
});

const Outcome = Type.Union([
  Type.Object({ action: Type.Literal('continue') }, closed),
  Type.Object({ action: Type.Literal('block'), reason: Optional(Text) }, closed),
  Type.Object({ action: Type.Literal('modify'), patch: AnyObject }, closed),
]);

const Tokens = Optional(Type.Integer({ minimum: 0 }));
const Completed = Type.Object(
  {
    content: Optional(Text),
    tool_calls: Optional(Type.Array(Type.Object({ id: Text, name: Text, arguments: Anything }, closed))),
    finish_reason: Optional(Type.String({ description: 'stop, tool_calls, length; without one, stop' })),
    usage: Optional(Type.Object({ prompt_tokens: Tokens, completion_tokens: Tokens, total_tokens: Tokens, cached_tokens: Tokens })),
    reasoning_content: Optional(Text),
    resolved_model: Optional(Text),
  },
  closed,
);

const Credentials = Type.Object(
  {
    api_key: Optional(Text),
    access_token: Optional(Text),
    refresh_token: Optional(Text),
    expires_at: Optional(Type.Integer({ description: 'seconds since 1970' })),
    extra: Optional(AnyObject),
  },
  closed,
);

const CallId = Type.String({ description: 'names this call in tool/update' });
const Bare = Type.String({ description: 'without the name of the extension' });
const Value = Type.Object({ value: Anything }, closed);
const Key = Type.Object({ key: Text }, closed);
const inSession = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object({ context: Context, ...properties }, closed);

const plainMethods = {
  initialize: {
    params: Type.Object(
      {
        protocol_version: Version,
        host: Party,
        workspace: Type.Object({ root: Type.String({ description: 'an absolute path' }), trusted: Type.Boolean() }, closed),
        mode: Type.Enum([...modes]),
        session: Optional(Type.Object({ id: Optional(Text) }, closed)),
        ui_capabilities: Optional(Type.Array(Text)),
        flags: Optional(AnyObject),
        capabilities_enabled: Optional(Groups),
      },
      closed,
    ),
    result: Type.Object({ protocol_version: Version, extension: Party, registrations: Optional(Registrations) }, closed),
  },
  shutdown: { params: Empty, result: Empty },
  ping: { params: Empty, result: Empty },
  '$/cancel': { params: Type.Object({ id: Id }, closed) },
  event: {
    params: Type.Object(
      { event: Name, context: Context, seq: Optional(Type.Integer({ minimum: 0 })), payload: Optional(AnyObject) },
      closed,
    ),
  },
  hook: {
    params: Type.Object({ hook: Type.Enum([...hookNames, ...furtherHookNames]), context: Context, input: AnyObject }, closed),
    result: Outcome,
  },
  'tool/execute': {
    params: Type.Object({ call_id: CallId, tool: Bare, arguments: AnyObject, context: Context }, closed),
    result: Type.Object({ content: Text, is_error: Optional(Type.Boolean()), details: Optional(Anything) }, closed),
  },
  'command/execute': {
    params: Type.Object({ command: Bare, context: Context, arguments: Optional(AnyObject) }, closed),
    result: Type.Object({ content: Optional(Text) }, closed),
  },
  'command/complete': {
    params: Type.Object(
      { command: Bare, context: Context, partial: Optional(Type.String({ description: 'what is typed after the command so far' })) },
      closed,
    ),
    result: Type.Object({ completions: Optional(Type.Array(Type.Object({ value: Text, description: Optional(Text) }, closed))) }, closed),
  },
  'provider/complete': {
    params: Type.Object(
      {
        ...{ request_id: Text, provider: Text, model: Text, messages: Type.Array(AnyObject), tools: Optional(Type.Array(AnyObject)) },
        ...{ stream: Optional(Type.Boolean()), response_format: Optional(AnyObject), thinking: Optional(Text), context: Optional(Context) },
      },
      closed,
    ),
    result: Completed,
  },
  'provider/oauth_login': {
    params: Type.Object({ provider: Text, context: Optional(Context) }, closed),
    result: Credentials,
  },
  'provider/oauth_refresh': {
    params: Type.Object({ provider: Text, refresh_token: Optional(Text), context: Optional(Context) }, closed),
    result: Credentials,
  },
  'registry/update': { params: LaterRegistrations, result: Empty },
  'tools/set_active': {
    // With a context beyond SEP, as a question has one: in that session alone.
    params: Type.Object({ tools: Type.Array(Text), context: Optional(Context) }, closed),
    result: Type.Object({ active: Type.Array(Text) }, closed),
  },
  'tool/update': {
    params: Type.Object(
      {
        ...{ call_id: Text, message: Optional(Text), progress: Optional(Type.Number({ minimum: 0, maximum: 1 })) },
        details: Optional(Anything),
      },
      closed,
    ),
  },
  'session/send_message': {
    params: inSession({
      text: Text,
      role: Optional(Type.Enum(['user', 'assistant'], { description: 'who says it; assistant without one' })),
    }),
    result: Empty,
  },
  'session/send_user_message': {
    params: inSession({
      text: Text,
      deliver_as: Optional(Type.Enum(['steer', 'follow_up', 'next_turn'], { description: 'follow_up without one' })),
    }),
    result: Empty,
  },
  'session/append_entry': { params: inSession({ entry: AnyObject }), result: Empty },
  'session/set_model': { params: inSession({ model: Text, provider: Optional(Text), thinking: Optional(Text) }), result: Empty },
  'session/state': { params: inSession({}), result: Type.Object({ state: Optional(AnyObject) }, closed) },
  'exec/run': {
    params: inSession({
      command: Text,
      args: Optional(Type.Array(Text)),
      cwd: Optional(Type.String({ description: 'the root of the workspace without one' })),
    }),
    result: Type.Object({ stdout: Text, stderr: Text, exit_code: Type.Integer() }, closed),
  },
  'ui/request': { params: UiRequest, result: UiAnswer },
  'kv/get': { params: Key, result: Value },
  'kv/set': { params: Type.Object({ key: Text, value: Anything }, closed), result: Empty },
  'kv/delete': { params: Key, result: Empty },
  'kv/list': {
    params: Type.Object({ prefix: Optional(Type.String({ description: 'all keys without one' })) }, closed),
    result: Type.Object({ keys: Type.Array(Text) }, closed),
  },
  'bus/publish': { params: Type.Object({ topic: Text, payload: AnyObject }, closed), result: Empty },
  'provider/delta': { params: Type.Object({ request_id: Text, event: Type.Object({ type: Text }) }, closed) },
  log: { params: Type.Object({ level: Type.Enum([...logLevels]), message: Text, fields: Optional(AnyObject) }, closed) },
};

export const methodShapes = { ...plainMethods, ...seamMethods } satisfies Record<SepMethodName, MethodShapes>;

type Shapes = typeof methodShapes;
export type SepParams<Method extends SepMethodName> = Static<Shapes[Method]['params']>;
export type SepResult<Method extends SepMethodName> = Shapes[Method] extends { result: infer Result extends TSchema }
  ? Static<Result>
  : never;
/** Methods that are answered. */
export type SepRequestName = { [Method in SepMethodName]: Shapes[Method] extends { result: TSchema } ? Method : never }[SepMethodName];

/** The row as the table's type says it, for code that works on any row. */
export function shapesOf(method: SepMethodName): MethodShapes {
  return methodShapes[method];
}
