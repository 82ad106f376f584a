// What the figures of plugins press: an action that only answers, one that keeps something, and one that lets the next turn be
// told as much as can wait.
import { definePluginEntry } from '@tenon/plugin-sdk';

const WAITING = 32;

// biome-ignore lint/style/noDefaultExport: the host looks for the default export of a plugin
export default definePluginEntry({
  id: 'bench',
  register(api) {
    api.registerSessionExtension({ namespace: 'kept', description: 'The last number' });
    api.registerSessionAction({ id: 'look', handler: ({ payload }) => ({ result: payload ?? null }) });
    api.registerSessionAction({ id: 'keep', handler: ({ payload }) => ({ statePatch: { kept: payload ?? null } }) });
    api.registerSessionAction({
      id: 'tell',
      async handler({ sessionKey }) {
        for (let number = 0; number < WAITING; number++) {
          const text = `Note ${number}: ${'some words '.repeat(5)}`;
          const { enqueued, reason } = await api.session.workflow.enqueueNextTurnInjection({ sessionKey, text });
          if (!enqueued) return { ok: false, error: reason };
        }
        return { ok: true };
      },
    });
  },
});
