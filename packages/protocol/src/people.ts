// What extensions ask and show the people who watch a session: `ui/request` of the extension protocol, as clients of the gateway
// see it. A question is kept until it is settled; what is shown lasts as long as the process that shows it.
import { Type, type Static } from 'typebox';
import { limits } from './limits.ts';
import { DisplayText, OwnerId, RandomId, SessionKey, Timestamp } from './names.ts';
import { JsonObject } from './transcript.ts';

const closed = { additionalProperties: false };

export const questionKinds = ['select', 'confirm', 'input'] as const;
export type QuestionKind = (typeof questionKinds)[number];

/** `cancelled`: somebody has put it away, nobody is there, or nobody waits for the answer any more; `reason` says which. */
export const questionStates = ['pending', 'answered', 'cancelled', 'expired'] as const;

/** Who asks or shows: an extension of this gateway; with `via`, one elsewhere whose run is relayed by that credential. */
const asker = { sessionKey: SessionKey, extension: OwnerId, via: Type.Optional(Type.String({ maxLength: 128 })) };

export const UiQuestion = Type.Object(
  {
    id: RandomId,
    ...asker,
    kind: Type.Enum([...questionKinds]),
    prompt: Type.String({ maxLength: limits.uiPromptChars.value }),
    /** Of a `select`. */
    options: Type.Optional(Type.Array(Type.String(), { maxItems: limits.uiOptions.value })),
    /** Of an `input`: what stands there already. */
    default: Type.Optional(Type.String({ maxLength: limits.uiPromptChars.value })),
    state: Type.Enum([...questionStates]),
    reason: Type.Optional(DisplayText),
    /** What was chosen, of a `select` or a `confirm`. The text of an `input` is not kept. */
    answer: Type.Optional(Type.Object({ value: Type.Optional(Type.String()), confirmed: Type.Optional(Type.Boolean()) }, closed)),
    answeredBy: Type.Optional(Type.String()),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    settledAt: Type.Optional(Timestamp),
  },
  closed,
);
export type UiQuestion = Static<typeof UiQuestion>;

/** One of these, by the kind of the question; `cancelled` puts any away. */
export const UiReply = Type.Union([
  Type.Object({ value: Type.String({ maxLength: limits.uiPromptChars.value }) }, closed),
  Type.Object({ confirmed: Type.Boolean() }, closed),
  Type.Object({ text: Type.String({ maxLength: limits.uiAnswerChars.value }) }, closed),
  Type.Object({ cancelled: Type.Literal(true) }, closed),
]);
export type UiReply = Static<typeof UiReply>;

/** All that one extension shows in one session; nothing of it: it shows nothing any more. */
export const UiShown = Type.Object(
  {
    ...asker,
    status: Type.Optional(Type.String({ maxLength: limits.uiStatusChars.value })),
    title: Type.Optional(Type.String({ maxLength: limits.uiStatusChars.value })),
    /** A render block. */
    widget: Type.Optional(JsonObject),
  },
  closed,
);
export type UiShown = Static<typeof UiShown>;

export const noticeLevels = ['info', 'warn', 'error'] as const;

export const UiNotice = Type.Object(
  { ...asker, level: Type.Enum([...noticeLevels]), message: Type.String({ maxLength: limits.uiPromptChars.value }) },
  closed,
);
export type UiNotice = Static<typeof UiNotice>;
