import { Type } from 'typebox';
import { limits } from '../limits.ts';
import { Count, DisplayText, SessionKey } from '../names.ts';
import { Session } from '../session.ts';
import { Entry, EntryId, ImageBlock, TextBlock, TreeNode } from '../transcript.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };
const Moved = Type.Object({ leafId: Type.Union([EntryId, Type.Null()]), text: Type.Optional(Type.String()) }, closed);

export const transcriptMethods = {
  'sessions.tree': read({
    summary: 'All entries of a session as a tree, without their content, a page at a time in the order in which they were added.',
    scope: 'operator.read',
    bound: { param: 'key' },
    params: {
      key: SessionKey,
      after: Type.Optional(Count),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSize.value })),
    },
    result: Type.Object({ nodes: Type.Array(TreeNode), leafId: Type.Union([EntryId, Type.Null()]), next: Type.Optional(Count) }, closed),
  }),
  'sessions.branch': write({
    summary: 'Go on from another entry of the tree; with `summarize`, what is left behind is summed up for the agent.',
    scope: 'operator.write',
    bound: { param: 'key' },
    params: { key: SessionKey, entryId: Type.Union([EntryId, Type.Null()]), summarize: Type.Optional(Type.Boolean()) },
    result: Moved,
  }),
  'sessions.rewind': write({
    summary:
      'Go back to before a message of the user: before the last one, before the last `turns`, or before `entryId`. `text` is what it said.',
    scope: 'operator.write',
    bound: { param: 'key' },
    params: { key: SessionKey, turns: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })), entryId: Type.Optional(EntryId) },
    result: Moved,
  }),
  'sessions.fork': write({
    summary: 'Make a new session from the path to an entry, or to the leaf.',
    scope: 'operator.write',
    params: {
      key: SessionKey,
      newKey: Type.Optional(SessionKey),
      entryId: Type.Optional(EntryId),
      title: Type.Optional(DisplayText),
    },
    result: Type.Object({ session: Session, entries: Count }, closed),
  }),
  'sessions.label': write({
    summary: 'Put a label on an entry, or take it away with null.',
    scope: 'operator.write',
    bound: { param: 'key' },
    params: { key: SessionKey, entryId: EntryId, label: Type.Union([DisplayText, Type.Null()]) },
    result: Type.Object({ entry: Entry }, closed),
  }),
  'sessions.contextEdit': write({
    summary: 'Tell the agent something else in place of an entry from now on, or leave it out with null. The entry itself stays.',
    scope: 'operator.write',
    bound: { param: 'key' },
    params: {
      key: SessionKey,
      entryId: EntryId,
      replacement: Type.Union([Type.Array(Type.Union([TextBlock, ImageBlock]), { maxItems: 16 }), Type.Null()]),
    },
    result: Type.Object({ entry: Entry }, closed),
  }),
  'sessions.compact': write({
    summary: 'Sum up the older messages of a session now.',
    scope: 'operator.write',
    bound: { param: 'key' },
    params: { key: SessionKey, instructions: Type.Optional(Type.String({ maxLength: 16_384 })) },
    result: Type.Object(
      { compacted: Type.Boolean(), reason: Type.Optional(DisplayText), entry: Type.Optional(Entry), tokensBefore: Type.Optional(Count) },
      closed,
    ),
  }),
  'sessions.export': read({
    summary: 'The session as lines of JSON, version 3 of pi, a page at a time.',
    scope: 'operator.read',
    bound: { param: 'key' },
    params: { key: SessionKey, after: Type.Optional(Count) },
    result: Type.Object({ lines: Type.Array(Type.String()), next: Type.Optional(Count) }, closed),
  }),
  'sessions.import': write({
    summary:
      'Make a session from lines of JSON, version 3 of pi. All of it is checked before anything is written. Larger ones: POST /api/sessions/import.',
    scope: 'operator.write',
    params: { key: SessionKey, jsonl: Type.String({ minLength: 1 }), title: Type.Optional(DisplayText) },
    result: Type.Object({ session: Session, entries: Count, skipped: Count }, closed),
  }),
};
