// Which capability groups this gateway serves, and what the operator must have granted for each: the grants of plugins where the
// group is about the same, else a grant for the group itself.
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { groups, type SepGroup } from '@tenon/protocol/sep/wire';

const SERVED: ReadonlySet<SepGroup> = new Set<SepGroup>(['tools', 'commands', 'bus', 'kv', 'session', 'ui', 'providers']);

/** Undefined where it is not served: it stays off, and nobody is asked for it. */
export function grantsOfGroup(group: SepGroup): readonly string[] | undefined {
  if (!SERVED.has(group)) return undefined;
  const { grants } = groups[group];
  return grants.length > 0 ? grants : [`extension.use:${group}`];
}

/** Only what is declared, granted, and here at all. */
export function isOn(group: SepGroup, { capabilities = {} }: ExtensionManifest, holds: (grant: string) => boolean): boolean {
  return capabilities[group] === true && (grantsOfGroup(group)?.every(holds) ?? false);
}
