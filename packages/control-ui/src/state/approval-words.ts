// Who asked and who decided, in words: a person is not known by the id of a token.
import type { Approval } from '@tenon/protocol';

type Names = ReadonlyMap<string, string>;

/** The approval with names for the principals in it. What is answered is known by its id, which stays. */
export function named(approval: Approval, own: string | undefined, names: Names): Approval {
  const { principal, decidedBy } = approval;
  return {
    ...approval,
    principal: nameOf(principal, own, names),
    ...(decidedBy === undefined ? {} : { decidedBy: nameOf(decidedBy, own, names) }),
  };
}

/** Without a name the whole id: two that begin alike must not look like one. */
export function nameOf(principal: string, own: string | undefined, names: Names): string {
  if (principal === own) return 'you';
  const [, kind, id] = /^(token|device):(.+)$/.exec(principal) ?? [];
  if (kind === undefined || id === undefined) return principal;
  const name = names.get(principal);
  return name === undefined || name.trim() === '' ? `${kind} ${id}` : `${name} (${kind})`;
}
