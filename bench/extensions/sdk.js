// The same by the SDK, as an author writes it.
import { defineExtension, defineTool } from '@tenon/extension-sdk';

defineExtension((tenon) => {
  tenon.name = 'bench';
  tenon.version = '1.0.0';
  tenon.registerTool(
    defineTool({
      name: 'echo',
      description: 'Says it again.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      execute: ({ text }) => text,
    }),
  );
  tenon.on('tool_call', () => undefined);
}).serve();
