// What code of plugins did where nobody waited for it: it threw in a timer or a listener, left a promise rejected, or kept the
// event loop to itself. Kept per plugin, the same thing once with how often, and bounded however often it happens.
import { type PluginInfo, visible } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';

export type Incident = PluginInfo['incidents'][number];

export interface NewIncident {
  readonly kind: Incident['kind'];
  /** Where, as far as it is known. */
  readonly place: string;
  readonly message: string;
  readonly generation?: number;
  /** When it was, if it is told later. */
  readonly at?: number;
}

export interface PluginIncidents {
  /** As it stands on record now, with how often. */
  add(plugin: string, incident: NewIncident): Incident;
  of(plugin: string): readonly Incident[];
  forget(plugin: string): void;
}

const MAX_PLUGINS = 1_024;
const MAX_OF_A_PLUGIN = 32;
const MESSAGE_LENGTH = 512;

export function createPluginIncidents(clock: Clock): PluginIncidents {
  const plugins = new Map<string, Incident[]>();
  return {
    add(plugin, { kind, place, message, generation, at = clock.now() }) {
      const text = visible(message.slice(0, MESSAGE_LENGTH));
      const known = plugins.get(plugin) ?? [];
      const index = known.findIndex(
        (each) => each.kind === kind && each.place === place && each.message === text && each.generation === generation,
      );
      const before = index < 0 ? 0 : known.splice(index, 1)[0]!.count;
      const incident = { kind, place, message: text, at, count: before + 1, ...(generation === undefined ? {} : { generation }) };
      known.push(incident);
      if (known.length > MAX_OF_A_PLUGIN) known.shift();
      if (!plugins.has(plugin) && plugins.size >= MAX_PLUGINS) plugins.delete(plugins.keys().next().value as string);
      plugins.set(plugin, known);
      return incident;
    },
    of: (plugin) => [...(plugins.get(plugin) ?? [])],
    forget: (plugin) => void plugins.delete(plugin),
  };
}
