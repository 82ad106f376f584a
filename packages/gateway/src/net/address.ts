// Addresses as the limiters count them: one peer is one name, however it writes itself.
import { isIPv4, isIPv6 } from 'node:net';

/** IPv4 as it is, also when mapped into IPv6; IPv6 by its /64, which one peer usually has whole; zone ids dropped. */
export function bucketOf(address: string | undefined): string {
  if (isIPv4(address ?? '')) return address as string;
  const groups = groupsOf(address ?? '');
  if (!groups) return 'unknown';
  const ipv4 = mappedIPv4(groups);
  if (ipv4 !== undefined) return ipv4;
  if (groups.slice(0, 7).every((group) => group === 0) && groups[7] === 1) return '127.0.0.1';
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

export function isLoopback(address: string): boolean {
  return bucketOf(address).startsWith('127.');
}

/** The eight groups of an IPv6 address; an IPv4 address as the one that it is mapped to. Undefined: it is no address. */
export function groupsOf(address: string): number[] | undefined {
  const bare = address.split('%')[0] ?? '';
  if (isIPv4(bare)) return expand(`::ffff:${bare}`);
  return isIPv6(bare) ? expand(bare) : undefined;
}

/** Undefined where it is not mapped. */
export function mappedIPv4(groups: readonly number[]): string | undefined {
  if (!groups.slice(0, 5).every((group) => group === 0) || groups[5] !== 0xffff) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function expand(address: string): number[] {
  // The last two groups may be written as an IPv4 address.
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = '', tail] = plain.split('::');
  const parse = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const left = parse(head);
  if (tail === undefined) return left;
  const right = parse(tail);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}
