// What a credential may do. One table; nothing else implies anything.
import { Type } from 'typebox';

interface ScopeSpec {
  readonly summary: string;
  readonly implies: readonly string[];
}

export const scopes = {
  'operator.read': { summary: 'See sessions, status, presence and events.', implies: [] },
  'operator.write': { summary: 'Create and change sessions; includes reading.', implies: ['operator.read'] },
  'operator.approvals': { summary: 'Answer requests for approval.', implies: [] },
  'operator.pairing': { summary: 'Issue and revoke tokens and devices, never wider than one holds oneself.', implies: [] },
  'operator.admin': {
    summary: 'Everything.',
    implies: ['operator.read', 'operator.write', 'operator.approvals', 'operator.pairing'],
  },
} as const satisfies Record<string, ScopeSpec>;

export type Scope = keyof typeof scopes;

export const scopeNames = Object.keys(scopes) as Scope[];

export const ScopeName = Type.Enum(scopeNames);
export const ScopeList = Type.Array(ScopeName, { maxItems: scopeNames.length, uniqueItems: true });

/** The held scopes and all that they imply. */
export function expandScopes(held: readonly Scope[]): ReadonlySet<Scope> {
  const expanded = new Set<Scope>();
  for (const scope of held) {
    expanded.add(scope);
    for (const implied of scopes[scope].implies) expanded.add(implied);
  }
  return expanded;
}

/** The wanted scopes that the held ones do not cover; empty when all are covered. */
export function missingScopes(held: ReadonlySet<Scope>, wanted: readonly Scope[]): Scope[] {
  return [...expandScopes(wanted)].filter((scope) => !held.has(scope));
}
