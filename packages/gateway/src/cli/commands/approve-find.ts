// Approvals by the beginning of their id, as people type it.
import type { Approval } from '@tenon/protocol';
import type { CommandContext } from '../context.ts';
import { CliError, exitCodes } from '../failure.ts';
import { pick } from './pick.ts';

/** The approval that the text means: among those that wait, else among those that were answered. */
export async function findApproval(typed: string, { call }: Pick<CommandContext, 'call'>, pendingOnly: boolean): Promise<Approval> {
  const named = (approvals: readonly Approval[]) => approvals.map((approval) => ({ id: approval.id, name: approval.id, approval }));
  const pending = named(await allApprovals(call, 'pending'));
  if (pending.some(({ id }) => id.startsWith(typed))) return pick(pending, typed, 'approval', 'tenon approve ls').approval;
  const found = pick([...pending, ...named(await allApprovals(call, 'decided'))], typed, 'approval', 'tenon approve ls --decided').approval;
  if (!pendingOnly) return found;
  const { stateText } = await import('../chat/question.ts');
  throw new CliError(
    'CONFLICT',
    exitCodes.failed,
    `${found.title} was answered already: ${stateText(found)}`,
    `see: tenon approve show ${found.id}`,
  );
}

/** As many as one looks through at most: an answer has as many as fit a frame, and says where to go on. */
const MOST = 1_000;

async function allApprovals(call: CommandContext['call'], state: 'pending' | 'decided'): Promise<Approval[]> {
  const found: Approval[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await call('approvals.list', { state, limit: 200, cursor });
    found.push(...page.approvals);
    if (page.nextCursor === undefined || found.length >= MOST) return found;
    cursor = page.nextCursor;
  }
}
