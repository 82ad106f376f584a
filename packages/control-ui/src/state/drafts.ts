// What was typed and not sent, by session: kept for as long as the tab is, so that a reload or another session loses nothing.
import type { Shelf } from './credentials.ts';

const KEY = 'tenon.drafts';
const MOST = 20;
const LONGEST = 100_000;

export interface Drafts {
  get(place: string): string;
  set(place: string, text: string): void;
  move(from: string, to: string): void;
}

export function createDrafts(shelf: Pick<Shelf, 'getItem' | 'setItem'>): Drafts {
  let texts = read();
  /** What is on the shelf is what is here: then an empty shelf says that somebody signed out. */
  let isKept = texts.size > 0;

  function read(): Map<string, string> {
    try {
      const stored: unknown = JSON.parse(shelf.getItem(KEY) ?? '[]');
      const pairs = Array.isArray(stored) ? stored : [];
      return new Map(
        pairs.filter(
          (pair): pair is [string, string] => Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string'),
        ),
      );
    } catch {
      return new Map();
    }
  }

  function forgetIfCleared(): void {
    try {
      if (!isKept || shelf.getItem(KEY) !== null) return;
    } catch {
      return;
    }
    texts = new Map();
    isKept = false;
  }

  function set(place: string, text: string): void {
    forgetIfCleared();
    if (texts.get(place) === text || (text === '' && !texts.has(place))) return;
    texts.delete(place);
    if (text !== '') texts.set(place, text.slice(0, LONGEST));
    texts = new Map([...texts].slice(-MOST));
    try {
      shelf.setItem(KEY, JSON.stringify([...texts]));
      isKept = true;
    } catch {
      // Storage is off or full: the text stays in memory.
    }
  }

  return {
    get(place) {
      forgetIfCleared();
      return texts.get(place) ?? '';
    },
    set,
    move(from, to) {
      forgetIfCleared();
      const text = texts.get(from);
      if (text === undefined) return;
      set(from, '');
      set(to, text);
    },
  };
}
