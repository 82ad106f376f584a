// What an extension uses and has not been given: what its manifest would have to ask for, or which grants the operator would
// have to give, for it to be taken.
import { hookNeeds } from '@tenon/protocol';
import type { ExtensionManifest, Registrations } from '@tenon/protocol/sep';
import { asksFor, groupNames, registrationKeys, registrations as rows, type SepGroup } from '@tenon/protocol/sep/wire';
import { grantsOfEnvironment } from '../process/environment.ts';
import { hookOf, hooksIn, observedBy } from './find-extensions.ts';
import { grantsOfGroup, isOn } from '../serve/group-grants.ts';

export interface Lack {
  /** What it has used or registered. */
  readonly what: string;
  /** What `[capabilities]` of its manifest does not say. */
  readonly declare?: string;
  /** What it asks for and was not granted. */
  readonly grants: readonly string[];
  /** Nobody can give it here. */
  readonly isNotServed?: true;
}

type Holds = (grant: string) => boolean;

/** As `capabilities_enabled` tells an extension. */
export function groupsOn(manifest: ExtensionManifest, holds: Holds): Readonly<Record<string, boolean>> {
  return Object.fromEntries(groupNames.map((group) => [group, isOn(group, manifest, holds)]));
}

/** Undefined where the group is on. */
export function lackOf(what: string, group: SepGroup, manifest: ExtensionManifest, holds: Holds): Lack | undefined {
  if (isOn(group, manifest, holds)) return undefined;
  if (!asksFor(group, manifest.capabilities ?? {})) return { what, declare: `${group} = true`, grants: [] };
  return { what, grants: grantsOfGroup(group).filter((grant) => !holds(grant)) };
}

/** Of everything that it has registered. */
export function lacksOf(registered: Registrations, manifest: ExtensionManifest, holds: Holds): Lack[] {
  const { events: declaredEvents = [] } = manifest.capabilities ?? {};
  const declaredHooks = hooksIn(manifest);
  const lacks: Lack[] = [];
  const add = (lack: Lack | undefined) => lack && lacks.push(lack);
  for (const kind of registrationKeys) {
    const row: { readonly summary: string; readonly key?: string; readonly group?: SepGroup } = rows[kind];
    const items = (registered[kind] ?? []) as readonly unknown[];
    if (row.group === undefined || items.length === 0) continue;
    const names = items.map((item) => String(row.key === undefined ? item : (item as Record<string, unknown>)[row.key]));
    add(lackOf(`${kind} ${names.join(', ')}`, row.group, manifest, holds));
  }
  for (const hook of registered.hooks ?? []) add(lackOfHook(hook, declaredHooks, holds));
  for (const event of registered.subscriptions ?? []) add(lackOfEvent(event, declaredEvents, holds));
  for (const grant of grantsOfEnvironment(manifest)) add(missing(`the variable of ${grant}`, [grant], holds));
  return lacks;
}

function lackOfHook(hook: string, declared: readonly string[], holds: Holds): Lack | undefined {
  const what = `the hook ${hook}`;
  const name = hookOf(hook);
  if (name === undefined) return { what, grants: [], isNotServed: true };
  if (!declared.includes(hook)) return { what, declare: `hooks = ${list([...declared, hook])}`, grants: [] };
  return missing(what, hookNeeds(name), holds);
}

function lackOfEvent(event: string, declared: readonly string[], holds: Holds): Lack | undefined {
  const needs = observedBy(event).flatMap((name) => hookNeeds(name));
  // What comes without a hook of the gateway comes to everybody who follows it.
  if (needs.length === 0 && (declared.length === 0 || declared.includes(event))) return undefined;
  const what = `the event ${event}`;
  if (!declared.includes(event)) return { what, declare: `events = ${list([...declared, event])}`, grants: [] };
  return missing(what, needs, holds);
}

function missing(what: string, needs: readonly string[], holds: Holds): Lack | undefined {
  const grants = [...new Set(needs)].filter((grant) => !holds(grant));
  return grants.length === 0 ? undefined : { what, grants };
}

function list(names: readonly string[]): string {
  return `[${names.map((name) => JSON.stringify(name)).join(', ')}]`;
}
