// Which capability groups this gateway serves, and what the operator must have granted for each: the grants of plugins where the
// group is about the same, else a grant for the group itself.
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { groupNames, groups, methodNames, methodRow, type SepGroup } from '@tenon/protocol/sep/wire';

/** All that is beyond SEP is: what plugins have, extensions have. */
const further = groupNames.filter((group) => 'beyond' in groups[group]);
const SERVED: ReadonlySet<SepGroup> = new Set<SepGroup>([
  'tools',
  'commands',
  'bus',
  'kv',
  'session',
  'ui',
  'exec',
  'providers',
  ...further,
]);

/** Undefined where it is not served: it stays off, and nobody is asked for it. */
export function grantsOfGroup(group: SepGroup): readonly string[] | undefined {
  if (!SERVED.has(group)) return undefined;
  const { grants } = groups[group];
  return grants.length > 0 ? grants : [`extension.use:${group}`];
}

/** What single methods of it take beside; without it only they are refused. */
export function furtherGrants(group: SepGroup): readonly string[] {
  if (!SERVED.has(group)) return [];
  return methodNames.flatMap((name) => (methodRow(name).group === group ? (methodRow(name).grants ?? []) : []));
}

/** Only what is declared, granted, and here at all. */
export function isOn(group: SepGroup, { capabilities = {} }: ExtensionManifest, holds: (grant: string) => boolean): boolean {
  return capabilities[group] === true && (grantsOfGroup(group)?.every(holds) ?? false);
}
