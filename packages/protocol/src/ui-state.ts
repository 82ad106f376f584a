// What a descriptor of a plugin is about right now: which parts of the projected state it shows, whether it is active, and
// whether people can write a message while it is. Pure, so that the gateway, the page and the terminal agree.
import type { Static } from 'typebox';
import type { ActiveWhen, StatePlace } from './contributions.ts';
import type { JsonValue } from './json.ts';
import type { UiDescriptor } from './methods/plugins.ts';
import type { PluginExtension } from './plugin.ts';

type Extensions = readonly PluginExtension[];

/** The part of what a plugin shows of its state; undefined where there is nothing. */
export function shownValue(
  pluginId: string,
  { namespace, path = '' }: Static<typeof StatePlace>,
  extensions: Extensions,
): JsonValue | undefined {
  const extension = extensions.find((each) => each.pluginId === pluginId && each.namespace === namespace);
  if (!extension || (path !== '' && !path.startsWith('/'))) return undefined;
  let value: unknown = extension.value;
  for (const part of path.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    // Of a list, its items and not its length.
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value as JsonValue | undefined;
}

/** No condition always holds. */
export function isActive(pluginId: string, when: Static<typeof ActiveWhen> | undefined, extensions: Extensions): boolean {
  if (!when) return true;
  const value = shownValue(pluginId, when, extensions);
  if (when.equals === undefined) return value !== undefined && value !== null && value !== false;
  return value !== undefined && isSame(value, when.equals);
}

type Placed = Pick<UiDescriptor, 'pluginId' | 'id' | 'priority'>;

/** By priority, the highest first; then by plugin and by name. */
export function inOrder<Descriptor extends Placed>(descriptors: readonly Descriptor[]): Descriptor[] {
  return [...descriptors].sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0) || compare(a.pluginId, b.pluginId) || compare(a.id, b.id));
}

export interface ClosedComposer {
  readonly pluginId: string;
  readonly descriptorId: string;
  readonly mode: 'confirm' | 'disabled';
  readonly reason: string;
}

/** Who closes the composer: of the active descriptors the strictest, then the first in order. */
export function composerOf(
  descriptors: readonly (Placed & Pick<UiDescriptor, 'activeWhen' | 'composer'>)[],
  extensions: Extensions,
): ClosedComposer | undefined {
  const closing = inOrder(descriptors).flatMap(({ pluginId, id, activeWhen, composer }) => {
    if (!composer || composer.mode === 'normal' || !isActive(pluginId, activeWhen, extensions)) return [];
    return [{ pluginId, descriptorId: id, mode: composer.mode, reason: composer.reason }];
  });
  return closing.find(({ mode }) => mode === 'disabled') ?? closing[0];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return (
    left.length === right.length &&
    left.every(([key, value]) => Object.hasOwn(b, key) && isSame(value, (b as Record<string, unknown>)[key]))
  );
}
