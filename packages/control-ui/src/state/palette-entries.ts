// What the palette offers for what was typed: places and actions by their words, sessions by their titles.
import type { IconName } from '../icons.tsx';

export interface PaletteEntry {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly detail?: string | undefined;
  readonly icon: IconName;
  readonly keys?: readonly string[] | undefined;
  readonly run: () => void;
}

const MOST_PER_GROUP = 8;

/** `>` at the start leaves sessions out. Every word has to occur; what begins with the text comes first. */
export function filterEntries(entries: readonly PaletteEntry[], typed: string): PaletteEntry[] {
  const commandsOnly = typed.startsWith('>');
  const text = typed.replace(/^>/, '').trim().toLowerCase();
  const words = text.split(/\s+/).filter(Boolean);
  const fits = entries.filter((entry) => {
    if (commandsOnly && entry.group === 'Sessions') return false;
    const label = entry.label.toLowerCase();
    return words.every((word) => label.includes(word));
  });
  const ranked = fits
    .map((entry, index) => ({ entry, index, rank: text !== '' && entry.label.toLowerCase().startsWith(text) ? 0 : 1 }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index);
  const counts = new Map<string, number>();
  const kept = ranked.flatMap(({ entry }) => {
    const count = (counts.get(entry.group) ?? 0) + 1;
    counts.set(entry.group, count);
    return count > MOST_PER_GROUP ? [] : [entry];
  });
  // One group after another, in the order in which the best of each stands.
  const groups = [...new Set(kept.map((entry) => entry.group))];
  return groups.flatMap((group) => kept.filter((entry) => entry.group === group));
}

/** The label in parts; `hit` is what was typed. */
export function markHits(label: string, typed: string): { readonly text: string; readonly hit: boolean }[] {
  const word = typed.replace(/^>/, '').trim().split(/\s+/)[0]?.toLowerCase() ?? '';
  const at = word === '' ? -1 : label.toLowerCase().indexOf(word);
  if (at < 0) return [{ text: label, hit: false }];
  return [
    { text: label.slice(0, at), hit: false },
    { text: label.slice(at, at + word.length), hit: true },
    { text: label.slice(at + word.length), hit: false },
  ].filter((part) => part.text !== '');
}
