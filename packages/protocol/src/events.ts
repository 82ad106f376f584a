// Every event: name → who may see it, what it carries, and whether it is kept.
import { Type, type Static, type TSchema } from 'typebox';
import { Approval, Decision } from './approval.ts';
import { ActionRequired } from './attachment.ts';
import { JsonValue } from './json.ts';
import { DeviceId, PairingRequest } from './methods/access.ts';
import { Count, Epoch, OwnerId, Position, RandomId, SessionKey, Timestamp } from './names.ts';
import { questionStates, UiNotice, UiQuestion, UiShown } from './people.ts';
import type { Scope } from './scopes.ts';
import { Job, Occurrence } from './schedule.ts';
import { Session } from './session.ts';
import { Health, PresenceEntry } from './status.ts';
import { RunStream } from './run-stream.ts';
import { Entry, EntryId, ImageBlock, messageOrigin, RunEnd, RunId, TextBlock } from './transcript.ts';

interface EventSpec {
  readonly summary: string;
  /** `any`: every authenticated client. `handshake`: the one client that is connecting. */
  readonly scope: Scope | 'any' | 'handshake';
  /** A durable event has a position in the stream and is replayed on resume. An ephemeral one has none. */
  readonly durable: boolean;
  /** The field of the payload that names a session: a client bound to one session sees only its own, and no event without this field but those of scope `any`. */
  readonly sessionField?: string;
  readonly payload: TSchema;
}

const closed = { additionalProperties: false };

