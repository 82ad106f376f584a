// Every method's handler. Leaving one out does not compile.
import type { Handlers } from './handler.ts';
import { accessHandlers } from './methods/access.ts';
import { sessionHandlers } from './methods/sessions.ts';
import { systemHandlers } from './methods/system.ts';

export const handlers: Handlers = { ...systemHandlers, ...sessionHandlers, ...accessHandlers };
