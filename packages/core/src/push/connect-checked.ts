// Connections to push services. Where a browser's endpoint leads is decided by name servers that nobody here controls, so
// the address is checked at the moment of connecting, and the one that was checked is the one that is connected to.
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPubliclyRoutable } from '@platform/contract';
import { Agent, buildConnector, type Dispatcher } from 'undici';

/** IPv4 addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface ConnectOptions {
  /** Further certificate authority, PEM; for tests, not reachable from the configuration. Default: none. */
  readonly ca?: string | undefined;
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve | undefined;
}

/** The endpoint leads to an address that is not publicly routable. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

const CONNECT_MILLISECONDS = 10_000;
const ANSWER_MILLISECONDS = 10_000;
/** Nothing in an answer is used but its status and `Retry-After`. */
const ANSWER_BYTES = 16 * 1024;
/** To one push service. */
const CONNECTIONS = 32;

const limits = {
  connections: CONNECTIONS,
  pipelining: 1,
  keepAliveTimeout: 30_000,
  headersTimeout: ANSWER_MILLISECONDS,
  bodyTimeout: ANSWER_MILLISECONDS,
  maxResponseSize: ANSWER_BYTES,
  allowH2: false,
} as const satisfies Agent.Options;

/** Connects to publicly routable IPv4 addresses, and to nothing else. */
export function publicAgent({ ca, resolve = resolveBySystem }: ConnectOptions): Dispatcher {
  const connect = buildConnector({
    timeout: CONNECT_MILLISECONDS,
    lookup: checkedLookup(resolve),
    ...(ca === undefined ? {} : { ca }),
  });
  return new Agent({
    ...limits,
    connect(options, callback) {
      // For an address nothing is looked up.
      const host = options.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isPubliclyRoutable(host)) callback(new BlockedAddressError(), null);
      else connect(options, callback);
    },
  });
}

/** Connects anywhere: for the origins that the operator named. */
export function privateAgent({ ca }: ConnectOptions): Dispatcher {
  const connect = buildConnector({ timeout: CONNECT_MILLISECONDS, ...(ca === undefined ? {} : { ca }) });
  return new Agent({ ...limits, connect });
}

/** A name of which any address is not public is refused whole: who answers so is up to something. */
export function checkedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(isPubliclyRoutable)) callback(new BlockedAddressError(), '', 4);
        else if (options.all === true) {
          callback(
            null,
            addresses.map((address) => ({ address, family: 4 })),
          );
        } else callback(null, first, 4);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 4),
    );
  };
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, family: 4 });
  return found.map(({ address }) => address);
}