export const events = {
  'connect.challenge': {
    summary: 'Sent when a socket opens: the nonce that a device signs.',
    scope: 'handshake',
    durable: false,
    payload: Type.Object({ nonce: Type.String(), ts: Timestamp }, closed),
  },
  tick: { summary: 'Still here.', scope: 'any', durable: false, payload: Type.Object({ ts: Timestamp }, closed) },
  presence: {
    summary: 'Who is connected has changed.',
    scope: 'operator.read',
    durable: false,
    payload: Type.Object({ presence: Type.Array(PresenceEntry) }, closed),
  },
  health: { summary: 'The health of the gateway has changed.', scope: 'any', durable: false, payload: Health },
  shutdown: {
    summary: 'The gateway is stopping; the socket closes with 1012.',
    scope: 'any',
    durable: false,
    payload: Type.Object({ reason: Type.String(), restartExpectedMs: Type.Optional(Count) }, closed),
  },
  resumed: {
    summary:
      'Everything after the position of `resume` has been sent. The client is at `to` now: the `prev` of the next event refers to it.',
    scope: 'handshake',
    durable: false,
    payload: Type.Object({ epoch: Epoch, from: Position, to: Position }, closed),
  },
  'snapshot-required': {
    summary: 'What was missed cannot be replayed: read the state anew, then follow from `seq`.',
    scope: 'handshake',
    durable: false,
    payload: Type.Object({ reason: Type.Enum(['epoch-changed', 'too-old', 'from-the-future']), epoch: Epoch, seq: Position }, closed),
  },
  'sessions.changed': {
    summary: 'A session was created, changed, reset or deleted, or a plugin has changed what it has in it.',
    scope: 'operator.read',
    durable: true,
    sessionField: 'key',
    payload: Type.Object(
      {
        key: SessionKey,
        reason: Type.Enum(['create', 'patch', 'reset', 'delete', 'activity', 'fork', 'import', 'plugin-patch']),
        session: Type.Optional(Session),
      },
      closed,
    ),
  },
  'plugins.changed': {
    summary: 'Plugins were loaded, unloaded or granted something: read anew what they offer.',
    scope: 'operator.read',
    durable: false,
    payload: Type.Object({ generation: Count }, closed),
  },
  agent: {
    summary: 'What a run does right now: the text as it comes, tools as they work. `seq` counts within the run.',
    scope: 'operator.read',
    durable: false,
    sessionField: 'sessionKey',
    payload: RunStream,
  },
  chat: {
    summary:
      'The transcript has changed: a message waits, a turn began, an entry was added, a turn ended (once per run), or the leaf moved.',
    scope: 'operator.read',
    durable: true,
    sessionField: 'sessionKey',
    payload: Type.Object(
      {
        sessionKey: SessionKey,
        kind: Type.Enum(['queued', 'started', 'entry', 'ended', 'moved']),
        runId: Type.Optional(RunId),
        /** What waits to be told, without its images. */
        content: Type.Optional(Type.Array(Type.Union([TextBlock, ImageBlock]))),
        /** Who asked for the turn that waits, where no person did. */
        ...messageOrigin,
        entryId: Type.Optional(EntryId),
        /** Left out when it is large: read it with `chat.history`. */
        entry: Type.Optional(Entry),
        leafId: Type.Optional(Type.Union([EntryId, Type.Null()])),
        end: Type.Optional(RunEnd),
      },
      closed,
    ),
  },
  'approval.requested': {
    summary: 'Something waits for an answer of the operator.',
    scope: 'operator.approvals',
    durable: true,
    sessionField: 'sessionKey',
    payload: Type.Object({ sessionKey: SessionKey, approval: Approval }, closed),
  },
  'approval.resolved': {
    summary: 'It was answered, has expired, or is no longer needed.',
    scope: 'operator.approvals',
    durable: true,
    sessionField: 'sessionKey',
    payload: Type.Object(
      {
        sessionKey: SessionKey,
        id: RandomId,
        state: Type.Enum(['allowed', 'denied', 'expired', 'voided']),
        decision: Type.Optional(Decision),
        decidedBy: Type.Optional(Type.String()),
      },
      closed,
    ),
  },
  'action.required': {
    summary: 'A plugin needs a person, in this session. `actions.pending` lists what is not settled.',
    scope: 'operator.read',
    durable: true,
    sessionField: 'sessionKey',
    payload: ActionRequired,
  },
  'action.resolved': {
    summary: 'It needs nobody any more: somebody has acted, has put it away, or the plugin has taken it back.',
    scope: 'operator.read',
    durable: true,
    sessionField: 'sessionKey',
    payload: Type.Object(
      { sessionKey: SessionKey, id: RandomId, pluginId: OwnerId, how: Type.Enum(['acted', 'dismissed', 'withdrawn']) },
      closed,
    ),
  },
  'ui.requested': {
    summary: 'An extension asks the people who watch this session. `ui.pending` lists what is not settled, `ui.answer` answers.',
    scope: 'operator.read',
    durable: true,
    sessionField: 'sessionKey',
    payload: UiQuestion,
  },
  'ui.resolved': {
    summary: 'It was answered or put away, it took too long, or nobody waits for it any more.',
    scope: 'operator.read',
    durable: true,
    sessionField: 'sessionKey',
    payload: Type.Object(
      {
        sessionKey: SessionKey,
        id: RandomId,
        extension: OwnerId,
        state: Type.Enum(questionStates.filter((state) => state !== 'pending')),
        reason: Type.Optional(Type.String()),
        answeredBy: Type.Optional(Type.String()),
      },
      closed,
    ),
  },
  'ui.shown': {
    summary: 'What an extension shows in this session has changed: all of it, as it is now.',
    scope: 'operator.read',
    durable: false,
    sessionField: 'sessionKey',
    payload: UiShown,
  },
  'ui.notified': {
    summary: 'An extension tells whoever watches this session something.',
    scope: 'operator.read',
    durable: false,
    sessionField: 'sessionKey',
    payload: UiNotice,
  },
  'hooks.traced': {
    summary: 'There is more in the trace of a session, or its recording has ended: read on with `hooks.trace`.',
    scope: 'operator.admin',
    durable: false,
    payload: Type.Object({ sessionKey: SessionKey, seq: Count }, closed),
  },
  cron: {
    summary: 'A job was added, changed or removed, or one of its occurrences has begun, waits or has ended.',
    scope: 'operator.read',
    durable: true,
    payload: Type.Object(
      { kind: Type.Enum(['added', 'updated', 'removed', 'occurrence']), job: Job, occurrence: Type.Optional(Occurrence) },
      closed,
    ),
  },
  'device.pair.requested': {
    summary: 'A device asks to be let in.',
    scope: 'operator.pairing',
    durable: true,
    payload: PairingRequest,
  },
  'device.pair.resolved': {
    summary: 'A pairing request was answered or has expired.',
    scope: 'operator.pairing',
    durable: true,
    payload: Type.Object({ requestId: RandomId, deviceId: DeviceId, decision: Type.Enum(['approved', 'rejected', 'expired']) }, closed),
  },
} as const satisfies Record<string, EventSpec>;

/** What `plugin.<id>.<name>` carries, whatever the plugin. Such an event is not kept. */
export const PluginEvent = Type.Object(
  {
    pluginId: OwnerId,
    /** A client that is bound to one session gets only what names it. */
    sessionKey: Type.Optional(SessionKey),
    data: JsonValue,
  },
  closed,
);
export type PluginEvent = Static<typeof PluginEvent>;

export type EventName = keyof typeof events;
export type EventPayload<Name extends EventName> = Static<(typeof events)[Name]['payload']>;
export type DurableEvent = { [N in EventName]: (typeof events)[N]['durable'] extends true ? N : never }[EventName];
export type EphemeralEvent = Exclude<EventName, DurableEvent>;

export const eventNames = Object.keys(events) as EventName[];

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(events, name);
}

export function eventRow(name: EventName): EventSpec {
  return events[name];
}
