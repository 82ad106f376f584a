import { Type } from 'typebox';
import { RandomId, SessionKey } from '../names.ts';
import { UiQuestion, UiReply, UiShown } from '../people.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };

export const peopleMethods = {
  'ui.pending': read({
    summary: 'What extensions ask people and wait for, oldest first, and what they show; in one session or in all.',
    scope: 'operator.read',
    bound: 'filtered',
    params: { sessionKey: Type.Optional(SessionKey) },
    result: Type.Object({ questions: Type.Array(UiQuestion), shown: Type.Array(UiShown) }, closed),
  }),
  'ui.answer': write({
    summary: 'Answer a question of an extension. The first answer counts.',
    scope: 'operator.write',
    bound: 'filtered',
    params: { id: RandomId, reply: UiReply },
    result: Type.Object({ question: UiQuestion }, closed),
  }),
};
