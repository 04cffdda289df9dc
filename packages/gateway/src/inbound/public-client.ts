// Who sent a public request, as an Ingress says, and how the workload learns it (contract 4e).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import { CLIENT_ADDRESS, CLIENT_PROTOCOL, REQUEST_ID } from '@platform/contract';

export interface PublicClient {
  /** Without port and zone; an IPv4 address that was written as IPv6 is IPv4. */
  readonly address: string;
  readonly protocol: 'http' | 'https';
  /** The page that sent it, where a browser says so; `null` for none. */
  readonly origin: string | null;
  /** What the platform calls this request; `null` where it has no name yet. */
  readonly requestId: string | null;
}

/** The fields that state the client's address and origin, as name, value, name, value … */
export type ClientFields = (client: PublicClient, hostname: string) => string[];

/** Scheme and authority, or `null`: what browsers send. A list of several is none of theirs. */
const ORIGIN = /^(?:null|[a-z][a-z0-9+.-]{0,30}:\/\/[A-Za-z0-9.:[\]_-]{1,262})$/;
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

const ID = /^[\w-]{1,64}$/;

/**
 * `null` when the Ingress does not say it, or not in one word. Call it for requests of an authenticated Ingress only.
 *
 * @param res of a request; the id on it is ours
 */
export function readPublicClient({ headers }: IncomingMessage, res?: ServerResponse): PublicClient | null {
  const { [CLIENT_ADDRESS]: stated, [CLIENT_PROTOCOL]: protocol, origin } = headers;
  if (typeof stated !== 'string' || (protocol !== 'http' && protocol !== 'https')) return null;
  const address = stated.replace(/%.*$/s, '').replace(MAPPED, '');
  if (isIP(address) === 0) return null;
  const id = res?.getHeader('x-request-id') ?? headers[REQUEST_ID];
  return {
    address,
    protocol,
    origin: origin !== undefined && ORIGIN.test(origin) ? origin : null,
    requestId: typeof id === 'string' && ID.test(id) ? id : null,
  };
}

/** For a workload. The port in the client's `Host` is not repeated: the client chose it. */
export const workloadFields: ClientFields = ({ address, protocol, origin, requestId }, hostname) => [
  ...['forwarded', `for=${forwardedNode(address)};host=${hostname};proto=${protocol}`],
  ...['x-forwarded-for', address, 'x-forwarded-proto', protocol, 'x-forwarded-host', hostname],
  ...['platform-public', '1'],
  ...(requestId === null ? [] : [REQUEST_ID, requestId]),
  // Not a credential: the app's own CORS policy needs it.
  ...(origin === null ? [] : ['origin', origin]),
];

/** For the Gateway in its own process, which makes the workload's fields of them. */
export const sidecarFields: ClientFields = ({ address, protocol, origin, requestId }) => [
  ...[CLIENT_ADDRESS, address, CLIENT_PROTOCOL, protocol],
  ...(requestId === null ? [] : [REQUEST_ID, requestId]),
  ...(origin === null ? [] : ['origin', origin]),
];

/** RFC 7239 section 6: an IPv6 address stands in brackets, and quoted, since colons and brackets are no token. */
function forwardedNode(address: string): string {
  return isIPv4(address) ? address : `"[${address}]"`;
}
