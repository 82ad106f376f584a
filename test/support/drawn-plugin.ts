// A plugin that shows something on every surface with every kind of block, for tests of whatever draws it; and one whose every
// text is markup that wants to be more than text.
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { writePlugin } from './plugins.ts';

const grants = ['ui.descriptors', 'commands.register', 'people.notify'];

/** Writes it into the folder `plugins` of the home; a gateway finds it with `--plugins-paths plugins`. */
export function writeDrawnPlugin(home: string): void {
  mkdirSync(join(home, 'plugins'), { recursive: true, mode: 0o755 });
  writePlugin(join(home, 'plugins'), { id: 'drawn', grants, register: drawn });
}

const drawn = `
  const keep = (sessionKey, change) => api.session.state.update(sessionKey, 'box', (now) => ({ ...(now ?? {}), ...change }));
  api.registerSessionExtension({ namespace: 'box', description: 'What the tests put there', project: ({ state }) => state });
  api.registerSessionAction({
    id: 'set',
    description: 'Keeps what it is given',
    async handler({ sessionKey, payload }) { await keep(sessionKey, payload ?? {}); return { result: 'Kept.' }; },
  });
  api.registerSessionAction({ id: 'no', async handler() { return { ok: false, error: 'Not today', code: 'NOT_TODAY' }; } });
  api.registerSessionAction({ id: 'crash', async handler() { throw new Error('inner words'); } });
  api.registerSessionAction({ id: 'reply', async handler() { return { reply: 'It was **pressed**.' }; } });
  api.registerSessionAction({ id: 'slow', async handler({ sessionKey }) {
    for (let n = 0; n < 600 && !(await api.session.state.get(sessionKey, 'box'))?.value?.go; n++) await new Promise((resolve) => setTimeout(resolve, 25));
    return { result: 'At last.' };
  } });
  api.registerSessionAction({ id: 'admin', requiredScopes: ['operator.admin'], async handler() { return {}; } });
  api.registerSessionAction({
    id: 'form',
    description: 'Takes one of everything',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', maxLength: 40, description: 'What it is called' },
        story: { type: 'string', maxLength: 4000 },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        loud: { type: 'boolean' },
        size: { enum: ['small', 'large'] },
        extra: { type: 'array', items: { type: 'string' } },
      },
      required: ['name', 'count', 'size'],
      additionalProperties: false,
    },
    async handler({ sessionKey, payload }) { await keep(sessionKey, { filled: payload }); return { result: { text: 'Filled in.' } }; },
  });
  api.registerSessionAction({ id: 'json', schema: { oneOf: [{ type: 'string' }, { type: 'number' }], type: ['string', 'number'] },
    async handler({ sessionKey, payload }) { await keep(sessionKey, { json: payload }); return {}; } });
  api.registerSessionAction({ id: 'need', async handler({ sessionKey }) {
    const told = api.session.workflow.notifyActionRequired({ sessionKey, title: 'Somebody has to look', actions: [{ label: 'I looked', actionId: 'set' }] });
    return told.ok ? {} : { ok: false, error: told.message };
  } });
  api.registerCommand({ name: 'mood', description: 'Sets the mood', usage: '/mood <word>',
    async handler({ sessionKey, args }) { await keep(sessionKey, { mood: args }); return { text: 'The mood is ' + args }; } });
  const from = (path) => ({ namespace: 'box', path });
  api.registerControlUiDescriptor({
    id: 'panel', label: 'Everything at once', surface: 'session', description: 'Every kind of block', activeWhen: from('/shown'),
    view: [
      { kind: 'status', from: from('/status') },
      { kind: 'markdown', label: 'Words', from: from('/words') },
      { kind: 'key-value', label: 'Facts', from: from('/facts') },
      { kind: 'progress', label: 'Progress', from: from('/progress') },
      { kind: 'list', label: 'Tasks', from: from('/tasks'), itemAction: { label: 'Tick', actionId: 'tick', fields: ['id'] } },
      { kind: 'table', label: 'Hosts', from: from('/hosts') },
      { kind: 'diff', label: 'Changes', from: from('/diff') },
      { kind: 'list', label: 'Shown as text', from: from('/facts') },
    ],
    actions: [{ label: 'Does not exist', actionId: 'missing' }, { label: 'Only for admins', actionId: 'admin' }],
  });
  api.registerSessionAction({ id: 'tick', schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false },
    async handler({ sessionKey, payload, state }) {
      await keep(sessionKey, { tasks: state('box').tasks.map((each) => (each.id === payload.id ? { ...each, done: !each.done } : each)) });
      return {};
    } });
  api.registerControlUiDescriptor({
    id: 'card', label: 'A card in the chat', surface: 'chat-message', priority: 5, activeWhen: from('/shown'),
    view: [{ kind: 'markdown', text: 'Choose **one**.' }],
    actions: [
      { label: 'Fill in', style: 'primary', actionId: 'form' },
      { label: 'Say no', style: 'danger', actionId: 'no' },
      { label: 'Crash', actionId: 'crash' },
      { label: 'Reply', actionId: 'reply' },
      { label: 'Slow', actionId: 'slow' },
      { label: 'As JSON', actionId: 'json' },
      { label: 'Needs you', actionId: 'need' },
      { label: 'Copy the facts', actionId: 'set', payloadFrom: from('/copy'), when: from('/copy') },
    ],
  });
  api.registerControlUiDescriptor({
    id: 'second', label: 'A second card', surface: 'chat-message', activeWhen: from('/shown'), view: [{ kind: 'markdown', text: 'Below the first.' }],
  });
  api.registerControlUiDescriptor({
    id: 'bar', label: 'git.example.net ends in 9 days', surface: 'chat-input-bar', activeWhen: from('/bar'),
    view: [{ kind: 'progress', from: from('/bar') }], actions: [{ label: 'Hide', actionId: 'set', payload: { bar: null } }],
  });
  api.registerControlUiDescriptor({
    id: 'mood', label: 'Mood', surface: 'chat-input-toolbar-chip', description: 'How it answers',
    options: [
      { label: 'Calm', when: { ...from('/mood'), equals: 'calm' }, action: { command: '/mood calm' } },
      { label: 'Busy', when: { ...from('/mood'), equals: 'busy' }, action: { actionId: 'set', payload: { mood: 'busy' } } },
      { label: 'No mood', action: { actionId: 'set', payload: { mood: null } } },
    ],
  });
  api.registerControlUiDescriptor({
    id: 'line', label: 'Next check', surface: 'status', activeWhen: from('/shown'), view: [{ kind: 'status', text: 'next check 14:00' }],
  });
  api.registerControlUiDescriptor({
    id: 'confirm', label: 'Careful', surface: 'status', activeWhen: from('/careful'), view: [{ kind: 'status', text: 'careful' }],
    composer: { mode: 'confirm', reason: 'Something is being moved right now' },
  });
  api.registerControlUiDescriptor({
    id: 'own', label: 'Settings of its own', surface: 'settings', view: [{ kind: 'markdown', text: 'Nothing to set.' }],
    actions: [{ label: 'Forget the mood', actionId: 'set', payload: { mood: null } }],
  });
`;

