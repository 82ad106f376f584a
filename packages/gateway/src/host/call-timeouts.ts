// How long the operator lets code of plugins take, where that is not what the author or the gateway says. The row that says
// most holds: plugin and place, then place, then plugin, then the row that names neither.
import type { Settings } from '@tenon/protocol';

export type TimeoutRow = Settings['plugins.timeouts'][number];

/** Undefined: the operator says nothing about it. */
export type CallTimeouts = (plugin: string, place: string) => number | undefined;

export function createCallTimeouts(rows: readonly TimeoutRow[]): CallTimeouts {
  if (rows.length === 0) return () => undefined;
  const known = new Map<string, Map<string, number | undefined>>();
  return (plugin, place) => {
    let places = known.get(plugin);
    if (!places) {
      places = new Map();
      known.set(plugin, places);
    }
    if (!places.has(place)) places.set(place, find(rows, plugin, place));
    return places.get(place);
  };
}

function find(rows: readonly TimeoutRow[], plugin: string, place: string): number | undefined {
  const row = (ofPlugin: string | undefined, ofPlace: string | undefined) =>
    rows.findLast((each) => each.plugin === ofPlugin && each.place === ofPlace)?.timeoutMs;
  return row(plugin, place) ?? row(undefined, place) ?? row(plugin, undefined) ?? row(undefined, undefined);
}
