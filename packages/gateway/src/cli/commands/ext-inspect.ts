import type { CommandSpec } from '../command.ts';
import { pluginInspect } from './plugin-inspect.ts';

export const extInspect: CommandSpec = {
  ...pluginInspect,
  path: 'ext inspect',
  summary: 'Show what an extension asked for, was granted, registered, what was not taken, and how its process does',
  examples: ['ext inspect notes', 'ext inspect notes --json'],
};
