import { defineExtension, defineTool } from '@tenon/extension-sdk';

export const extension = defineExtension((tenon) => {
  tenon.name = '__NAME__';
  tenon.version = '0.1.0';
  tenon.registerTool(
    defineTool({
      name: 'greet',
      description: 'Greet somebody by name.',
      parameters: {
        type: 'object',
        properties: { who: { type: 'string', description: 'Their name' } },
        required: ['who'],
        additionalProperties: false,
      },
      execute: ({ who }) => `Hello, ${who}!`,
    }),
  );
});

if (import.meta.main) extension.serve();
