// Who the client of a request is: the other end of the connection, or what a trusted proxy says of it.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** The client as the node and the log see it. */
export interface Client {
  /** Without port and brackets; an IPv4 address as such. */
  readonly address: string;
  readonly protocol: 'http' | 'https';
}

/** Says who the client is, of a connection and the head of a request on it. */
export type ReadClient = (connection: Client, headers: IncomingHttpHeaders) => Client;

/** Some proxies, such as Traefik, name that of WebSockets. */
const PROTOCOLS = new Map<string, Client['protocol']>([
  ['https', 'https'],
  ['wss', 'https'],
  ['http', 'http'],
  ['ws', 'http'],
]);

/**
 * @param proxies addresses and CIDR blocks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Each proxy adds
 *   the address that it sees at the end, so the client is the last one that is no trusted proxy; its protocol is what the
 *   same proxy said
 */
export function clientReader(proxies: readonly string[]): ReadClient {
  if (proxies.length === 0) return ({ address, protocol }) => ({ address: plain(address), protocol });
  const trusted = blockList(proxies);
  const isTrusted = (address: string) => trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return (connection, headers) => {
    let address = plain(connection.address);
    if (isIP(address) === 0 || !isTrusted(address)) return { address, protocol: connection.protocol };
    const hops = listOf(headers['x-forwarded-for']);
    /** How many proxies back the client is. */
    let distance = 1;
    for (const [index, hop] of hops.reverse().entries()) {
      const said = plain(hop);
      // Not an address: the hop that passed it on is the last one that is known.
      if (isIP(said) === 0) break;
      address = said;
      distance = index + 1;
      if (!isTrusted(said)) break;
    }
    const protocols = listOf(headers['x-forwarded-proto']);
    // A proxy that passes on what it was told, rather than adding to it, leaves a shorter list: then the first is the client's.
    const said = protocols.at(-Math.min(distance, protocols.length));
    return { address, protocol: PROTOCOLS.get(said?.toLowerCase() ?? '') ?? connection.protocol };
  };
}

function blockList(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', bits] = block.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Without the port and brackets that some proxies write, and IPv4 not as IPv6. */
function plain(address: string): string {
  const [, bracketed] = /^\[([0-9a-f:.%]+)\](?::\d+)?$/i.exec(address) ?? [];
  const [, ipv4] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address) ?? [];
  return (bracketed ?? ipv4 ?? address).replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

function listOf(value: string | string[] | undefined): string[] {
  return [value ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
