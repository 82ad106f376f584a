// Files to where a session came from, as far as this gateway has them: the grant and the input are checked as they will be, the session must be there, and then the answer is that it is not done yet.
import { type CallNotYet, type GrantedCall, lateCalls, SessionKey } from '@tenon/protocol';
import type { Refused, SessionWorkflow } from '@tenon/plugin-sdk';
import { Type, type TSchema } from 'typebox';
import type { Store } from '../store/store.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

const closed = { additionalProperties: false };
const MAX_TEXT = 32_768;
const MAX_PATH = 4_096;
const MAX_FILES = 10;
const MAX_BYTES = 26_214_400;

const NonBlank = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });

const Attachment = Type.Object(
  {
    sessionKey: SessionKey,
    files: Type.Array(Type.Object({ path: NonBlank(MAX_PATH) }, closed), { minItems: 1, maxItems: MAX_FILES }),
    text: Type.Optional(Type.String({ maxLength: MAX_TEXT })),
    maxBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_BYTES })),
    threadId: Type.Optional(NonBlank(256)),
    forceDocument: Type.Optional(Type.Boolean()),
    captionFormat: Type.Optional(Type.Enum(['plain', 'html', 'markdown'])),
  },
  closed,
);

type LaterCalls = Pick<SessionWorkflow, 'sendSessionAttachment'>;

export function createLaterCalls(load: PluginLoad, { store }: { readonly store: Store }): LaterCalls {
  async function ask<Schema extends TSchema>(
    call: CallNotYet & GrantedCall,
    schema: Schema,
    given: unknown,
    name: string,
  ): Promise<Refused> {
    const blocked = barrier(load, call);
    if (blocked) return blocked;
    const taken = take(schema, given, name);
    if ('refused' in taken) return taken.refused;
    try {
      await store.read('sessions.get', { key: (taken.value as { sessionKey: string }).sessionKey });
    } catch (error) {
      return refusalOf(error);
    }
    return barrier(load, call) ?? refuse('unavailable', lateCalls[call].notYet);
  }

  return {
    sendSessionAttachment: (attachment) => ask('session.workflow.sendSessionAttachment', Attachment, attachment, 'attachment'),
  };
}
