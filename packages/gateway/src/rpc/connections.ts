// Who is connected: presence for clients, and the way to reach every socket of a credential.
import type { ClientInfo, PresenceEntry } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Subscription } from './events.ts';
import type { Principal } from './principal.ts';

export interface Connection {
  readonly id: string;
  readonly principal: Principal;
  readonly client: ClientInfo;
  readonly connectedAt: number;
  readonly address: string;
  /** A request over HTTP: reached when its credential is revoked, and nobody's presence. */
  readonly passing?: true;
  /** Set right after the handshake. */
  subscription: Subscription | undefined;
  /** From now on every request of this connection is refused, also one that waits already. */
  revoked: boolean;
  /** What was sent before can still be read for `graceMs`. */
  close(code: number, reason: string, graceMs?: number): void;
}

export interface Connections {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  readonly size: number;
  readonly version: number;
  presence(): PresenceEntry[];
  /** Closes every connection of the principal with 4001 and refuses what it still has under way. */
  revoke(principalId: string, except?: Connection): number;
  /** How many revocations there have been: a handshake that began before one must not slip past it. */
  readonly revocations: number;
  revokedSince(revocations: number, principalId: string): boolean;
  closeAll(code: number, reason: string): void;
  /** Closes the connections whose credential has expired. */
  expire(now: number): void;
}

/** Many clients come and go together after a restart: they are announced together. */
const ANNOUNCE_AFTER_MS = 50;
const MAX_PRESENCE = 500;
const REMEMBERED_REVOCATIONS = 256;

export function createConnections(deps: { clock: Clock; announce: (presence: PresenceEntry[]) => void }): Connections {
  const all = new Set<Connection>();
  let version = 0;
  let pending: Timer | undefined;
  let revocations = 0;
  const recentlyRevoked: string[] = [];

  function changed(): void {
    version++;
    pending ??= deps.clock.after(ANNOUNCE_AFTER_MS, () => {
      pending = undefined;
      deps.announce(presence());
    });
  }

  function presence(): PresenceEntry[] {
    const present = [...all].filter(({ passing }) => !passing);
    return present.slice(0, MAX_PRESENCE).map(({ id, client, principal, connectedAt }) => ({
      connId: id,
      client,
      principal: principal.id,
      scopes: [...principal.scopes],
      connectedAt,
    }));
  }

  // In the next turn of the loop: a client that revokes its own credential still gets the answer.
  function close(connection: Connection, code: number, reason: string): void {
    if (connection.revoked) return;
    connection.revoked = true;
    setImmediate(() => connection.close(code, reason));
  }

  return {
    add(connection) {
      all.add(connection);
      if (!connection.passing) changed();
    },
    remove(connection) {
      if (all.delete(connection) && !connection.passing) changed();
    },
    get size() {
      return all.size;
    },
    get version() {
      return version;
    },
    presence,
    get revocations() {
      return revocations;
    },
    revokedSince(since, principalId) {
      const missed = revocations - since;
      return missed > recentlyRevoked.length || (missed > 0 && recentlyRevoked.slice(-missed).includes(principalId));
    },
    revoke(principalId, except) {
      revocations++;
      recentlyRevoked.push(principalId);
      if (recentlyRevoked.length > REMEMBERED_REVOCATIONS) recentlyRevoked.shift();
      const hit = [...all].filter((connection) => connection.principal.id === principalId && connection !== except);
      for (const connection of hit) close(connection, 4001, 'credential revoked');
      return hit.length;
    },
    closeAll(code, reason) {
      pending?.cancel();
      for (const connection of all) connection.close(code, reason);
    },
    expire(now) {
      for (const connection of all) {
        const { expiresAt } = connection.principal;
        if (expiresAt !== undefined && expiresAt <= now) close(connection, 4001, 'credential expired');
      }
    },
  };
}
