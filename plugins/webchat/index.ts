// The channel of the page, the terminal and programs. What is sent stands in the transcript before a channel is asked, and every
// client is told of the entry, those that connect later too: there is nothing left to carry, and the entry is the receipt.
import { definePluginEntry } from '@tenon/plugin-sdk';

// biome-ignore lint/style/noDefaultExport: the host looks for the default export of a plugin
export default definePluginEntry({
  id: 'webchat',
  register(api) {
    api.registerChannel({
      id: 'webchat',
      label: 'Webchat',
      description: 'The page, the terminal and programs',
      send: ({ entryId }) => ({ id: entryId }),
      // What became of it stands in the transcript, too.
      edit: ({ entryId }) => ({ id: entryId }),
    });
  },
});
