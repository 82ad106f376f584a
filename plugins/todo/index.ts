// A list of things to do in every session. The agent keeps it with a tool, people with a command or in the page; all three
// change the same state, one after another.
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';

interface Item {
  readonly id: number;
  readonly text: string;
  readonly done: boolean;
}

/** Thrown inside a change: nothing is changed, and whoever asked reads why. */
class Wrong extends Error {}

const NAMESPACE = 'todo';
const MAX_ITEMS = 100;
const MAX_TEXT = 500;

// biome-ignore lint/style/noDefaultExport: the host looks for the default export of a plugin
export default definePluginEntry({
  id: 'todo',
  name: 'Todo',
  register(api) {
    api.registerSessionExtension({
      namespace: NAMESPACE,
      description: 'What there is to do in this session',
      project: ({ state }) => readItems(state).map(({ id, text, done }) => ({ id, text, done })),
    });

    api.registerTool({
      name: 'todo',
      label: 'Todo list',
      description: 'Keep the list of things to do in this session: list it, add something, mark something as done, remove something.',
      parameters: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['list', 'add', 'done', 'remove'] },
          text: { type: 'string', minLength: 1, maxLength: MAX_TEXT, description: 'For add: what there is to do' },
          id: { type: 'integer', minimum: 1, description: 'For done and remove: the number in the list' },
        },
        required: ['action'],
        additionalProperties: false,
      },
      // It changes nothing but its own list.
      risk: 'read',
      tags: ['planning'],
      async execute({ action, text, id }, { sessionKey, state }) {
        if (action === 'list') return { content: show(readItems(state(NAMESPACE))) };
        const word = action === 'add' ? text : id;
        if (word === undefined) return { content: `"${action}" needs ${action === 'add' ? 'text' : 'id'}`, isError: true };
        const changed = await change(api, sessionKey, String(action), String(word));
        return 'wrong' in changed ? { content: changed.wrong, isError: true } : { content: show(changed.items) };
      },
    });

    api.registerCommand({
      name: 'todo',
      description: 'Shows and changes the list of things to do',
      usage: '/todo [add <text> | done <number> | toggle <number> | remove <number>]',
      async handler({ sessionKey, args, state }) {
        const [, action = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? [];
        if (action === '' || action === 'list') return { text: show(readItems(state(NAMESPACE))) };
        const changed = await change(api, sessionKey, action, rest.trim());
        return { text: 'wrong' in changed ? changed.wrong : show(changed.items) };
      },
    });

    api.registerSessionAction({
      id: 'toggle',
      description: 'Marks something as done, or as not done',
      schema: {
        type: 'object',
        properties: { id: { type: 'integer', minimum: 1 } },
        required: ['id'],
        additionalProperties: false,
      },
      // Not by a patch of the state: it would replace what the agent adds while the button is pressed.
      async handler({ payload, sessionKey }) {
        const { id } = payload as { id: number };
        const changed = await change(api, sessionKey, 'toggle', String(id));
        if ('wrong' in changed) return { ok: false, error: changed.wrong, code: 'NOT_CHANGED' };
        return { result: { id, done: changed.items.find((item) => item.id === id)!.done } };
      },
    });

    api.registerSessionAction({
      id: 'add',
      description: 'Adds something to do',
      schema: {
        type: 'object',
        properties: { text: { type: 'string', title: 'What there is to do', minLength: 1, maxLength: MAX_TEXT } },
        required: ['text'],
        additionalProperties: false,
      },
      async handler({ payload, sessionKey }) {
        const { text } = payload as { text: string };
        const changed = await change(api, sessionKey, 'add', text.trim());
        if ('wrong' in changed) return { ok: false, error: changed.wrong, code: 'NOT_CHANGED' };
        return { result: { id: changed.items.at(-1)!.id } };
      },
    });

    api.registerControlUiDescriptor({
      id: 'list',
      label: 'Todo',
      surface: 'session',
      description: 'What there is to do in this session',
      // Always: whoever opens the panel can begin the list there.
      view: [{ kind: 'list', from: { namespace: NAMESPACE }, itemAction: { label: 'Done or not', actionId: 'toggle', fields: ['id'] } }],
      actions: [{ label: 'Add', actionId: 'add', ask: true }],
    });
  },
});

/** Contract: gives the list as it is kept afterwards, or why nothing was changed. */
async function change(
  api: RegisterApi,
  sessionKey: string,
  action: string,
  word: string,
): Promise<{ readonly items: readonly Item[] } | { readonly wrong: string }> {
  let outcome: { readonly items: readonly Item[] } | { readonly wrong: string } = { items: [] };
  const written = await api.session.state.update(sessionKey, NAMESPACE, (current) => {
    const before = readItems(current);
    try {
      outcome = { items: changedBy(before, action, word) };
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      outcome = { wrong: error.message };
    }
    return 'wrong' in outcome ? (current ?? null) : toJson(outcome.items);
  });
  return written.ok ? outcome : { wrong: `The list was not changed: ${written.message}` };
}

function changedBy(items: readonly Item[], action: string, word: string): readonly Item[] {
  switch (action) {
    case 'add': {
      if (word === '') throw new Wrong('Say what there is to do: add <text>');
      if (word.length > MAX_TEXT) throw new Wrong(`That has ${word.length} characters; ${MAX_TEXT} are possible`);
      if (items.length >= MAX_ITEMS) throw new Wrong(`The list has ${MAX_ITEMS} things already; remove one first`);
      return [...items, { id: Math.max(0, ...items.map(({ id }) => id)) + 1, text: word, done: false }];
    }
    case 'done':
    case 'toggle':
    case 'remove': {
      const id = Number(word);
      if (!items.some((item) => item.id === id)) throw new Wrong(unknownItem(word));
      if (action === 'remove') return items.filter((item) => item.id !== id);
      return items.map((item) => (item.id === id ? { ...item, done: action === 'done' || !item.done } : item));
    }
    default:
      throw new Wrong(`There is no "${action.slice(0, 64)}"; there are list, add, done, toggle and remove`);
  }
}

const unknownItem = (id: string) => `There is nothing with the number "${id.slice(0, 64)}" in the list`;

function show(items: readonly Item[]): string {
  if (items.length === 0) return 'There is nothing to do.';
  return items.map(({ id, text, done }) => `${id}. [${done ? 'x' : ' '}] ${text}`).join('\n');
}

/** Whatever is kept there: only what is an item of a list. */
function readItems(value: unknown): readonly Item[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item: Partial<Item> | null): item is Item => {
    return typeof item?.id === 'number' && typeof item.text === 'string' && typeof item.done === 'boolean';
  });
}

/** As plain values, which is what is kept. */
function toJson(items: readonly Item[]) {
  return items.map(({ id, text, done }) => ({ id, text, done }));
}
