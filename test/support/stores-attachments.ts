// Every operation on attachments, deliveries and calls for a person, with what each refuses.
import type { NewAttachment } from '../../packages/gateway/src/store/attachments.ts';
import type { NewDelivery } from '../../packages/gateway/src/store/deliveries.ts';
import type { DeliveryChange } from '../../packages/gateway/src/store/delivery-edits.ts';
import { at, key, type Step } from './stores-turns.ts';

const quotas = { sessionBytes: 100, totalBytes: 200 };
const bounds = { open: 3, openPerOwner: 2 };
const idOf = (name: string) => `${name}-0123456789`.padEnd(22, '_');
const digestOf = (sign: string) => sign.repeat(64);
const upload = (name: string, more: object = {}) => ({
  ...{ uploadId: idOf(name), name, bytes: 10, owner: 'token:a', expiresAt: at + 1_000, bounds, quotas, at },
  ...more,
});
const file = (name: string, sign: string, bytes = 10): NewAttachment => ({
  ...{ handle: idOf(name), sha256: digestOf(sign), bytes, mime: 'text/plain', name, owner: 'token:a' },
});
const delivery = (name: string, more: Partial<NewDelivery> = {}): NewDelivery => ({
  ...{ key, id: idOf(name), pluginId: 'one', pluginName: 'One', route: { channel: 'webchat', to: 'webchat' }, files: [], quotas, at },
  ...more,
});
const button = { id: 'yes', label: 'Yes', action: { pluginId: 'one', actionId: 'go' } };

/** Of what a plugin has sent. */
const change = (name: string, what: Pick<DeliveryChange, 'text' | 'presentation'>, more: Partial<DeliveryChange> = {}): Step[] => [
  ['write', 'deliveries.update', { key, id: idOf(name), pluginId: 'one', at, ...what, ...more }],
];

