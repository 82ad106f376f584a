// Approvals by the beginning of their id, as people type it.
import type { Approval } from '@tenon/protocol';
import type { CommandContext } from '../context.ts';
import { pick } from './pick.ts';

/** The approval that the text means: among those that wait, else among those that were answered. */
export async function findApproval(typed: string, { call }: Pick<CommandContext, 'call'>, pendingOnly: boolean): Promise<Approval> {
  const named = (approvals: readonly Approval[]) => approvals.map((approval) => ({ id: approval.id, name: approval.id, approval }));
  const { approvals } = await call('approvals.list', { state: 'pending', limit: 200 });
  const pending = named(approvals);
  if (pendingOnly || pending.some(({ id }) => id.startsWith(typed))) return pick(pending, typed, 'approval', 'tenon approve ls').approval;
  const decided = await call('approvals.list', { state: 'decided', limit: 200 });
  return pick([...pending, ...named(decided.approvals)], typed, 'approval', 'tenon approve ls --decided').approval;
}
