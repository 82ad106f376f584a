// Every operation on questions of extensions, with what each refuses.
import { at, key, type Step } from './stores-turns.ts';

const idOf = (name: string) => `${name}-question`.padEnd(22, '_');
const asked = (name: string, more: object = {}) => ({
  ...{
    key,
    id: idOf(name),
    extension: 'notes',
    kind: 'confirm' as const,
    asked: { prompt: 'Go on? \u0000\ud800' },
    expiresAt: at + 100,
    at,
  },
  ...more,
});
const reply = { confirmed: true };
const press = { entryId: 'none', buttonId: 'yes', by: 'token:a' };

export const questionScript: readonly Step[] = [
  ['write', 'ui.ask', asked('early')],
  ['write', 'sessions.create', { key, fields: {}, at }],
  ['write', 'ui.ask', asked('one')],
  ['write', 'ui.ask', asked('two', { via: 'token:b' })],
  ['write', 'ui.ask', asked('three', { confirmedBy: 'setting' })],
  ['read', 'ui.pending', { limit: 5 }],
  ['read', 'ui.pending', { key: 'agent:main:none', limit: 5 }],
  ['write', 'ui.answer', { id: idOf('one'), reply: { value: 'x' }, by: 'token:a', at }],
  ['write', 'ui.answer', { id: idOf('one'), reply, by: 'token:a', boundTo: 'agent:main:other', at }],
  ['write', 'ui.answer', { id: idOf('one'), reply, by: 'token:a', at }],
  ['write', 'ui.answer', { id: idOf('one'), reply, by: 'token:b', at }],
  ['write', 'ui.press', { key, press, id: idOf('two'), reply, answer: {}, at }],
  ['read', 'ui.get', { id: idOf('one') }],
  ['read', 'ui.get', { id: idOf('none') }],
  ['write', 'ui.settle', { which: { id: idOf('two') }, state: 'expired', reason: 'nobody answered', at: at + 100 }],
  ['write', 'ui.settle', { which: { extension: 'notes' }, state: 'cancelled', reason: 'it is gone', at: at + 100 }],
  ['read', 'ui.get', { id: idOf('two') }],
  ['read', 'stream.read', { after: 0, limit: 100 }],
  ['read', 'audit.list', { limit: 10 }],
];
