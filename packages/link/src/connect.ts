// The connecting side of links: a connection is handed out only after the other side has proven its key. The address
// says which carrier makes it.
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { isIrohAddress, readIrohAddress } from './carriers/iroh/address.ts';
import type { IrohEndpoint } from './carriers/iroh/endpoint.ts';
import { type TlsTarget, tlsConnector } from './carriers/tls/connect.ts';
import { probeTcp } from './carriers/tls/probe.ts';
import { WrongKeyError } from './errors.ts';

export interface LinkTarget extends TlsTarget {
  /** Where the connection goes: `http://address:port`, `https://address:port`, or an `iroh://…` address. */
  readonly origin: string;
  /** Makes the connections to `iroh://…` addresses. Default: there are none. */
  readonly iroh?: IrohEndpoint | null | undefined;
  /** Milliseconds until a connection must stand. Default 5,000. */
  readonly connectTimeout?: number;
  /** Ends the attempt to connect over iroh. Default: its time alone does. */
  readonly signal?: AbortSignal;
}

const CONNECT_MILLISECONDS = 5_000;

/** What makes the connections of an undici pool. `build` is undici's own `buildConnector`, of the caller's copy. */
export function linkConnector(
  build: typeof buildConnector,
  { connectTimeout = CONNECT_MILLISECONDS, signal, ...target }: LinkTarget,
): ReturnType<typeof buildConnector> {
  if (!isIrohAddress(target.origin)) return tlsConnector(build, { ...target, connectTimeout });
  return (_options, callback) => {
    const limit = AbortSignal.timeout(connectTimeout);
    openIroh(target, signal === undefined ? limit : AbortSignal.any([signal, limit])).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

/**
 * Resolves if the machine of the other side answers, however busy the part there is. On a wire that is cut, connections that
 * stand say nothing for minutes.
 *
 * @throws Error when it does not before `signal` fires
 */
export async function probeLink({ origin, iroh, lookup }: LinkTarget, signal: AbortSignal): Promise<void> {
  if (!isIrohAddress(origin)) return probeTcp(origin, { lookup, signal });
  const address = readIrohAddress(origin);
  if (address === null || iroh === undefined || iroh === null) throw new Error(`${origin} is not reached from here`);
  return iroh.probe(address, signal);
}

/** The origin that HTTP over a connection to this address has; iroh addresses are no place of HTTP. */
export function httpOrigin(origin: string): string {
  return isIrohAddress(origin) ? 'http://iroh.link' : origin;
}

async function openIroh({ origin, key, iroh }: LinkTarget, signal: AbortSignal): Promise<Socket> {
  const address = readIrohAddress(origin);
  if (address === null) throw new Error(`${origin} is not an iroh address`);
  if (key !== undefined && !key.equals(address.key)) throw new WrongKeyError(origin);
  if (iroh === undefined || iroh === null)
    throw new Error('The other side is reached over iroh, which is off here. Set PLATFORM_LINK_CARRIER=iroh.');
  return iroh.connect(address, signal);
}
