// What counts as one client address wherever addresses are counted: rates, connections, bodies.

/** Prefixes below which the last 32 bits are an IPv4 address: mapped (RFC 4291 section 2.5.5.2), translated (RFC 6052). */
const OF_IPV4 = [
  ['0', '0', '0', '0', '0', 'ffff'],
  ['64', 'ff9b', '0', '0', '0', '0'],
];

/**
 * The part of an address that one party holds, as text: an IPv4 address as it is, also one that is written as IPv6, and of
 * other IPv6 addresses the /64, because every host of a network can take any of its 2^64 addresses (RFC 4291 section
 * 2.5.1). Text that is no address is returned as it is.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%', 1);
  const url = `http://[${bare}]`;
  if (!/^[\da-f:.]+$/i.test(bare) || !URL.canParse(url)) return address;
  // The URL parser knows every spelling of an address and writes it in one.
  const groups = groupsOf(new URL(url).hostname.slice(1, -1));
  if (OF_IPV4.some((prefix) => prefix.every((group, place) => group === groups[place]))) {
    return groups
      .slice(6)
      .map((group) => Number.parseInt(group, 16))
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const of = (part: string) => part.split(':').filter((group) => group !== '');
  const [left, right] = [of(head), of(tail ?? '')];
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}
