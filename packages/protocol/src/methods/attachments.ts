import { Type } from 'typebox';
import { ActionRequired, Attachment, AttachmentHandle, DeliveryRecord } from '../attachment.ts';
import { ItemName } from '../contributions.ts';
import { limits } from '../limits.ts';
import { Count, OwnerId, RandomId, SessionKey, Timestamp } from '../names.ts';
import { EntryId } from '../transcript.ts';
import { ActionAnswer } from './plugins.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };
const PageLimit = Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSize.value }));
const Cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));

export const attachmentMethods = {
  'attachments.begin': write({
    summary: 'Begin to upload a file. A repeat with the same key gives the same upload.',
    scope: 'operator.write',
    bound: 'filtered',
    params: {
      name: Type.String({ minLength: 1, maxLength: 255 }),
      bytes: Type.Integer({ minimum: 1, maximum: limits.attachmentBytes.value }),
      /** What the client takes it for. The first bytes decide; where they say otherwise, `attachments.commit` says what it is. */
      mime: Type.Optional(Type.String({ maxLength: 255 })),
      /** The session that it is for; without it, the one of the message that names it first. */
      sessionKey: Type.Optional(SessionKey),
    },
    result: Type.Object({ uploadId: RandomId, chunkBytes: Count, expiresAt: Timestamp }, closed),
  }),
  'attachments.chunk': read({
    summary:
      'Bytes of an upload, in order. What is there already is passed over, so that a repeat does no harm; `offset` of the answer is where to go on.',
    scope: 'operator.write',
    bound: 'filtered',
    params: {
      uploadId: RandomId,
      offset: Count,
      /** base64; empty to ask where to go on. */
      data: Type.String({ maxLength: limits.attachmentChunkChars.value }),
    },
    result: Type.Object({ uploadId: RandomId, offset: Count, bytes: Count }, closed),
  }),
  'attachments.commit': write({
    summary: 'All bytes are there: keep the file. Asked again, it gives the same attachment.',
    scope: 'operator.write',
    bound: 'filtered',
    params: { uploadId: RandomId, sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'a SHA-256 in hex' })) },
    result: Type.Object({ attachment: Attachment }, closed),
  }),
  'attachments.abort': write({
    summary: 'Give up an upload.',
    scope: 'operator.write',
    bound: 'filtered',
    params: { uploadId: RandomId },
    result: Type.Object({ uploadId: RandomId, aborted: Type.Boolean() }, closed),
  }),
  'attachments.list': read({
    summary: 'Files that are kept, latest first, a page at a time, and how much room they take.',
    scope: 'operator.read',
    bound: 'filtered',
    params: { sessionKey: Type.Optional(SessionKey), limit: PageLimit, cursor: Cursor },
    result: Type.Object(
      {
        attachments: Type.Array(Attachment),
        nextCursor: Type.Optional(Type.String()),
        /** Of the session, or of all. A file that is kept under several handles counts for each. */
        usage: Type.Object({ count: Count, bytes: Count, maxBytes: Count }, closed),
      },
      closed,
    ),
  }),
  'attachments.remove': write({
    summary: 'Remove a file. Messages that name it keep its name.',
    scope: 'operator.write',
    bound: 'filtered',
    params: { handle: AttachmentHandle },
    result: Type.Object({ handle: AttachmentHandle, removed: Type.Literal(true) }, closed),
  }),
  'deliveries.list': read({
    summary: 'What plugins have sent to where sessions came from, latest first, and how it went.',
    scope: 'operator.read',
    bound: 'filtered',
    params: { sessionKey: Type.Optional(SessionKey), limit: PageLimit, cursor: Cursor },
    result: Type.Object({ deliveries: Type.Array(DeliveryRecord), nextCursor: Type.Optional(Type.String()) }, closed),
  }),
  'deliveries.press': write({
    summary:
      'Press a button of a delivery: it is carried out once, and then no button of that delivery can be pressed. Needs the scopes of its action, `operator.write` without any.',
    scope: 'any',
    bound: { param: 'sessionKey' },
    params: { sessionKey: SessionKey, entryId: EntryId, buttonId: ItemName },
    result: Type.Object(
      {
        entryId: EntryId,
        buttonId: ItemName,
        pluginId: OwnerId,
        /** Of a session action. Where the plugin says no, the buttons stay. */
        answer: Type.Optional(ActionAnswer),
        /** What an interactive handler says to whoever pressed it. */
        text: Type.Optional(Type.String()),
      },
      closed,
    ),
  }),
  'actions.pending': read({
    summary: 'Where plugins need a person, oldest first.',
    scope: 'operator.read',
    bound: 'filtered',
    params: { sessionKey: Type.Optional(SessionKey) },
    result: Type.Object({ actions: Type.Array(ActionRequired) }, closed),
  }),
  'actions.dismiss': write({
    summary: 'Put away what a plugin has asked people for. The plugin is not told.',
    scope: 'operator.write',
    bound: 'filtered',
    params: { id: RandomId },
    result: Type.Object({ id: RandomId, dismissed: Type.Boolean() }, closed),
  }),
};
