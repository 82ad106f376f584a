import { defineCommand } from '../command.ts';
import { list, on, required } from '../values.ts';
import { enable } from './plugin-enable.ts';

export const extTrust = defineCommand({
  path: 'ext trust',
  summary: 'Trust the files of an extension as they are now, grant what it asks for, and start it',
  examples: ['ext trust notes', 'ext trust notes --grant tools.register --yes', 'ext trust notes --unconfined'],
  args: { id: required('Its name') },
  options: {
    grant: list('<grants>', 'Grant only these'),
    unconfined: on('Where no sandbox works, let it run unconfined, with your rights'),
    yes: on('Do not ask', 'y'),
  },
  run: (context) => enable(context, { noun: 'extension', inspect: 'ext inspect' }),
});
