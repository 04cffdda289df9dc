// Where another machine of the platform may be: in any network, private ones too, but at no address that means the very
// machine that connects, its link, or the metadata service of its cloud.
import { type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** Apart, since Node finds IPv4 addresses in the block of those mapped to IPv6. */
const never = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local (RFC 3927), and where most clouds have their metadata
  ['100.100.100.200', 32], // metadata of Alibaba Cloud
  ['192.0.0.192', 32], // metadata of Oracle Cloud
  ['224.0.0.0', 3], // multicast, reserved, broadcast
] as const)
  never.ipv4.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of [
  ['::', 96], // unspecified, loopback, and IPv4 in an obsolete spelling
  ['::ffff:0:0', 96], // IPv4 in another spelling
  ['64:ff9b::', 96], // NAT64 to any IPv4 address
  ['64:ff9b:1::', 48],
  ['2002::', 16], // 6to4
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['fd00:ec2::', 32], // metadata of AWS
] as const)
  never.ipv6.addSubnet(address, bits, 'ipv6');

/** Whether an address, IPv4 or IPv6 without brackets, may be that of another machine. */
export function isElsewhere(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const kind = isIPv6(address) ? 'ipv6' : 'ipv4';
  return !never[kind].check(address, kind);
}

/**
 * Whether a host, of `URL.hostname`, may be another machine: an address for which {@link isElsewhere} holds, or a name, whose
 * addresses {@link lookupElsewhere} checks.
 */
export function mayBeElsewhere(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(host) === 0 ? !/(^|\.)localhost$/i.test(host) : isElsewhere(host);
}

/** For `lookup` of `net.connect`: names resolve as usual, and to nothing where one of their addresses is not elsewhere. */
export const lookupElsewhere: LookupFunction = (hostname, options, callback) => {
  const all: LookupAllOptions = { ...options, all: true };
  lookup(hostname, all, (error, found) => {
    const [first] = found ?? [];
    if (error !== null || first === undefined) callback(error ?? notElsewhere(hostname), '', 0);
    else if (!mayBeElsewhere(hostname) || !found.every(({ address }) => isElsewhere(address)))
      callback(notElsewhere(hostname), '', 0);
    else if (options.all === true) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

function notElsewhere(hostname: string): Error {
  return Object.assign(new Error(`${hostname} is not the address of another machine`), { code: 'ENOTFOUND' });
}
