// What extensions show in sessions: a status, a title and a widget each. It lives here and nowhere else, and goes with the
// process that shows it. Clients are told all of it at a time, and no more often than anybody can look: what comes in between is
// replaced by what comes last.
import type { UiShown } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Asker } from '../host/sep/serve/people.ts';

export interface ShownDeps {
  readonly clock: Clock;
  /** Sessions of one extension. */
  readonly maxSessions: number;
  readonly publish: (shown: UiShown) => void;
}

type Parts = Pick<UiShown, 'status' | 'title' | 'widget'>;

export interface ShownParts {
  /** An empty text takes it away. False where the process has been replaced. */
  set(from: Asker, parts: Parts): boolean;
  /** Of one session, or of all. */
  list(sessionKey?: string): UiShown[];
  gone(extension: string, before?: number): void;
  /** The session begins anew or ends. */
  forget(sessionKey: string): void;
  close(): void;
}

const TELL_EVERY_MS = 250;
/** What a run elsewhere shows is forgotten when nothing more is heard of it. */
const RELAYED_MS = 600_000;
const MAX_EXTENSIONS = 256;

interface Place {
  from: Asker;
  parts: Parts;
  /** While one is set, what changes is told when it has run out. */
  timer: Timer | undefined;
  isChanged: boolean;
  expiry: Timer | undefined;
}

export function createShownParts({ clock, maxSessions, publish }: ShownDeps): ShownParts {
  /** Of each extension, by session; the latest last, so that the oldest makes room. */
  const byOwner = new Map<string, Map<string, Place>>();
  const floors = new Map<string, number>();
  const ownerOf = ({ extension, via = '' }: Asker) => `${via}\n${extension}`;

  function placeOf(from: Asker): Place {
    const owner = ownerOf(from);
    const places = byOwner.get(owner) ?? new Map<string, Place>();
    byOwner.delete(owner);
    byOwner.set(owner, places);
    const place = places.get(from.sessionKey) ?? { from, parts: {}, timer: undefined, isChanged: false, expiry: undefined };
    places.delete(from.sessionKey);
    places.set(from.sessionKey, place);
    const [oldest] = places.size > maxSessions ? places.values() : [];
    if (oldest) remove(oldest);
    const [first] = byOwner.size > MAX_EXTENSIONS ? byOwner.values() : [];
    for (const each of [...(first?.values() ?? [])]) remove(each);
    return place;
  }

  function tell(place: Place): void {
    place.isChanged = false;
    place.timer = clock.after(TELL_EVERY_MS, () => {
      place.timer = undefined;
      if (place.isChanged) tell(place);
      else if (isEmpty(place)) drop(place);
    });
    publish(shownBy(place));
  }

  function drop({ from, timer, expiry }: Place): void {
    timer?.cancel();
    expiry?.cancel();
    const owner = ownerOf(from);
    const places = byOwner.get(owner);
    places?.delete(from.sessionKey);
    if (places?.size === 0) byOwner.delete(owner);
  }

  function remove(place: Place): void {
    drop(place);
    publish(shownBy({ ...place, parts: {} }));
  }

  function removeWhere(isGone: (place: Place) => boolean): void {
    for (const place of [...byOwner.values()].flatMap((places) => [...places.values()])) if (isGone(place)) remove(place);
  }

  return {
    set(from, parts) {
      if (from.via === undefined && (from.generation ?? 0) < (floors.get(from.extension) ?? 0)) return false;
      const place = placeOf(from);
      place.from = from;
      place.parts = withoutEmpty({ ...place.parts, ...parts });
      if (from.via !== undefined) {
        place.expiry?.cancel();
        place.expiry = clock.after(RELAYED_MS, () => remove(place));
      }
      if (place.timer) place.isChanged = true;
      else tell(place);
      return true;
    },
    list: (sessionKey) =>
      [...byOwner.values()]
        .flatMap((places) => [...places.values()])
        .filter((place) => (sessionKey === undefined || place.from.sessionKey === sessionKey) && !isEmpty(place))
        .map(shownBy),
    gone(extension, before) {
      if (before !== undefined) floors.set(extension, before);
      removeWhere(
        ({ from }) => from.extension === extension && from.via === undefined && (before === undefined || (from.generation ?? 0) < before),
      );
    },
    forget: (sessionKey) => removeWhere(({ from }) => from.sessionKey === sessionKey),
    close() {
      for (const places of byOwner.values())
        for (const { timer, expiry } of places.values()) {
          timer?.cancel();
          expiry?.cancel();
        }
      byOwner.clear();
    },
  };
}

function isEmpty({ parts }: Place): boolean {
  return Object.keys(parts).length === 0;
}

function shownBy({ from: { sessionKey, extension, via }, parts }: Pick<Place, 'from' | 'parts'>): UiShown {
  return { sessionKey, extension, ...(via === undefined ? {} : { via }), ...parts };
}

function withoutEmpty({ status, title, widget }: Parts): Parts {
  return {
    ...(status ? { status } : {}),
    ...(title ? { title } : {}),
    ...(widget && Object.keys(widget).length > 0 ? { widget } : {}),
  };
}