/** What the panel of the plugin shows, one of each kind. */
export const everyBlock = {
  shown: true,
  status: { text: 'Waits for a window', tone: 'warn' },
  words: 'Renews **one** certificate with `certbot`.',
  facts: { Turn: 14, 'Tools used': 'cert_list 1, shell 4', Approvals: 'none yet' },
  progress: { value: 2, max: 4, text: '2 of 4' },
  tasks: [
    { id: 1, text: 'Renew edge-2', detail: 'Done, 18 s', done: true },
    { id: 2, text: 'List November end dates', done: false },
  ],
  hosts: [
    { host: 'edge-2', ends: '13 February' },
    { host: 'mail', ends: '21 November' },
  ],
  diff: '--- a/nginx.conf\n+++ b/nginx.conf\n@@ -1,2 +1,2 @@\n server {\n-  listen 80;\n+  listen 443 ssl;',
};

/** One descriptor for each surface whose every text is this one; the state has it in every place, too. */
export function writeHostilePlugin(home: string, texts: readonly string[]): void {
  mkdirSync(join(home, 'plugins'), { recursive: true, mode: 0o755 });
  writePlugin(join(home, 'plugins'), {
    id: 'hostile',
    grants,
    manifest: { description: texts[0]!.slice(0, 400) },
    register: `
      const texts = ${JSON.stringify(texts)};
      const short = (at) => texts[at % texts.length].slice(0, 500).replaceAll('\\n', ' ') || 'x';
      api.registerSessionExtension({ namespace: 'box', description: 'x', project: ({ state }) => state });
      const property = (at) => ({ type: 'string', title: short(at), description: short(at), default: texts[at % texts.length].slice(0, 100) });
      const surfaces = ['session', 'chat-message', 'chat-input-bar', 'chat-input-toolbar-chip', 'status', 'settings'];
      surfaces.forEach((surface, nth) => {
        for (let at = nth; at < texts.length; at += surfaces.length) {
          api.registerSessionAction({ id: 'a' + at, description: short(at), schema: { type: 'object', properties: { a: property(at), b: { ...property(at), enum: [short(at), short(at + 1)], default: undefined } }, required: ['a'] },
            async handler() { return { ok: false, error: short(at) || 'no' }; } });
          api.registerControlUiDescriptor({
            id: 'd' + at, label: short(at), description: short(at), surface,
            view: surface === 'status' ? [{ kind: 'status', text: texts[at] }] : [
              { kind: 'markdown', label: short(at), text: texts[at] },
              { kind: 'status', text: texts[at] },
              { kind: 'diff', text: texts[at] },
              { kind: 'list', text: texts[at] },
              { kind: 'key-value', text: texts[at] },
              { kind: 'progress', from: { namespace: 'box', path: '/progress/' + at } },
              { kind: 'table', from: { namespace: 'box', path: '/table/' + at } },
              { kind: 'list', from: { namespace: 'box', path: '/items/' + at }, itemAction: { label: short(at), actionId: 'a' + at, fields: ['x'] } },
            ],
            actions: [{ label: short(at), actionId: 'a' + at }],
          });
        }
      });
    `,
  });
}

/** The state that goes with it. */
export function hostileState(texts: readonly string[]) {
  return {
    progress: texts.map((text) => ({ value: 1, max: 2, text })),
    table: texts.map((text) => [{ [text.slice(0, 200).replaceAll('\0', '') || 'x']: text }]),
    items: texts.map((text) => [{ x: 1, text, detail: text, tone: text }]),
  };
}
