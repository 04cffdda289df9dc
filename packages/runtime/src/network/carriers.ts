// The programs that carry the traffic of a network namespace to the internet without any right on this machine: they
// read packets from a tap device in that namespace and speak for it through ordinary sockets of the Runtime's user.
//
// They would carry anything that this user can reach, this machine's own services included. inner-ruleset.ts decides
// what gets to them; what they offer beyond plain forwarding is turned off here all the same.
import type { Launcher } from './egress.ts';
import { carrierAddresses, tap } from './inner-ruleset.ts';

export interface Carrier {
  readonly name: 'pasta' | 'slirp4netns';
  /** What makes it serve the network of this launcher in the foreground, until it is killed. */
  command(nsenter: string, launcher: Pick<Launcher, 'pid'>): readonly string[];
}

const MTU = '1500';

/**
 * No port is forwarded in either direction (`-t -u -T -U`), the gateway's address is not this machine (`--no-map-gw`),
 * and it answers nothing itself. It confines itself: an empty root, a system call filter, two capabilities.
 */
export function pasta(program: string): Carrier {
  return {
    name: 'pasta',
    command: (_nsenter, { pid }) => [
      ...[program, '--foreground', '--quiet', '--ipv4-only', '--config-net', '--ns-ifname', tap, '--mtu', MTU],
      ...['--userns', `/proc/${pid}/ns/user`, '--netns', `/proc/${pid}/ns/net`],
      ...['--address', carrierAddresses.workload, '--netmask', '24', '--gateway', carrierAddresses.router],
      ...['-t', 'none', '-u', 'none', '-T', 'none', '-U', 'none', '--no-map-gw'],
      ...['--no-icmp', '--no-dhcp', '--no-dhcpv6', '--no-ndp', '--no-ra'],
    ],
  };
}

/** It joins no user namespace when it is to confine itself, so it is started in one. IPv6 is off unless asked for. */
export function slirp4netns(program: string): Carrier {
  return {
    name: 'slirp4netns',
    command: (nsenter, { pid }) => [
      ...[nsenter, '--preserve-credentials', `--user=/proc/${pid}/ns/user`, '--'],
      ...[program, '--configure', '--mtu', MTU, '--cidr', carrierAddresses.block],
      ...['--disable-host-loopback', '--disable-dns', '--enable-sandbox', '--enable-seccomp'],
      ...['--netns-type=path', `/proc/${pid}/ns/net`, tap],
    ],
  };
}
