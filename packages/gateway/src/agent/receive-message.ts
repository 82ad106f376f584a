// A message that a channel brings in becomes a turn of the session of whoever says it. It is told to the agent as it is, with its
// files: a sender of a channel is nobody who may use commands.
import { DEFAULT_AGENT_ID, GatewayError, type JsonObject, type TextBlock } from '@tenon/protocol';
import type { Refused } from '@tenon/plugin-sdk';
import { type InboundMessage, sessionKeyOf } from '../host/receive-message.ts';
import type { HookRunner } from '../host/run-hook.ts';
import type { TakenFile } from '../host/send-attachment.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId, sha256 } from '../kernel/ids.ts';
import type { AttachmentFiles, KeptFile } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import type { AgentBook } from './agents.ts';
import { sayFiles } from './attachments.ts';
import type { Composer } from './composer.ts';
import type { Turns } from './service.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: AttachmentFiles;
  readonly agents: AgentBook;
  readonly composer: Composer;
  readonly turns: Pick<Turns, 'accepted'>;
  readonly hooks: Pick<HookRunner, 'has' | 'run'>;
}

const TITLE_CHARS = 80;

/** Contract: throws only GatewayError, and what the store throws. */
export async function receiveMessage(
  message: InboundMessage,
  takeFiles: () => Promise<readonly TakenFile[] | Refused>,
  { store, clock, files, agents, composer, turns, hooks }: Deps,
): Promise<{ sessionKey: string; runId: string; duplicate?: true } | Refused> {
  const { channel, from, text = '', agentId = DEFAULT_AGENT_ID, messageId } = message;
  const agent = agents.get(agentId);
  if (!agent) throw new GatewayError('INVALID_REQUEST', `message/agentId: there is no agent "${agentId}"`);
  const sessionKey = sessionKeyOf(message);
  const runId = messageId === undefined ? `m${randomId()}` : `m${sha256(`${channel}\n${from}\n${messageId}`).slice(0, 40)}`;
  if (composer.mayBeClosed()) await composer.requireOpen(sessionKey);
  // Before the files are looked at: a channel may have removed those of a message that was taken.
  if (message.files?.length && messageId !== undefined && (await isThere(runId, store))) return { sessionKey, runId, duplicate: true };
  const taken = await takeFiles();
  if ('ok' in taken) return taken;
  const accept = async (kept: readonly KeptFile[]) => {
    const made = kept.map((file, index) => ({ ...file, handle: randomId(), name: taken[index]!.name, owner: `channel:${channel}` }));
    const said = await sayFiles(
      made.map(({ handle, name, mime, bytes }, index) => ({ ref: { handle, name, mime, bytes }, read: () => taken[index]!.content })),
    );
    const shown: TextBlock[] = text.trim() === '' ? [] : [{ type: 'text', text }];
    return store.write('runs.accept', {
      key: sessionKey,
      runId,
      content: [...shown, ...said.images],
      defaultMode: agent.queue,
      trigger: 'user',
      principal: `channel:${channel}`,
      options: made.length === 0 ? {} : ({ attachments: said.refs } as unknown as JsonObject),
      title: text.trim().split('\n', 1)[0]?.slice(0, TITLE_CHARS) ?? '',
      ...(made.length === 0 ? {} : { attachments: { handles: [], made, quotas: files.quotas } }),
      route: { channel, to: from },
      at: clock.now(),
    });
  };
  try {
    if (taken.length === 0) await accept([]);
    else
      await files.keepAll(
        taken.map(({ content }) => content),
        accept,
      );
  } catch (error) {
    if (!isKnown(error)) throw error;
    return { sessionKey, runId, duplicate: true };
  }
  turns.accepted(sessionKey);
  if (hooks.has('message_received')) {
    const more = {
      ...(messageId === undefined ? {} : { messageId }),
      ...(taken.length === 0 ? {} : { files: taken.map(({ name }) => name) }),
    };
    void hooks.run('message_received', { sessionKey, agentId, runId, channel, from, content: text, ...more });
  }
  return { sessionKey, runId };
}

async function isThere(runId: string, store: Store): Promise<boolean> {
  try {
    await store.read('runs.get', { runId });
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

function isKnown(error: unknown): boolean {
  return error instanceof GatewayError && (error.details as { code?: string } | undefined)?.code === 'RUN_EXISTS';
}
