// Connections to an origin that others chose: names are looked up, and addresses checked, again and again.
import type { Pool } from 'undici';
import { type DialingConnectorOptions, dialingConnector } from './dialing-connector.ts';
import { openPool } from './pool.ts';

/**
 * Milliseconds for which a connection takes new requests. Without an end, a connection in use would outlive every change of
 * the name's addresses, and go on to an address that would be refused by now.
 */
export const CONNECTION_AGE_MS = 60_000;

export interface DialingPoolOptions extends DialingConnectorOptions {
  /** Milliseconds for which a connection takes new requests; those under way go on. Default 60,000. */
  readonly connectionAge?: number;
}

/** A pool of `openPool` whose connections a Dialer makes. `origin` is where they lead. */
export function openDialingPool(origin: string, options: DialingPoolOptions): Pool {
  const { connectionAge = CONNECTION_AGE_MS, ...dialing } = options;
  return openPool(origin, { connect: dialingConnector(dialing), connectionAge });
}
