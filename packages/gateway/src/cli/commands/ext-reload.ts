import { defineCommand } from '../command.ts';
import { optional } from '../values.ts';
import { reload } from './plugin-reload.ts';

export const extReload = defineCommand({
  path: 'ext reload',
  summary: 'Look for extensions anew, and start one anew; the process that is at work stays if the new one is no good',
  examples: ['ext reload notes', 'ext reload'],
  args: { id: optional('Its name; without one, all extensions and plugins') },
  run: (context) => reload(context),
});
