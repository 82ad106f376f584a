// The methods that the page calls. The build makes checks of their answers for these and no others, so a call of
// anything else has to be added here first; the type sees to it.
import type { MethodName, Params, Result } from '@tenon/protocol';

export const pageMethods = [
  'agents.list',
  'approvals.forget',
  'approvals.list',
  'approvals.resolve',
  'approvals.rules',
  'chat.abort',
  'chat.history',
  'chat.send',
  'commands.list',
  'hooks.status',
  'hooks.trace',
  'hooks.trace.record',
  'models.list',
  'models.probe',
  'plugins.config',
  'plugins.disable',
  'plugins.enable',
  'plugins.get',
  'plugins.grant',
  'plugins.list',
  'plugins.reload',
  'plugins.revoke',
  'plugins.sessionAction',
  'plugins.uiDescriptors',
  'sessions.branch',
  'sessions.create',
  'sessions.delete',
  'sessions.export',
  'sessions.fork',
  'sessions.get',
  'sessions.import',
  'sessions.list',
  'sessions.patch',
  'sessions.rewind',
  'status',
  'tokens.list',
  'tools.catalog',
  'usage.get',
] as const satisfies readonly MethodName[];

export type PageMethod = (typeof pageMethods)[number];

export type Call = <Method extends PageMethod>(
  method: Method,
  params: Omit<Params<Method>, never>,
  options?: { timeoutMs?: number },
) => Promise<Result<Method>>;
