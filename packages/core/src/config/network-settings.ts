// What backends may have of the network around them: public UDP ports, and name servers.
import { isPubliclyRoutable } from '@platform/contract';
import { patternOf, type Read, textOf, wrong } from './variables.ts';

export interface NetworkSettings {
  readonly publicHost: string;
  /** Both inclusive; `null` publishes no UDP ports. */
  readonly udpPortRange: { readonly first: number; readonly last: number } | null;
  /** Name servers of backends that may reach the internet. */
  readonly workloadDns: readonly string[];
}

export function readNetworkSettings(read: Read): NetworkSettings {
  return {
    publicHost: patternOf(
      read,
      'PLATFORM_PUBLIC_HOST',
      /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/,
      'a lower-case host name or an IPv4 address',
    ),
    udpPortRange: readPortRange(read('PLATFORM_UDP_PORT_RANGE')),
    workloadDns: readNameServers(textOf(read, 'PLATFORM_WORKLOAD_DNS')),
  };
}

function readPortRange(value: string | undefined): NetworkSettings['udpPortRange'] {
  if (value === undefined) return null;
  const [, first, last] = (/^(\d{1,5})-(\d{1,5})$/.exec(value) ?? []).map(Number);
  if (first === undefined || last === undefined || first < 1_024 || last > 65_535 || first > last)
    throw wrong('PLATFORM_UDP_PORT_RANGE', `is "${value}"`, 'set two ports from 1024 to 65535 like 40000-40999');
  return { first, last };
}

/** As many as a resolver asks. */
const MOST_NAME_SERVERS = 3;

function readNameServers(value: string): string[] {
  const servers = value.split(',').map((part) => part.trim());
  const cure = 'list one to three publicly routable IPv4 addresses, separated by commas';
  if (servers.length > MOST_NAME_SERVERS) throw wrong('PLATFORM_WORKLOAD_DNS', `holds ${servers.length} entries`, cure);
  for (const server of servers) {
    if (!isPubliclyRoutable(server))
      throw wrong('PLATFORM_WORKLOAD_DNS', `holds "${server}", which backends cannot reach`, cure);
  }
  return servers;
}
