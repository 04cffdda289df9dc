// Which hosts are outside: names that public name servers answer, and addresses that are routed on the internet. What
// has neither property is this machine, its network, or nothing.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { isPubliclyRoutable } from '@platform/contract';

/**
 * Names of one's own network, of RFC 6761 and 6762, and those that clouds give their metadata services. The answers of
 * name servers are checked as well; these are refused without asking for one.
 */
const LOCAL_DOMAINS = [
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'mail'],
  ...['arpa', 'invalid', 'test', 'onion', 'i2p', 'alt', 'metadata.goog'],
];

/** Global unicast (RFC 4291, section 2.4). All other IPv6 is special, reserved, or carries an IPv4 address. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/**
 * Inside it: IANA's special-purpose blocks. test-vectors/ip-special-purpose.json is the table this is checked
 * against.
 */
const setAside = new BlockList();
for (const [address, bits] of [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries an IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const)
  setAside.addSubnet(address, bits, 'ipv6');

/** Whether an address, IPv4 or IPv6 without brackets and zone, is publicly routable. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return isPubliclyRoutable(address);
  return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !setAside.check(address, 'ipv6');
}

/**
 * Whether a host, of `URL.hostname` or a mail address, may be outside: a public address, or a name whose addresses
 * are yet to be checked.
 */
export function isPublicHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  const isName = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host);
  return isName && !LOCAL_DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`));
}
