// Every method's handler. Leaving one out does not compile.
import type { Handlers } from './handler.ts';
import { accessHandlers } from './methods/access.ts';
import { agentHandlers } from './methods/agents.ts';
import { attachmentHandlers } from './methods/attachments.ts';
import { chatHandlers } from './methods/chat.ts';
import { peopleHandlers } from './methods/people.ts';
import { pluginHandlers } from './methods/plugins.ts';
import { scheduleHandlers } from './methods/schedules.ts';
import { sessionHandlers } from './methods/sessions.ts';
import { systemHandlers } from './methods/system.ts';
import { traceHandlers } from './methods/trace.ts';
import { transcriptHandlers } from './methods/transcripts.ts';

export const handlers: Handlers = {
  ...systemHandlers,
  ...sessionHandlers,
  ...transcriptHandlers,
  ...chatHandlers,
  ...agentHandlers,
  ...accessHandlers,
  ...pluginHandlers,
  ...traceHandlers,
  ...scheduleHandlers,
  ...attachmentHandlers,
  ...peopleHandlers,
};
