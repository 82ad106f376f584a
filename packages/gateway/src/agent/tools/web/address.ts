// Which addresses are public. Everything else is refused by its class: this machine, private networks, link-local and with it
// the metadata services of clouds, and ranges that stand for another address.
import { BlockList, isIPv4, isIPv6 } from 'node:net';

type Family = 'ipv4' | 'ipv6';

const rows: readonly (readonly [network: string, prefix: number, family: Family, what: string])[] = [
  ['0.0.0.0', 8, 'ipv4', 'this machine'],
  ['127.0.0.0', 8, 'ipv4', 'this machine'],
  ['10.0.0.0', 8, 'ipv4', 'a private network'],
  ['172.16.0.0', 12, 'ipv4', 'a private network'],
  ['192.168.0.0', 16, 'ipv4', 'a private network'],
  ['100.64.0.0', 10, 'ipv4', 'a carrier network'],
  ['169.254.0.0', 16, 'ipv4', 'a link-local or metadata address'],
  ['168.63.129.16', 32, 'ipv4', 'a metadata address'],
  ['192.0.0.0', 24, 'ipv4', 'a reserved range'],
  ['192.0.2.0', 24, 'ipv4', 'a reserved range'],
  ['192.88.99.0', 24, 'ipv4', 'a relay to other addresses'],
  ['198.18.0.0', 15, 'ipv4', 'a reserved range'],
  ['198.51.100.0', 24, 'ipv4', 'a reserved range'],
  ['203.0.113.0', 24, 'ipv4', 'a reserved range'],
  ['224.0.0.0', 4, 'ipv4', 'a multicast range'],
  ['240.0.0.0', 4, 'ipv4', 'a reserved range'],
  ['::', 128, 'ipv6', 'this machine'],
  ['::1', 128, 'ipv6', 'this machine'],
  ['fc00::', 7, 'ipv6', 'a private network'],
  ['fe80::', 10, 'ipv6', 'a link-local address'],
  ['fec0::', 10, 'ipv6', 'a private network'],
  ['ff00::', 8, 'ipv6', 'a multicast range'],
  ['64:ff9b::', 16, 'ipv6', 'a relay to other addresses'],
  ['2001::', 23, 'ipv6', 'a relay to other addresses'],
  ['2001:db8::', 32, 'ipv6', 'a reserved range'],
  ['2002::', 16, 'ipv6', 'a relay to other addresses'],
  ['3fff::', 20, 'ipv6', 'a reserved range'],
];

const refused = rows.map(([network, prefix, family, what]) => ({ list: listOf(network, prefix, family), what }));
/** The only part of IPv6 that is given out to the public. */
const publicSix = listOf('2000::', 3, 'ipv6');

function listOf(network: string, prefix: number, family: Family): BlockList {
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return list;
}

/** What is wrong with the address; undefined when it is public. */
export function refusalOf(address: string): string | undefined {
  const bare = address.split('%')[0]!;
  if (isIPv4(bare)) return refused.find(({ list }) => list.check(bare, 'ipv4'))?.what;
  if (!isIPv6(bare)) return 'not an address';
  const four = mappedFour(bare);
  if (four !== undefined) return refusalOf(four);
  const found = refused.find(({ list }) => list.check(bare, 'ipv6'));
  if (found) return found.what;
  return publicSix.check(bare, 'ipv6') ? undefined : 'a reserved range';
}

const mapped = listOf('::ffff:0:0', 96, 'ipv6');
const compatible = listOf('::', 96, 'ipv6');

/** The IPv4 address inside `::ffff:a.b.c.d` and `::a.b.c.d`, however it is written. */
function mappedFour(address: string): string | undefined {
  if (!mapped.check(address, 'ipv6') && !compatible.check(address, 'ipv6')) return undefined;
  // The URL parser writes an address in one way only: two groups at the end.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [low = '0', high = '0'] = canonical.split(':').filter(Boolean).reverse();
  if (low === '1' && high === '0') return '127.0.0.1';
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}
