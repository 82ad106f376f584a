// Every call that a plugin can make for as long as it is loaded, by its place in the api: what it does, and what the operator
// must have granted. Calls without a grant reach nothing but what is the plugin's own.
import type { GrantName } from './grants.ts';

interface LateCallSpec {
  readonly summary: string;
  readonly grant?: GrantName;
  /** Granted for what the argument names, one by one. */
  readonly grantFor?: GrantName;
}

export const lateCalls = {
  'session.state.get': { summary: 'Read its own state in a session.' },
  'session.state.read': { summary: 'Read its own state in a session with its revision, also what was removed.' },
  'session.state.update': { summary: 'Change its own state in a session, on the freshest value.' },
  'session.state.patch': { summary: 'Set its own state in a session.' },
  'session.state.list': { summary: 'List the sessions that have a value of its own.', grant: 'sessions.list' },
  'session.workflow.enqueueNextTurnInjection': { summary: 'Tell the agent something in the next turn, once.', grant: 'prompt.inject' },
  'session.workflow.continueAgent': { summary: 'Start a turn without a message.', grant: 'turns.start' },
  'session.workflow.notifyActionRequired': { summary: 'Call for a person, on every surface.', grant: 'people.notify' },
  'session.workflow.withdrawActionRequired': { summary: 'Take such a call back.', grant: 'people.notify' },
  'session.workflow.requestApproval': { summary: 'Ask the operator, and wait for the answer.', grant: 'approvals.request' },
  'session.workflow.scheduleSessionTurn': { summary: 'Start a turn at a later time.', grant: 'schedule.turns' },
  'session.workflow.unscheduleSessionTurnsByTag': { summary: 'Take back turns that it has scheduled.', grant: 'schedule.turns' },
  'session.workflow.sendSessionAttachment': {
    summary: 'Send files, text and buttons to where the session came from.',
    grant: 'attachments.send',
  },
  'session.workflow.updateSessionAttachment': {
    summary: 'Change the text and the buttons of what it has sent.',
    grant: 'attachments.send',
  },
  'channels.receive': { summary: 'Bring a message of a person in, with files, from a channel of its own.', grant: 'channels.serve' },
  'channels.pressButton': { summary: 'Tell that a person pressed a button, in a channel of its own.', grant: 'channels.serve' },
  'agent.events.emitAgentEvent': { summary: 'Say something in a stream of its own.', grant: 'events.emit' },
  'gateway.emit': { summary: 'Send an event of its own to clients.', grant: 'events.emit' },
  'secrets.get': { summary: 'Read a secret that the operator keeps, by its name.', grantFor: 'secrets.use' },
  'runContext.setRunContext': { summary: 'Remember something for as long as a run lasts.' },
  'runContext.getRunContext': { summary: 'Read what it remembers of a run.' },
  'runContext.clearRunContext': { summary: 'Forget what it remembers of a run.' },
  'lifecycle.onDispose': { summary: 'Be called when this load of it ends.' },
  now: { summary: 'Tell the time, as the gateway has it.' },
  resolvePath: { summary: 'Make a path of its own folder whole.' },
  'logger.debug': { summary: 'Write a log record under its name.' },
  'logger.info': { summary: 'Write a log record under its name.' },
  'logger.warn': { summary: 'Write a log record under its name.' },
  'logger.error': { summary: 'Write a log record under its name.' },
} as const satisfies Record<string, LateCallSpec>;

export type LateCall = keyof typeof lateCalls;
export type GrantedCall = { [Call in LateCall]: (typeof lateCalls)[Call] extends { grant: GrantName } ? Call : never }[LateCall];

export const lateCallNames = Object.keys(lateCalls) as LateCall[];

export function lateCallRow(call: LateCall): LateCallSpec {
  return lateCalls[call];
}

/** What an item or the answer of a handler may ask for by a field: the right that it takes beyond that of its kind. */
export const grantedFields = {
  continueAgent: { summary: 'In the answer of an action, a command or a change of a session: the agent goes on.', grant: 'turns.start' },
  inject: { summary: 'In the answer of an action or a change of a session: the agent is told something.', grant: 'prompt.inject' },
  agentPromptGuidance: { summary: 'Of a command: what the agent is told of it.', grant: 'prompt.inject' },
  requireApproval: {
    summary: 'In the answer of a tool policy or of `before_tool_call`: the operator is asked.',
    grant: 'approvals.request',
  },
} as const satisfies Record<string, LateCallSpec>;
