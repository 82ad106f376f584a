// One question to a channel: whether it takes a delivery, or shows what became of one that it has taken. What it gives is a
// receipt, or a reason in words; files are read when the channel asks for them.
import { type Delivery, type DeliveryRecord, matches } from '@tenon/protocol';
import type { OutgoingDelivery, OutgoingEdit } from '@tenon/plugin-sdk';
import { Type } from 'typebox';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { WaitingDelivery } from '../store/deliveries.ts';
import type { Store } from '../store/store.ts';
import { placed, type PluginCaller } from './call-plugin.ts';
import type { RegisteredItem } from './contribution-registry.ts';
import { copyPlain } from './plain-data.ts';

/** `isFinal`: it is not tried again. */
export type Taken = { readonly receipt: string } | { readonly reason: string; readonly isFinal?: true };

interface Deps {
  readonly store: Store;
  readonly files: AttachmentFiles;
  readonly caller: PluginCaller;
}

/** Of one question. `receipt`: it is about what the channel has taken. */
export type Question = Pick<OutgoingDelivery, 'id' | 'attempt' | 'text'> &
  Pick<Delivery, 'presentation'> &
  Pick<WaitingDelivery, 'pressed'> & { readonly files: Delivery['attachments']; readonly receipt?: string };

export type AskChannel = (record: DeliveryRecord, channel: RegisteredItem<'channel'>, question: Question) => Promise<Taken>;

const Receipt = Type.Object({ id: Type.String({ minLength: 1, maxLength: 256 }) }, { additionalProperties: false });

/** Contract: does not throw. */
export function createAskChannel({ store, files, caller }: Deps): AskChannel {
  return async ({ sessionKey, entryId, to, channel, edits }, { plugin, item }, { files: sent, presentation, pressed, ...said }) => {
    const outgoing = {
      ...said,
      revision: edits?.revision ?? 0,
      ...{ sessionKey, entryId, to },
      // One was pressed: there is none left to press.
      ...(presentation === undefined ? {} : { presentation: structuredClone(pressed ? { ...presentation, buttons: [] } : presentation) }),
      ...(pressed === undefined ? {} : { pressed }),
    };
    const answer = await caller.call(
      placed(plugin, 'channel', item),
      (given: typeof outgoing, own) => {
        const asked = {
          ...given,
          files: sent.map((file) => ({ ...file, read: () => readFile(file.handle) })),
          get signal() {
            return own.signal;
          },
        };
        return asked.receipt === undefined ? item.send(asked) : item.edit?.(asked as OutgoingEdit);
      },
      outgoing,
      acceptReceipt,
      undefined,
      { sessionKey },
    );
    return answer.ok ? { receipt: answer.value } : { reason: `the channel ${channel} ${inWords[answer.kind]}: ${answer.message}` };
  };

  async function readFile(handle: string): Promise<Uint8Array> {
    const { attachment } = await store.read('attachments.get', { handle });
    const content = await files.read(attachment);
    if (!content) throw new Error(`the file of attachment "${handle}" is not in this home folder`);
    return new Uint8Array(content);
  }
}

const inWords = {
  threw: 'failed',
  'timed-out': 'took too long',
  'wrong-shape': 'gave no receipt',
  dropped: 'was not asked',
  aborted: 'was not asked',
} as const;

function acceptReceipt(raw: unknown): { readonly value: string } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  return matches(Receipt, copied.value) ? { value: copied.value.id } : { wrong: 'it is not {id}' };
}
