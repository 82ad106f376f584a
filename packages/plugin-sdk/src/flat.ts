// The functions of the groups under plain names, as plugins of other hosts call them. The same functions, not copies.
import type { Registrations } from './registrations.ts';
import type { AgentEvents, RunContext, SessionWorkflow } from './facades.ts';

/** Work as long as the plugin is loaded. */
export interface FlatRuntime {
  /** @deprecated Use `api.session.workflow.enqueueNextTurnInjection`. */
  readonly enqueueNextTurnInjection: SessionWorkflow['enqueueNextTurnInjection'];
  /** @deprecated Use `api.session.workflow.scheduleSessionTurn`. */
  readonly scheduleSessionTurn: SessionWorkflow['scheduleSessionTurn'];
  /** @deprecated Use `api.session.workflow.unscheduleSessionTurnsByTag`. */
  readonly unscheduleSessionTurnsByTag: SessionWorkflow['unscheduleSessionTurnsByTag'];
  /** @deprecated Use `api.session.workflow.sendSessionAttachment`. */
  readonly sendSessionAttachment: SessionWorkflow['sendSessionAttachment'];
  /** @deprecated Use `api.agent.events.emitAgentEvent`. */
  readonly emitAgentEvent: AgentEvents['emitAgentEvent'];
  /** @deprecated Use `api.runContext.setRunContext`. */
  readonly setRunContext: RunContext['setRunContext'];
  /** @deprecated Use `api.runContext.getRunContext`. */
  readonly getRunContext: RunContext['getRunContext'];
  /** @deprecated Use `api.runContext.clearRunContext`. */
  readonly clearRunContext: RunContext['clearRunContext'];
}

/** Work inside `register`. */
export interface FlatRegistrations {
  /** @deprecated Use `api.session.state.registerSessionExtension`. */
  readonly registerSessionExtension: Registrations['session']['state']['registerSessionExtension'];
  /** @deprecated Use `api.session.workflow.registerSessionSchedulerJob`. */
  readonly registerSessionSchedulerJob: Registrations['session']['workflow']['registerSessionSchedulerJob'];
  /** @deprecated Use `api.session.controls.registerSessionAction`. */
  readonly registerSessionAction: Registrations['session']['controls']['registerSessionAction'];
  /** @deprecated Use `api.session.controls.registerControlUiDescriptor`. */
  readonly registerControlUiDescriptor: Registrations['session']['controls']['registerControlUiDescriptor'];
  /** @deprecated Use `api.agent.events.registerAgentEventSubscription`. */
  readonly registerAgentEventSubscription: Registrations['agent']['events']['registerAgentEventSubscription'];
  /** @deprecated Use `api.lifecycle.registerRuntimeLifecycle`. */
  readonly registerRuntimeLifecycle: Registrations['lifecycle']['registerRuntimeLifecycle'];
}
