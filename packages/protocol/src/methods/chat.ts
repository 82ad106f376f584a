import { Type } from 'typebox';
import { limits } from '../limits.ts';
import { ModelId } from '../model.ts';
import { DisplayText, OwnerId, SessionKey } from '../names.ts';
import { Session } from '../session.ts';
import { AttachmentHandle, Entry, EntryId, ImageBlock, QueueMode, Run, RunEnd, RunId, ThinkingLevel } from '../transcript.ts';
import { read, start, write } from './row.ts';

const closed = { additionalProperties: false };

const MessageText = Type.String({ maxLength: limits.messageChars.value });

/** What a message can say beside its text. */
const send = {
  message: MessageText,
  images: Type.Optional(Type.Array(ImageBlock, { maxItems: limits.messageImages.value })),
  /** Handles of files that were uploaded. Images among them are shown to models that can see, the others are named. */
  attachments: Type.Optional(Type.Array(AttachmentHandle, { maxItems: limits.messageAttachments.value, uniqueItems: true })),
  /** For this turn only. */
  model: Type.Optional(ModelId),
  thinking: Type.Optional(ThinkingLevel),
  /** What to do if the agent is busy; without it, what the session says. */
  mode: Type.Optional(QueueMode),
  /** Say it although a plugin waits for a decision: without it, that is refused with `INPUT_SUPPRESSED`. */
  override: Type.Optional(Type.Boolean()),
};

export const chatMethods = {
  'chat.send': start({
    summary:
      'Say something to the agent of a session. The idempotency key is the id of the run. A text that is a slash command is carried out instead.',
    scope: 'operator.write',
    bound: { param: 'sessionKey' },
    params: { sessionKey: SessionKey, ...send },
    result: Type.Object(
      {
        runId: RunId,
        sessionKey: SessionKey,
        /** `handled`: it was a command, and `reply` is its answer. */
        status: Type.Enum(['started', 'queued', 'handled']),
        reply: Type.Optional(Type.String()),
      },
      closed,
    ),
  }),
  'chat.history': read({
    summary: 'The messages on the path to the leaf, oldest first, the latest page first.',
    scope: 'operator.read',
    bound: { param: 'sessionKey' },
    params: {
      sessionKey: SessionKey,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSize.value })),
      /** `more` of the page before. */
      before: Type.Optional(EntryId),
    },
    result: Type.Object(
      {
        session: Session,
        entries: Type.Array(Entry),
        /** There is something older: pass it as `before`. */
        more: Type.Optional(EntryId),
        leafId: Type.Union([EntryId, Type.Null()]),
        /** Runs of this session that have not ended, in order, with what waits to be told. */
        runs: Type.Array(Type.Object({ run: Run, text: Type.Optional(Type.String()) }, closed)),
      },
      closed,
    ),
  }),
  'chat.abort': write({
    summary: 'Stop the running turn of a session, or one run, running or queued.',
    scope: 'operator.write',
    bound: { param: 'sessionKey' },
    params: { sessionKey: SessionKey, runId: Type.Optional(RunId) },
    result: Type.Object({ aborted: Type.Array(RunId) }, closed),
  }),
  'chat.inject': write({
    summary: 'Add a note to the transcript that the agent is told with its next turn; no turn is started.',
    scope: 'operator.write',
    bound: { param: 'sessionKey' },
    params: {
      sessionKey: SessionKey,
      message: Type.String({ minLength: 1, maxLength: limits.messageChars.value }),
      /** Who says it. */
      label: Type.Optional(DisplayText),
    },
    result: Type.Object({ entry: Entry }, closed),
  }),
  agent: start({
    summary: 'Run a turn of an agent: like `chat.send`, but without slash commands, and the session may be left out for a fresh one.',
    scope: 'operator.write',
    bound: { param: 'sessionKey' },
    params: {
      sessionKey: Type.Optional(SessionKey),
      agentId: Type.Optional(OwnerId),
      ...send,
      /** Beside the prompt of the agent, for this turn only. */
      extraSystemPrompt: Type.Optional(Type.String({ maxLength: limits.messageChars.value })),
      trigger: Type.Optional(Type.Enum(['api', 'heartbeat'])),
    },
    result: Type.Object({ runId: RunId, sessionKey: SessionKey, status: Type.Enum(['started', 'queued']) }, closed),
  }),
  'agent.wait': read({
    summary: 'Wait until a run has ended, or the time is over; `text` is what the agent said last.',
    scope: 'operator.read',
    bound: 'filtered',
    params: { runId: RunId, timeoutMs: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.waitMs.value })) },
    result: Type.Object({ run: Run, end: Type.Optional(RunEnd), text: Type.Optional(Type.String()) }, closed),
  }),
};
