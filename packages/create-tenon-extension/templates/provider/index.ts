import { defineExtension, defineProvider } from '@tenon/extension-sdk';

export const extension = defineExtension((tenon) => {
  tenon.name = '__NAME__';
  tenon.version = '0.1.0';
  tenon.registerProvider(
    defineProvider({
      name: '__NAME__',
      models: [{ id: 'echo-1', displayName: 'Echo 1' }],
      // Ask your service here; pass `signal` on, so that a turn that is stopped stops it too.
      async complete({ messages }, { delta, signal }) {
        const last = messages.findLast(({ role }) => role === 'user');
        const text = `You said: ${String(last?.content ?? 'nothing')}`;
        for (const word of text.split(/(?<= )/)) {
          signal.throwIfAborted();
          delta(word);
        }
        return { content: text, finish_reason: 'stop' };
      },
    }),
  );
});

if (import.meta.main) extension.serve();
