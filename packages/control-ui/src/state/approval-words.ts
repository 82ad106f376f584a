// Who asked and who decided, in words: a person is not known by the id of a token.
import type { Approval } from '@tenon/protocol';

/** The approval with names for the principals in it. What is answered is known by its id, which stays. */
export function named(approval: Approval, own: string | undefined): Approval {
  const { principal, decidedBy } = approval;
  return { ...approval, principal: nameOf(principal, own), ...(decidedBy === undefined ? {} : { decidedBy: nameOf(decidedBy, own) }) };
}

const SHOWN = 6;

function nameOf(principal: string, own: string | undefined): string {
  if (principal === own) return 'you';
  const [, kind, id] = /^(token|device):(.+)$/.exec(principal) ?? [];
  if (kind === undefined || id === undefined) return principal;
  return id.length > 2 * SHOWN ? `${kind} ${id.slice(0, SHOWN)}…` : `${kind} ${id}`;
}
