// What the operator must have granted for each capability group: the grants of plugins where the group is about the same, else a
// grant for the group itself.
import type { ExtensionManifest } from '@tenon/protocol/sep';
import { asksFor, groups, methodNames, methodRow, type SepGroup } from '@tenon/protocol/sep/wire';

export function grantsOfGroup(group: SepGroup): readonly string[] {
  const { grants } = groups[group];
  return grants.length > 0 ? grants : [`extension.use:${group}`];
}

/** What single methods of it take beside; without it only they are refused. */
export function furtherGrants(group: SepGroup): readonly string[] {
  return methodNames.flatMap((name) => (methodRow(name).group === group ? (methodRow(name).grants ?? []) : []));
}

/** Only what is declared and granted. */
export function isOn(group: SepGroup, { capabilities = {} }: ExtensionManifest, holds: (grant: string) => boolean): boolean {
  return asksFor(group, capabilities) && grantsOfGroup(group).every(holds);
}
