// Those who have not said who they are. They are few, in all and of one account, and yet nobody can keep others out by
// filling the room: whoever comes is let in, and of the largest group the one that waited longest goes.
import type { Clock } from '../kernel/clock.ts';
import type { Peer } from './peer.ts';

export interface Guest {
  /** `answered`: refused, and on the way out. `heard`: has sent a credential that is being looked at. */
  state: 'answered' | 'silent' | 'heard';
  /** Let in, or gone. */
  leave(): void;
}

export interface Lobby {
  readonly size: number;
  /** `cut` ends the connection at once; it is called at most once, and not after `leave`. */
  enter(peer: Peer, cut: () => void): Guest;
}

interface LobbyOptions {
  readonly clock: Clock;
  readonly places: () => number;
  readonly placesPerAccount: number;
  /** How many go at once when it is full, so that a flood does not count everybody for each that comes. */
  readonly atOnce?: number;
}

interface Entry extends Guest {
  readonly peer: Peer;
  readonly cut: () => void;
  isAsked: boolean;
}

/** Who has had an answer goes first; who waits for one, last. */
const ORDER: readonly Guest['state'][] = ['answered', 'silent', 'heard'];

/** How often it is asked at most who is waiting. Until then those of one address are one group. */
const ASK_EVERY_MS = 1_000;

export function createLobby({ clock, places, placesPerAccount, atOnce = 1 }: LobbyOptions): Lobby {
  /** The oldest first. */
  const guests = new Set<Entry>();
  let askedAt = Number.NEGATIVE_INFINITY;

  function askWhoTheyAre(): void {
    if (clock.monotonic() - askedAt < ASK_EVERY_MS) return;
    askedAt = clock.monotonic();
    const unknown = [...guests].filter(({ isAsked }) => !isAsked);
    for (const guest of unknown) guest.isAsked = true;
    void Promise.all(unknown.map((guest) => guest.peer.findAccount())).then(() => makeRoom());
  }

  function makeRoom(newcomer?: Entry): void {
    for (let groups = groupsOf(guests); ; groups = groupsOf(guests)) {
      const [largest] = [...groups.values()].sort((a, b) => b.length - a.length);
      if (largest === undefined || (guests.size <= places() && largest.length <= placesPerAccount)) return;
      const others = largest.filter((guest) => guest !== newcomer);
      const leaving = ORDER.flatMap((state) => others.filter((guest) => guest.state === state)).slice(0, atOnce);
      if (leaving.length === 0) return;
      for (const guest of leaving) {
        guests.delete(guest);
        guest.cut();
      }
    }
  }

  return {
    get size() {
      return guests.size;
    },
    enter(peer, cut) {
      const entry: Entry = { peer, cut, state: 'silent', isAsked: false, leave: () => void guests.delete(entry) };
      guests.add(entry);
      const few = Math.min(places(), placesPerAccount);
      if (guests.size > few / 2) askWhoTheyAre();
      if (guests.size > few) makeRoom(entry);
      return entry;
    },
  };
}

function groupsOf(guests: Iterable<Entry>): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const guest of guests) {
    const { account } = guest.peer;
    const group = groups.get(account);
    if (group) group.push(guest);
    else groups.set(account, [guest]);
  }
  return groups;
}
