// Outbound connections to hosts that others chose. DNS answers are not trusted, so addresses are checked at connect
// time, and the connection goes to the very address that was checked.
import { lookup, Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectTo, isIP, isIPv6, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isPublicAddress, isPublicHost } from './public-host.ts';

export interface DialTarget {
  /** A name, or an address; IPv6 with or without brackets. In the spelling of `URL.hostname`: others are refused. */
  readonly host: string;
  readonly port: number;
  /**
   * Origins, like `https://models.lan:8443`, that the operator named: a target with host and port of one of them may
   * have any address. All other targets, and every one with `public`, must be publicly routable.
   */
  readonly allow: 'public' | readonly string[];
}

export interface Dialer {
  /**
   * Connects by TCP; TLS is the caller's (dialing-connector.ts).
   *
   * @throws BlockedAddressError when the target is not allowed
   * @throws TooManyDialsError when too many connections are being made
   * @throws Error of the network, or the reason of `signal`
   */
  connect(to: DialTarget, signal?: AbortSignal): Promise<Socket>;
}

/** All addresses of a name, as text. Rejects when there is no such name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface DialerOptions {
  /**
   * Resolves names, once per connection. Default: for origins that the operator named the system's resolver, and for all
   * others queries to its name servers, which wait in no thread of this process.
   */
  readonly resolve?: Resolve;
  /** Starts a connection to an address. Default: TCP of this machine. */
  readonly open?: (to: { readonly host: string; readonly port: number }) => Socket;
  /** Addresses of this machine, whose own services listen there. Default: those of its network interfaces. */
  readonly ownAddresses?: () => readonly string[];
  /** Milliseconds for name resolution and all connection attempts together. Default 10,000. */
  readonly timeout?: number;
  /** Concurrent connection attempts. Default 256. */
  readonly mostPending?: number;
}

/** The target is not publicly routable, nor named by the operator. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

/** More connections are being established than `mostPending` allows. */
export class TooManyDialsError extends Error {
  override readonly name = 'TooManyDialsError';
}

const TIMEOUT_MS = 10_000;
const MOST_PENDING = 256;
/** For one answer of a name server. */
const QUERY_MS = 2_000;
/** Limit on the addresses of one name that are tried. */
const MOST_ATTEMPTS = 4;
const LARGEST_PORT = 65_535;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** A Dialer of this process; `DialerOptions` have the defaults. Creating one opens nothing. */
export function createDialer(options: DialerOptions = {}): Dialer {
  const { resolve = resolveByQuery, open = connectTo, ownAddresses = addressesOfMachine } = options;
  // The operator's own names may be in the system's files alone.
  const resolveNamed = options.resolve ?? resolveBySystem;
  const { timeout = TIMEOUT_MS, mostPending = MOST_PENDING } = options;
  let pending = 0;

  /** Every address of the target, none of which is off limits; IPv4 first, which more machines have. */
  async function checkedAddresses(to: DialTarget, signal: AbortSignal): Promise<readonly string[]> {
    const host = readHost(to);
    const isNamed = to.allow !== 'public' && to.allow.some((origin) => leadsTo(origin, host, to.port));
    if (!isNamed && !isPublicHost(host)) throw new BlockedAddressError('The host is not a public one.');
    const literal = host.replace(/^\[|\]$/g, '');
    const find = isNamed ? resolveNamed : resolve;
    const addresses = isIP(literal) === 0 ? await abortable(find(literal), signal) : [literal];
    if (addresses.length === 0) throw new BlockedAddressError('The host has no address.');
    const own = new Set(ownAddresses());
    // Mixed public and private answers indicate DNS rebinding, so one address is enough to refuse the name.
    if (!isNamed && !addresses.every((address) => isPublicAddress(address) && !own.has(address)))
      throw new BlockedAddressError('An address of the host is not publicly routable.');
    return [...addresses].sort((one, other) => Number(isIPv6(one)) - Number(isIPv6(other)));
  }

  async function dial(to: DialTarget, signal: AbortSignal | undefined): Promise<Socket> {
    const until = performance.now() + timeout;
    const limit = within(timeout, signal);
    const addresses = (await checkedAddresses(to, limit)).slice(0, MOST_ATTEMPTS);
    let failure: unknown;
    for (const [index, host] of addresses.entries()) {
      // An address that does not answer leaves time for those after it.
      const share = (until - performance.now()) / (addresses.length - index);
      try {
        return await connected(open({ host, port: to.port }), within(share, limit));
      } catch (error) {
        if (limit.aborted) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  return {
    async connect(to, signal) {
      if (pending >= mostPending) throw new TooManyDialsError('Too many connections are being made at one time.');
      pending += 1;
      try {
        return await dial(to, signal);
      } finally {
        pending -= 1;
      }
    },
  };
}

/**
 * The host as it will be used. Octal, short and mapped spellings of addresses, zones, and whatever else parsers
 * disagree about differ from what `URL` makes of them; a caller that parsed the target has none of them.
 */
function readHost({ host, port }: DialTarget): string {
  if (!Number.isInteger(port) || port < 1 || port > LARGEST_PORT)
    throw new BlockedAddressError('The port is not valid.');
  const lower = host.toLowerCase();
  const bracketed = isIPv6(lower) ? `[${lower}]` : lower;
  const parsed = URL.canParse(`http://${bracketed}/`) ? new URL(`http://${bracketed}/`).hostname : '';
  if (parsed === '' || parsed !== bracketed)
    throw new BlockedAddressError('The host is not in its canonical spelling.');
  return bracketed;
}

function leadsTo(origin: string, host: string, port: number): boolean {
  const url = new URL(origin);
  return url.hostname === host && Number(url.port || DEFAULT_PORTS[url.protocol]) === port;
}

function within(milliseconds: number, signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)));
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}

/** A lookup cannot be cancelled; a late answer is ignored. */
async function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function connected(socket: Socket, signal: AbortSignal): Promise<Socket> {
  try {
    await once(socket, 'connect', { signal });
    return socket.setNoDelay(true);
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

/**
 * The one who chose the name may run a name server that never answers. The system's resolver would wait for it in one of
 * the few threads that this process also needs for its files and its cryptography.
 */
async function resolveByQuery(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [failed] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  if (found.length === 0 && failed !== undefined) throw failed;
  return found;
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}

function addressesOfMachine(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}
