// What the calls of a plugin take that are about a session, by their place in the api. The host checks what a plugin gives
// against them, and extensions give the same over their wire.
import { Type, type Static } from 'typebox';
import { ActionRequired, Presentation } from './attachment.ts';
import { decisions } from './approval.ts';
import { ChannelId, ItemName } from './contributions.ts';
import { limits } from './limits.ts';
import { OwnerId, RandomId, SessionKey } from './names.ts';
import { CronText, JobMessage, JobName, JobTag, LAST_TIME, TimeZone } from './schedule.ts';

const closed = { additionalProperties: false };
const MAX_TEXT = 32_768;
const MAX_TTL_MS = 315_360_000_000;
const NonBlank = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });

/** What is told with the next turn, without the session that it is for. */
const resultInjection = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: MAX_TEXT }),
    idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    placement: Type.Optional(Type.Enum(['prepend_context', 'append_context'])),
    ttlMs: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_TTL_MS })),
    priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000 })),
    metadata: Type.Optional(Type.Unknown()),
  },
  closed,
);

const { title, actions, id } = ActionRequired.properties;
const { action: _action, ...buttonFields } = Presentation.properties.buttons.items.properties;
const [ownAction, data] = _action.anyOf;

/** As plugins give it: whose action it is need not be said. */
const Button = Type.Object(
  {
    ...buttonFields,
    action: Type.Union([Type.Object({ ...ownAction.properties, pluginId: Type.Optional(ownAction.properties.pluginId) }, closed), data]),
  },
  closed,
);

const OwnPresentation = Type.Object(
  { ...Presentation.properties, buttons: Type.Optional(Type.Array(Button, { maxItems: limits.deliveryButtons.value })) },
  closed,
);

/** Files of this machine, by their paths. */
const LocalFiles = Type.Array(Type.Object({ path: NonBlank(4_096), name: Type.Optional(NonBlank(255)) }, closed), {
  maxItems: limits.messageAttachments.value,
});

/** A person or a conversation, in the words of a channel. */
const ChannelPeer = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$',
  description: 'up to 128 letters, digits, ., _, @, + and -',
});

export const lateParams = {
  'session.workflow.enqueueNextTurnInjection': Type.Object({ sessionKey: SessionKey, ...resultInjection.properties }, closed),
  'session.workflow.continueAgent': Type.Object({ sessionKey: SessionKey, force: Type.Optional(Type.Boolean()) }, closed),
  'session.workflow.notifyActionRequired': Type.Object(
    { sessionKey: SessionKey, title, actions, idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })) },
    closed,
  ),
  'session.workflow.withdrawActionRequired': Type.Object({ sessionKey: SessionKey, id: Type.Optional(id) }, closed),
  'session.workflow.requestApproval': Type.Object(
    {
      sessionKey: SessionKey,
      title: Type.String({ minLength: 1, maxLength: 80 }),
      description: Type.String({ maxLength: 512 }),
      allowedDecisions: Type.Optional(
        Type.Array(Type.Enum([...decisions]), { minItems: 1, maxItems: decisions.length, uniqueItems: true }),
      ),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
      idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    },
    closed,
  ),
  'session.workflow.scheduleSessionTurn': Type.Object(
    {
      sessionKey: SessionKey,
      message: JobMessage,
      at: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Number()])),
      delayMs: Type.Optional(Type.Number({ minimum: 0, maximum: LAST_TIME })),
      cron: Type.Optional(CronText),
      tz: Type.Optional(TimeZone),
      tag: Type.Optional(JobTag),
      name: Type.Optional(JobName),
      deleteAfterRun: Type.Optional(Type.Boolean()),
      deliveryMode: Type.Optional(Type.Enum(['none', 'announce'])),
    },
    closed,
  ),
  'session.workflow.unscheduleSessionTurnsByTag': Type.Object({ sessionKey: SessionKey, tag: JobTag }, closed),
  'session.workflow.sendSessionAttachment': Type.Object(
    {
      sessionKey: SessionKey,
      files: Type.Optional(LocalFiles),
      text: Type.Optional(Type.String({ maxLength: MAX_TEXT })),
      presentation: Type.Optional(OwnPresentation),
      maxBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.attachmentBytes.value })),
      channelHints: Type.Optional(Type.Object({ forceDocumentMime: Type.Optional(NonBlank(255)) }, closed)),
      idempotencyKey: Type.Optional(NonBlank(512)),
    },
    closed,
  ),
  'session.workflow.updateSessionAttachment': Type.Object(
    {
      sessionKey: SessionKey,
      deliveryId: RandomId,
      text: Type.Optional(Type.Union([Type.String({ maxLength: MAX_TEXT }), Type.Null()])),
      presentation: Type.Optional(Type.Union([OwnPresentation, Type.Null()])),
    },
    closed,
  ),
  'channels.receive': Type.Object(
    {
      channel: ChannelId,
      /** Who says it; also where answers go. */
      from: ChannelPeer,
      text: Type.Optional(Type.String({ maxLength: limits.messageChars.value })),
      files: Type.Optional(LocalFiles),
      agentId: Type.Optional(OwnerId),
      /** What the channel calls it: the same one is taken once. */
      messageId: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    },
    closed,
  ),
  'channels.pressButton': Type.Object(
    {
      deliveryId: RandomId,
      buttonId: ItemName,
      /** Where it was pressed: whom the delivery was for. */
      from: ChannelPeer,
      sender: Type.Optional(ChannelPeer),
      isAuthorizedSender: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
};
export type LateParams<Call extends keyof typeof lateParams> = Static<(typeof lateParams)[Call]>;

/** In the answer of a handler, by field. */
export const answerFields = { inject: resultInjection };
