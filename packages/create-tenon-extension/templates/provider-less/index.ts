import { defineExtension, defineTool } from '@tenon/extension-sdk';

const shout = (text: string) => `${text.toUpperCase()}!`;

export const extension = defineExtension((tenon) => {
  tenon.name = '__NAME__';
  tenon.version = '0.1.0';
  tenon.registerTool(
    defineTool({
      name: 'shout',
      description: 'Say something loudly.',
      parameters: { type: 'object', properties: { text: { type: 'string', minLength: 1 } }, required: ['text'] },
      execute: ({ text }) => shout(text),
    }),
  );
  tenon.registerCommand('turns', {
    description: 'How many turns there were.',
    handler: async () => `${Number((await tenon.kv.get('turns')) ?? 0)} turns`,
  });
  tenon.on('turn_end', async () => {
    await tenon.kv.set('turns', Number((await tenon.kv.get('turns')) ?? 0) + 1);
  });
});

if (import.meta.main) extension.serve();
