// Hooks of messages between people and sessions: what a channel brings in, what is about to go out, and how that went.
import { Type, type Static } from 'typebox';
import { DisplayText, OwnerId, RandomId } from '../names.ts';
import { EntryId } from '../transcript.ts';
import { lastWinsOrCancel } from './merge.ts';
import { closed, hookEvent, modify, observe } from './row.ts';

const Text = Type.String();
const OptionalText = Type.Optional(Text);

const outgoing = {
  channel: Text,
  /** Whom it is for, in the words of the channel. */
  to: Text,
  /** The plugin that sends it, or `agent` for what the agent says. */
  by: OwnerId,
  /** The text of it; empty where there is none. */
  content: Text,
};

const SendingEvent = hookEvent({
  ...outgoing,
  /** Names of the files that go with it. */
  files: Type.Array(DisplayText),
  /** Labels of its buttons. */
  buttons: Type.Array(DisplayText),
});

export const messageHooks = {
  message_received: observe({
    summary: 'A channel has brought in a message, and it is on record. Messages of the page, the terminal and programs: see `input`.',
    event: hookEvent({
      channel: Text,
      /** Who says it, in the words of the channel. */ from: Text,
      /** Empty where it is files alone. */
      content: Text,
      /** Names of the files that come with it. */
      files: Type.Optional(Type.Array(DisplayText)),
      messageId: OptionalText,
    }),
    timeoutMs: 15_000,
  }),
  message_sending: modify({
    summary:
      'Something is about to be sent: by a plugin, before it is kept, or as the answer of the agent, before a channel is asked, each time that it is. Its text may be changed, or it may be cancelled.',
    event: SendingEvent,
    result: Type.Object({ content: OptionalText, cancel: Type.Optional(Type.Boolean()), cancelReason: OptionalText }, closed),
    merge: lastWinsOrCancel<Static<typeof SendingEvent>>(),
    ends: ['refused'],
    onFailure: 'open',
    timeoutMs: 15_000,
  }),
  message_sent: observe({
    summary: 'A channel has taken what was sent, or it is not tried any more.',
    event: hookEvent({
      ...outgoing,
      deliveryId: RandomId,
      entryId: EntryId,
      success: Type.Boolean(),
      attempts: Type.Integer({ minimum: 1 }),
      /** What the channel calls it. */
      receipt: OptionalText,
      error: OptionalText,
    }),
    timeoutMs: 15_000,
  }),
};
