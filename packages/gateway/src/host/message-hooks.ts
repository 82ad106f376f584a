// What plugins have to say about something that is sent: before it is, and when it is known how it went.
import type { Delivery, DeliveryRecord } from '@tenon/protocol';
import type { HookInput, HookRunner } from './run-hook.ts';

export type SendingHooks = Pick<HookRunner, 'has' | 'run'>;

/** The text that is sent, or why nothing is. Contract: does not throw. */
export async function gateSending(
  hooks: SendingHooks | undefined,
  event: HookInput<'message_sending'>,
): Promise<{ readonly content: string } | { readonly cancelled: string }> {
  if (!hooks?.has('message_sending')) return { content: event.content };
  const outcome = await hooks.run('message_sending', event);
  return outcome.kind === 'refused'
    ? { cancelled: `plugin ${outcome.plugin} does not let it be sent: ${outcome.reason}` }
    : { content: outcome.event.content };
}

/** For a delivery that is settled. */
export function tellSent(hooks: SendingHooks | undefined, record: DeliveryRecord, { text = '' }: Delivery): void {
  if (!hooks?.has('message_sent') || record.state === 'waiting') return;
  const { id: deliveryId, sessionKey, entryId, channel, to, by, attempts, receipt, reason } = record;
  void hooks.run('message_sent', {
    ...{ sessionKey, deliveryId, entryId, channel, to, by, content: text, attempts },
    success: record.state === 'sent',
    ...(receipt === undefined ? {} : { receipt }),
    ...(reason === undefined ? {} : { error: reason }),
  });
}
