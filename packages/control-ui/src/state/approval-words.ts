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

/** Names for principals: two tokens with one name, such as those of two browsers, are told apart by their ids. */
export function namesOf(tokens: readonly { readonly id: string; readonly name: string }[]): Names {
  const counts = Map.groupBy(tokens, ({ name }) => name);
  const words = ({ id, name }: { readonly id: string; readonly name: string }) =>
    counts.get(name)!.length > 1 ? `${name} (token ${id})` : `${name} (token)`;
  return new Map(tokens.filter(({ name }) => name.trim() !== '').map((token) => [`token:${token.id}`, words(token)]));
}

/** Without a name the whole id: two that begin alike must not look like one. */
export function nameOf(principal: string, own: string | undefined, names: Names): string {
  if (principal === own) return 'you';
  const [, kind, id] = /^(token|device):(.+)$/.exec(principal) ?? [];
  if (kind === undefined || id === undefined) return principal;
  return names.get(principal) ?? `${kind} ${id}`;
}
