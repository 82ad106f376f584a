import type { CommandSpec } from '../command.ts';
import { pluginGrant } from './plugin-grant.ts';

export const extGrant: CommandSpec = {
  ...pluginGrant,
  path: 'ext grant',
  summary: 'Let an extension do something that its manifest asks for',
  examples: ['ext grant notes tools.register', 'ext grant notes extension.use:bus hooks.intercept:before_tool_call'],
};
