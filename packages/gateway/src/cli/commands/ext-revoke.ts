import type { CommandSpec } from '../command.ts';
import { pluginRevoke } from './plugin-revoke.ts';

export const extRevoke: CommandSpec = {
  ...pluginRevoke,
  path: 'ext revoke',
  summary: 'Take a right of an extension back, at once',
  examples: ['ext revoke notes tools.register', 'ext revoke notes extension.use:bus'],
};
