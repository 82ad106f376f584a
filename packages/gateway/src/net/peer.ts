// Who is at the other end, as far as the connection tells: an address for records, and an account that budgets are charged
// to. On this machine all share one address, so there the account is the user; behind a proxy that the operator trusts it
// is the address that the proxy forwards.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIPv4, type Socket } from 'node:net';
import { bucketOf, groupsOf, isLoopback, mappedIPv4 } from './address.ts';
import type { Ends, FindUid } from './peer-uid.ts';

export interface Peer {
  /** Where it comes from: for records, and for people. */
  readonly address: string;
  /** A trusted proxy says so: then others have other addresses, and a budget that is spent is spent for one of many. */
  readonly isForwarded: boolean;
  /** Whom budgets are charged to, as far as it is known by now. */
  readonly account: string;
  /** The same, after the system was asked. */
  findAccount(): Promise<string>;
}

export interface Peers {
  /** `headers`: of the request, once there is one. */
  of(socket: Socket, headers?: IncomingHttpHeaders): Peer;
}

/** More hops than any chain of proxies has. */
const MAX_HOPS = 16;

export function createPeers({ trustedProxies, findUid }: { trustedProxies: readonly string[]; findUid: FindUid }): Peers {
  const isTrusted = createProxyCheck(trustedProxies);
  /** On the socket itself, so that it goes with it: a table would keep what a flood leaves until the next full collection. */
  const USER = Symbol('user');

  /** Asked for once per connection. */
  function userOf(socket: Socket & { [USER]?: User }): User {
    if (socket[USER]) return socket[USER];
    const { remoteAddress, remotePort, localAddress, localPort } = socket;
    const user = createUser({ remoteAddress, remotePort, localAddress, localPort }, findUid);
    socket[USER] = user;
    return user;
  }

  return {
    of(socket, headers) {
      const user = userOf(socket);
      const direct = bucketOf(socket.remoteAddress);
      const forwarded = isTrusted(socket.remoteAddress ?? '') ? forwardedAddress(headers?.['x-forwarded-for'], isTrusted) : undefined;
      // Any program of this machine can say what a proxy on it says: the budgets of those who come through the proxy are not for it to spend.
      const name =
        forwarded === undefined ? () => user.name ?? direct : () => `${forwarded}${user.name === undefined ? '' : ` via ${user.name}`}`;
      return {
        address: forwarded ?? direct,
        isForwarded: forwarded !== undefined,
        get account() {
          return name();
        },
        async findAccount() {
          await user.ask();
          return name();
        },
      };
    },
  };
}

interface User {
  /** Undefined until it was asked for, and where nobody knows. */
  readonly name: string | undefined;
  ask(): Promise<void>;
}

function createUser(ends: Ends, findUid: FindUid): User {
  const { remoteAddress = '', localAddress = '' } = ends;
  let name: string | undefined;
  let asked: Promise<void> | undefined;
  return {
    get name() {
      return name;
    },
    ask() {
      const isLocal = isLoopback(remoteAddress) || remoteAddress === localAddress;
      asked ??= isLocal
        ? findUid(ends).then((uid) => {
            name = uid === undefined ? undefined : `uid:${uid}`;
          })
        : Promise.resolve();
      return asked;
    },
  };
}

/** The last hop that no trusted proxy stands for: everything before it is what a client says of itself. */
function forwardedAddress(header: string | string[] | undefined, isTrusted: (address: string) => boolean): string | undefined {
  if (header === undefined) return undefined;
  const hops = String(header).split(',').slice(-MAX_HOPS);
  let found: string | undefined;
  for (const hop of hops.reverse()) {
    const address = withoutPort(hop.trim());
    if (groupsOf(address) === undefined) return found ?? 'unknown';
    found = bucketOf(address);
    if (!isTrusted(address)) return found;
  }
  return found;
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write it. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

function createProxyCheck(trusted: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const each of trusted) {
    const [address = '', bits] = each.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    try {
      if (bits === undefined) list.addAddress(address, family);
      else list.addSubnet(address, Number(bits), family);
    } catch (error) {
      throw new Error(`gateway.trustedProxies cannot be "${each}"; it must be an address, or a network such as 10.0.0.0/8`, {
        cause: error,
      });
    }
  }
  if (trusted.length === 0) return () => false;
  return (address) => {
    const groups = groupsOf(address);
    if (!groups) return false;
    const ipv4 = mappedIPv4(groups);
    return ipv4 === undefined ? list.check(address.split('%')[0] ?? '', 'ipv6') : list.check(ipv4, 'ipv4');
  };
}