export const attachmentScript: readonly Step[] = [
  ['write', 'sessions.create', { key, fields: {}, at }],
  ['write', 'attachments.begin', upload('u1')],
  ['write', 'attachments.begin', upload('u2', { sessionKey: key })],
  ['write', 'attachments.begin', upload('u3')],
  ['write', 'attachments.begin', upload('u3', { owner: 'token:b', bytes: 500 })],
  ['write', 'attachments.begin', upload('u3', { owner: 'token:b', bytes: 150, sessionKey: key })],
  ['read', 'attachments.upload', { uploadId: idOf('u1'), at }],
  ['read', 'attachments.upload', { uploadId: idOf('u1'), at: at + 1_000 }],
  ['write', 'attachments.commit', { ...file('f1', 'a'), uploadId: idOf('u1'), quotas, at }],
  ['write', 'attachments.commit', { ...file('f1-again', 'a'), uploadId: idOf('u1'), quotas, at }],
  ['write', 'attachments.commit', { ...file('f2', 'b', 101), uploadId: idOf('u2'), quotas, at }],
  ['write', 'attachments.commit', { ...file('f2', 'b'), uploadId: idOf('u2'), quotas, at }],
  ['write', 'attachments.commit', { ...file('f9', 'b'), uploadId: idOf('none'), quotas, at }],
  ['read', 'attachments.upload', { uploadId: idOf('u1'), at }],
  ['write', 'attachments.abort', { uploadId: idOf('u1') }],
  ['read', 'attachments.get', { handle: idOf('f1') }],
  ['read', 'attachments.get', { handle: idOf('none') }],
  ['read', 'attachments.list', { limit: 1 }],
  ['read', 'attachments.list', { limit: 5, sessionKey: key }],
  ['read', 'attachments.list', { limit: 5, cursor: 'nonsense' }],
  ['read', 'attachments.known', { digests: [digestOf('a'), digestOf('f')] }],
  ['read', 'attachments.needed', { after: '', limit: 1 }],
  ['read', 'attachments.needed', { after: digestOf('a'), limit: 5 }],
  ['read', 'routes.get', { key }],
  ['write', 'deliveries.create', delivery('d1', { text: 'Hello', files: [file('f3', 'c')], requestKey: 'once' })],
  ['write', 'deliveries.create', delivery('d2', { text: 'Hello', requestKey: 'once' })],
  ['write', 'deliveries.create', delivery('d3', { files: [file('f4', 'd', 90)] })],
  ['write', 'deliveries.create', delivery('d4', { key: 'agent:main:none' })],
  ['read', 'deliveries.due', { at, limit: 5 }],
  ['write', 'deliveries.settle', { id: idOf('d1'), revision: 0, attempt: 1, outcome: { reason: 'not now', nextAt: at + 5 }, at }],
  ['read', 'deliveries.due', { at, limit: 5 }],
  ['write', 'deliveries.settle', { id: idOf('d1'), revision: 0, attempt: 2, outcome: { receipt: 'r1' }, at }],
  ['write', 'deliveries.settle', { id: idOf('d1'), revision: 0, attempt: 3, outcome: { reason: 'late' }, at }],
  ...change('d1', { text: 'Changed', presentation: { title: 'Shall it?', buttons: [button] } }),
  ...change('d1', { text: 'Changed' }),
  ...change('d1', { presentation: null }),
  ['read', 'deliveries.dueEdits', { at, limit: 5 }],
  ['write', 'deliveries.settleEdit', { id: idOf('d1'), revision: 1, attempt: 1, outcome: { receipt: 'of an older one' }, at }],
  ['write', 'deliveries.settleEdit', { id: idOf('d1'), revision: 2, attempt: 1, outcome: { reason: 'not now', nextAt: at + 5 }, at }],
  ['read', 'deliveries.dueEdits', { at, limit: 5 }],
  ['read', 'deliveries.troubled', {}],
  ['write', 'deliveries.settleEdit', { id: idOf('d1'), revision: 2, attempt: 6, outcome: { reason: 'never' }, at }],
  ['read', 'deliveries.troubled', {}],
  ...change('d1', { text: null }),
  ['write', 'deliveries.settleEdit', { id: idOf('d1'), revision: 3, attempt: 0, outcome: 'none', at }],
  ...change('d1', { text: 'x' }, { pluginId: 'two' }),
  ...change('d1', { text: 'x' }, { key: 'agent:main:none' }),
  ...change('none', { text: 'x' }),
  ['read', 'deliveries.own', { key, id: idOf('d1'), pluginId: 'one' }],
  ['read', 'deliveries.own', { key, id: idOf('d1'), pluginId: 'two' }],
  ['write', 'deliveries.create', delivery('d6', { text: 'Hello' })],
  ...change('d6', { text: null }),
  ...change('d6', { text: 'It went with it' }),
  ['read', 'deliveries.dueEdits', { at, limit: 5 }],
  ['write', 'deliveries.settle', { id: idOf('d6'), revision: 1, attempt: 1, outcome: { receipt: 'r6' }, at }],
  ['write', 'deliveries.create', delivery('d5', { presentation: { title: 'Shall it?', buttons: [button] } })],
  ['write', 'deliveries.settle', { id: idOf('d5'), revision: 0, attempt: 6, outcome: { reason: 'never' }, at }],
  ...change('d5', { text: 'x' }),
  ['read', 'deliveries.get', { id: idOf('d5') }],
  ['read', 'deliveries.get', { id: idOf('none') }],
  ['read', 'deliveries.troubled', {}],
  ['read', 'deliveries.list', { limit: 1 }],
  ['read', 'deliveries.list', { limit: 5, sessionKey: key }],
  ['read', 'deliveries.button', { key, entryId: 'none', buttonId: 'yes' }],
  ['write', 'deliveries.press', { key, press: { entryId: 'none', buttonId: 'yes', by: 'token:a' }, answer: {}, at }],
  ['write', 'actions.require', { key, id: idOf('n1'), pluginId: 'one', pluginName: 'One', title: 'Look', requestKey: 'Look', at }],
  ['write', 'actions.require', { key, id: idOf('n2'), pluginId: 'one', pluginName: 'One', title: 'Look', requestKey: 'Look', at }],
  [
    'write',
    'actions.require',
    {
      ...{ key, id: idOf('n3'), pluginId: 'one', pluginName: 'One', title: 'Go?', requestKey: 'go', at },
      actions: [{ label: 'Go', actionId: 'go' }],
    },
  ],
  ['read', 'actions.pending', { limit: 5 }],
  ['read', 'actions.pending', { limit: 5, key, pluginId: 'two' }],
  ['write', 'plugins.act', { key, pluginId: 'one', puts: [], drafts: [], answer: { ok: true }, actionId: 'go', at }],
  ['write', 'actions.dismiss', { id: idOf('n1'), boundTo: 'agent:main:other', at }],
  ['write', 'actions.dismiss', { id: idOf('n1'), at }],
  ['write', 'actions.withdraw', { key, pluginId: 'one', at }],
  ['write', 'attachments.remove', { handle: idOf('f2'), by: 'token:a', at }],
  ['write', 'attachments.remove', { handle: idOf('f2'), by: 'token:a', at }],
  ['write', 'attachments.expire', { at: at + 10_000, unusedMs: 10_000 }],
  ['read', 'attachments.garbage', {}],
  ['write', 'attachments.forgetGarbage', { sha256: digestOf('b') }],
  ['write', 'sessions.delete', { key, at }],
  ['read', 'attachments.garbage', {}],
  ['read', 'attachments.list', { limit: 5 }],
  ['read', 'stream.read', { after: 0, limit: 200 }],
];
