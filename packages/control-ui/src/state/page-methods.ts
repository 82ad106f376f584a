// The methods that the page calls. The build makes checks of their answers for these and no others, so a call of
// anything else has to be added here first; the type sees to it.
import type { MethodName, Params, Result } from '@tenon/protocol';

export const firstMethods = [
  'actions.dismiss',
  'actions.pending',
  'agents.list',
  'approvals.list',
  'approvals.resolve',
  'chat.abort',
  'chat.history',
  'chat.send',
  'commands.list',
  'models.list',
  'plugins.list',
  'plugins.sessionAction',
  'plugins.uiDescriptors',
  'sessions.branch',
  'sessions.create',
  'sessions.delete',
  'sessions.fork',
  'sessions.get',
  'sessions.list',
  'sessions.patch',
  'sessions.rewind',
  'tokens.list',
  'usage.get',
] as const satisfies readonly MethodName[];

/** What only later views call: their checks are no part of the first load, and come with the first call of one of them. */
export const laterMethods = [
  'approvals.forget',
  'approvals.rules',
  'attachments.abort',
  'attachments.begin',
  'attachments.chunk',
  'attachments.commit',
  'attachments.remove',
  'commands.complete',
  'cron.add',
  'cron.history',
  'cron.list',
  'cron.pause',
  'cron.preview',
  'cron.remove',
  'cron.resume',
  'cron.run',
  'cron.update',
  'deliveries.press',
  'hooks.status',
  'hooks.trace',
  'hooks.trace.record',
  'models.probe',
  'plugins.changes',
  'plugins.config',
  'plugins.disable',
  'plugins.enable',
  'plugins.get',
  'plugins.grant',
  'plugins.logs',
  'plugins.reload',
  'plugins.revoke',
  'sessions.export',
  'sessions.import',
  'status',
  'tools.catalog',
  'ui.answer',
  'ui.pending',
] as const satisfies readonly MethodName[];

export const pageMethods = [...firstMethods, ...laterMethods] as const;

export type PageMethod = (typeof pageMethods)[number];

export type Call = <Method extends PageMethod>(
  method: Method,
  params: Omit<Params<Method>, never>,
  options?: { timeoutMs?: number },
) => Promise<Result<Method>>;
