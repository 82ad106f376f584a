// Files that are kept for a conversation, and what plugins hand over in one. A file is known by its handle; its type is what
// its first bytes say, whatever it was called. A delivery stands in the transcript as an entry of the custom type `delivery`.
import { Type, type Static } from 'typebox';
import { ItemName, UiBlock, UiAction } from './contributions.ts';
import { JsonValue } from './json.ts';
import { limits } from './limits.ts';
import { Count, DisplayText, OwnerId, RandomId, SessionKey, Timestamp } from './names.ts';
import { UiReply } from './people.ts';
import { AttachmentHandle, AttachmentRef, EntryId } from './transcript.ts';

const closed = { additionalProperties: false };

export const Attachment = Type.Object(
  {
    ...AttachmentRef.properties,
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** Without one: uploaded, and not said anywhere yet. */
    sessionKey: Type.Optional(SessionKey),
    /** A credential, or `plugin:<id>`. */
    owner: Type.String(),
    createdAt: Timestamp,
  },
  closed,
);
export type Attachment = Static<typeof Attachment>;

export const deliveryTones = ['plain', 'ok', 'warn', 'bad', 'busy'] as const;

const { kind, label, text } = UiBlock.properties;

/** As a block of a descriptor, with what it shows in itself. */
export const DeliveryBlock = Type.Object({ kind, label, text, value: Type.Optional(JsonValue) }, closed);
export type DeliveryBlock = Static<typeof DeliveryBlock>;

/** `<namespace>:<payload>`, as interactive handlers are told of it. */
export const ButtonData = Type.String({ minLength: 2, maxLength: 1_024, pattern: '^[A-Za-z0-9._-]{1,64}:' });

/** What happens when it is pressed: a session action of the plugin, its interactive handler is told, or a question of it is answered. */
export const ButtonAction = Type.Union([
  Type.Object({ pluginId: OwnerId, actionId: ItemName, payload: Type.Optional(JsonValue) }, closed),
  Type.Object({ data: ButtonData }, closed),
  /** The gateway's own: no plugin makes one. */
  Type.Object({ question: RandomId, reply: UiReply }, closed),
]);

export const DeliveryButton = Type.Object(
  { id: ItemName, label: Type.String({ minLength: 1, maxLength: 128 }), style: UiAction.properties.style, action: ButtonAction },
  closed,
);
export type DeliveryButton = Static<typeof DeliveryButton>;

export const Presentation = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 256 }),
    tone: Type.Optional(Type.Enum([...deliveryTones])),
    blocks: Type.Optional(Type.Array(DeliveryBlock, { maxItems: limits.deliveryBlocks.value })),
    buttons: Type.Optional(Type.Array(DeliveryButton, { maxItems: limits.deliveryButtons.value })),
  },
  closed,
);
export type Presentation = Static<typeof Presentation>;

/** The data of an entry of the custom type `delivery`. */
export const Delivery = Type.Object(
  {
    channel: Type.String(),
    /** The plugin. */
    by: OwnerId,
    byName: DisplayText,
    text: Type.Optional(Type.String()),
    attachments: Type.Array(AttachmentRef),
    presentation: Type.Optional(Presentation),
  },
  closed,
);
export type Delivery = Static<typeof Delivery>;

/** The data of an entry of the custom type `delivery_pressed`: from now on no button of that delivery can be pressed. */
export const DeliveryPressed = Type.Object(
  {
    /** The entry of the delivery. */
    entryId: EntryId,
    buttonId: ItemName,
    label: DisplayText,
    pluginId: OwnerId,
    /** What the plugin said to it. */
    text: Type.Optional(Type.String()),
  },
  closed,
);
export type DeliveryPressed = Static<typeof DeliveryPressed>;

/** The data of an entry of the custom type `delivery_edited`: all that the delivery says from now on. Its files stay. */
export const DeliveryEdited = Type.Object(
  {
    /** The entry of the delivery. */
    entryId: EntryId,
    by: OwnerId,
    byName: DisplayText,
    revision: Count,
    text: Type.Optional(Type.String()),
    presentation: Type.Optional(Presentation),
  },
  closed,
);
export type DeliveryEdited = Static<typeof DeliveryEdited>;

export const deliveryStates = {
  waiting: 'The channel has not taken it yet; it is tried again at `nextAt`.',
  sent: 'The channel has taken it.',
  failed: 'The channel would not take it, and it is not tried again; `reason` says why.',
} as const;

export const editStates = {
  waiting: 'The channel does not show it as it is now; it is asked at `nextAt`, once it has taken the delivery.',
  done: 'The channel shows it as it is now.',
  none: 'The channel cannot change what it has sent, or has sent nothing.',
  failed: 'The channel would not change it, and is not asked again; `reason` says why.',
} as const;

/** How the channel follows what became of a delivery: a button was pressed, or the plugin has changed it. */
export const DeliveryEdits = Type.Object(
  {
    state: Type.Enum(Object.keys(editStates) as (keyof typeof editStates)[]),
    /** Of what it is now; each change counts one. */
    revision: Count,
    attempts: Count,
    nextAt: Type.Optional(Timestamp),
    reason: Type.Optional(Type.String()),
  },
  closed,
);
export type DeliveryEdits = Static<typeof DeliveryEdits>;

/** How it went: a row of the ledger. */
export const DeliveryRecord = Type.Object(
  {
    id: RandomId,
    sessionKey: SessionKey,
    entryId: EntryId,
    channel: Type.String(),
    to: Type.String(),
    by: OwnerId,
    state: Type.Enum(Object.keys(deliveryStates) as (keyof typeof deliveryStates)[]),
    attempts: Count,
    nextAt: Type.Optional(Timestamp),
    reason: Type.Optional(Type.String()),
    /** What the channel calls it. */
    receipt: Type.Optional(Type.String()),
    pressed: Type.Optional(Type.Object({ buttonId: ItemName, by: Type.String(), at: Timestamp }, closed)),
    /** Without it, it is as it was sent. */
    edits: Type.Optional(DeliveryEdits),
    createdAt: Timestamp,
  },
  closed,
);
export type DeliveryRecord = Static<typeof DeliveryRecord>;

/** A plugin needs a person. It is kept until somebody has pressed one of its actions, has put it away, or the plugin takes it back. */
export const ActionRequired = Type.Object(
  {
    id: RandomId,
    sessionKey: SessionKey,
    pluginId: OwnerId,
    pluginName: DisplayText,
    title: DisplayText,
    /** Session actions of the plugin that answer it. */
    actions: Type.Optional(Type.Array(Type.Object({ label: DisplayText, actionId: ItemName }, closed), { maxItems: 8 })),
    createdAt: Timestamp,
  },
  closed,
);
export type ActionRequired = Static<typeof ActionRequired>;

export { AttachmentHandle, AttachmentRef };
