// What clients are told of a transcript. An event is kept and sent to many: what is large is left out and read instead.
import { emit, type Operation } from './sql.ts';
import type { Entry, EventPayload, ImageBlock, MessageOrigin, TextBlock } from '@tenon/protocol';

/** Larger things are read with `chat.history`. */
const MAX_CARRIED_BYTES = 65_536;

export function* emitChat(payload: EventPayload<'chat'>, at: number): Operation<void> {
  yield* emit('chat', payload, at, payload.sessionKey);
}

export function* announceEntry(sessionKey: string, entry: Entry, at: number): Operation<void> {
  const run = entry.runId === undefined ? {} : { runId: entry.runId };
  yield* emitChat({ sessionKey, kind: 'entry', ...run, entryId: entry.id, ...(isSmall(entry) ? { entry } : {}) }, at);
}

export function* announceQueued(
  sessionKey: string,
  runId: string,
  message: readonly (TextBlock | ImageBlock)[],
  origin: MessageOrigin | undefined,
  at: number,
): Operation<void> {
  const content = message.filter((block) => block.type === 'text');
  yield* emitChat({ sessionKey, kind: 'queued', runId, ...(isSmall(content) ? { content } : {}), ...origin }, at);
}

function isSmall(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= MAX_CARRIED_BYTES;
}
