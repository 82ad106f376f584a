// A plugin changes what it has handed over in a session: its text and what it presents, not its files. Only its own, only where
// it was sent, only with the grant; what it says now stands in the transcript and in the audit log before the channel is asked
// to show it. The answer is always a value that says why not.
import { lateParams, limits } from '@tenon/protocol';
import type { AttachmentChangeOutcome } from '@tenon/plugin-sdk';
import type { Static } from 'typebox';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import { gateSending } from './message-hooks.ts';
import type { PluginLoad } from './plugin-load.ts';
import { beyondChannel, ownButtons, type SendDeps } from './send-attachment.ts';

const call = 'session.workflow.updateSessionAttachment';
const Given = lateParams[call];
type Given = Static<typeof Given>;

export function createUpdateAttachment(load: PluginLoad, deps: SendDeps): (given: unknown) => Promise<AttachmentChangeOutcome> {
  const { plugin } = load.facts;
  const { store, clock, registry, deliverer } = deps;

  return async (raw) => {
    const blocked = barrier(load, call);
    if (blocked) return blocked;
    const taken = take(Given, raw, 'change');
    if ('refused' in taken) return taken.refused;
    try {
      return await update(taken.value);
    } catch (error) {
      return refusalOf(error);
    }
  };

  async function update({ sessionKey, deliveryId, text, presentation }: Given): Promise<AttachmentChangeOutcome> {
    if (text === undefined && presentation === undefined) return refuse('invalid', 'change needs at least one of text and presentation');
    const said = Buffer.byteLength(JSON.stringify({ text, presentation }));
    if (said > limits.deliveryBytes.value)
      return refuse('limit', `the text and the presentation have ${said} bytes; ${limits.deliveryBytes.value} can be sent`);
    const buttons = ownButtons(presentation?.buttons ?? [], plugin, registry);
    if ('ok' in buttons) return buttons;
    await store.read('sessions.get', { key: sessionKey });
    const { record, delivery } = await store.read('deliveries.own', { key: sessionKey, id: deliveryId, pluginId: plugin });
    const channel = registry.findAny('channel', record.channel);
    if (!channel) return refuse('unavailable', `no plugin serves the channel ${record.channel}, where the delivery was sent`);
    const shown = presentation === undefined ? (delivery.presentation?.buttons ?? []) : buttons;
    const wished = text === undefined ? (delivery.text ?? '') : (text ?? '');
    const gated = await gateSending(deps.hooks, {
      ...{ sessionKey, channel: record.channel, to: record.to, by: plugin },
      content: wished.trim() === '' ? '' : wished,
      files: delivery.attachments.map(({ name }) => name),
      buttons: shown.map(({ label }) => label),
    });
    if ('cancelled' in gated) return refuse('unavailable', gated.cancelled);
    const beyond = beyondChannel(channel, { text: gated.content }, shown.length);
    if (beyond !== undefined) return refuse('limit', beyond);
    // What was waited for may have taken long: the plugin may have been unloaded, or lost its right.
    const late = barrier(load, call);
    if (late) return late;
    const isSaid = text !== undefined || gated.content !== wished;
    const { record: kept, changed } = await store.write('deliveries.update', {
      ...{ key: sessionKey, id: deliveryId, pluginId: plugin, at: clock.now() },
      ...(isSaid ? { text: gated.content === '' ? null : gated.content } : {}),
      ...(presentation === undefined ? {} : { presentation: presentation && { ...presentation, buttons } }),
    });
    const { id, entryId, edits } = kept.edits?.state === 'waiting' ? await deliverer.edit(kept) : kept;
    return Object.freeze({
      ok: true,
      deliveryId: id,
      entryId,
      revision: kept.edits?.revision ?? 0,
      changed,
      edits: edits?.state ?? 'done',
    });
  }
}
