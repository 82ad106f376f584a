// Turns at a later time and files to where a session came from, as far as this gateway has them: the grant and the input are
// checked as they will be, the session must be there, and then the answer is that it is not done yet.
import { type CallNotYet, type GrantedCall, lateCalls, SessionKey } from '@tenon/protocol';
import type { Refused, SessionWorkflow } from '@tenon/plugin-sdk';
import { Type, type TSchema } from 'typebox';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

const closed = { additionalProperties: false };
const MAX_TEXT = 32_768;
const MAX_PATH = 4_096;
const MAX_FILES = 10;
const MAX_BYTES = 26_214_400;
/** As far as a date goes. */
const MAX_TIME = 8_640_000_000_000_000;

const NonBlank = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
const Tag = Type.String({ minLength: 1, maxLength: 128, pattern: '^[^:]*[^:\\s][^:]*$' });

const Turn = Type.Object(
  {
    sessionKey: SessionKey,
    message: NonBlank(MAX_TEXT),
    at: Type.Optional(Type.String({ maxLength: 64 })),
    delayMs: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_TIME })),
    cron: Type.Optional(Type.String({ maxLength: 256, pattern: '^\\s*\\S+(\\s+\\S+){4}\\s*$' })),
    tz: Type.Optional(NonBlank(64)),
    tag: Type.Optional(Tag),
    name: Type.Optional(NonBlank(128)),
    deliveryMode: Type.Optional(Type.Enum(['none', 'announce'])),
  },
  closed,
);
const ByTag = Type.Object({ sessionKey: SessionKey, tag: Tag }, closed);
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

type LaterCalls = Pick<SessionWorkflow, 'scheduleSessionTurn' | 'unscheduleSessionTurnsByTag' | 'sendSessionAttachment'>;

export function createLaterCalls(load: PluginLoad, { store, clock }: { readonly store: Store; readonly clock: Clock }): LaterCalls {
  async function ask<Schema extends TSchema>(
    call: CallNotYet & GrantedCall,
    schema: Schema,
    given: unknown,
    name: string,
    beyond: (value: never) => string | undefined = () => undefined,
  ): Promise<Refused> {
    const blocked = barrier(load, call);
    if (blocked) return blocked;
    const taken = take(schema, given, name);
    if ('refused' in taken) return taken.refused;
    const wrong = beyond(taken.value as never);
    if (wrong !== undefined) return refuse('invalid', `${name}/${wrong}`);
    try {
      await store.read('sessions.get', { key: (taken.value as { sessionKey: string }).sessionKey });
    } catch (error) {
      return refusalOf(error);
    }
    return barrier(load, call) ?? refuse('unavailable', lateCalls[call].notYet);
  }

  return {
    scheduleSessionTurn: (turn) =>
      ask('session.workflow.scheduleSessionTurn', Turn, turn, 'turn', (taken) => wrongTime(taken, clock.now())),
    unscheduleSessionTurnsByTag: (which) => ask('session.workflow.unscheduleSessionTurnsByTag', ByTag, which, 'request'),
    sendSessionAttachment: (attachment) => ask('session.workflow.sendSessionAttachment', Attachment, attachment, 'attachment'),
  };
}

/** What a schema does not say of when. */
function wrongTime(
  { at, delayMs, cron, tz }: { at?: string; delayMs?: number; cron?: string; tz?: string },
  now: number,
): string | undefined {
  const given = [at, delayMs, cron].filter((each) => each !== undefined).length;
  if (given !== 1) return 'at, delayMs or cron: exactly one of them says when';
  if (tz !== undefined && cron === undefined) return 'tz goes with cron';
  if (tz !== undefined && !isTimeZone(tz)) return 'tz is not a time zone, such as Europe/Berlin';
  if (at !== undefined && Number.isNaN(Date.parse(at))) return 'at is not a date and time, such as 2030-01-31T08:00:00Z';
  return delayMs !== undefined && now + delayMs > MAX_TIME ? 'delayMs leads beyond every date' : undefined;
}

function isTimeZone(tz: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    return true;
  } catch {
    return false;
  }
}
