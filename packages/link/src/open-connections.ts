// The connections that are open at the accepting side of a carrier, and how many of which kind may be.

export interface LinkLimits {
  /** Connections of one known key. Default 1,024. */
  readonly ofKey: number;
  /** Connections of all known keys. Default 8,192. */
  readonly ofKnown: number;
  /** Connections of one address (one /64 of IPv6) that have proven no known key: a newer one ends the oldest. Default 64. */
  readonly strangersOfAddress: number;
  /** Connections without a known key, of all addresses together. Default 1,024. */
  readonly strangers: number;
  /** Milliseconds that a connection without a known key lives. Default 20,000. */
  readonly strangerMilliseconds: number;
}

export const defaultLimits: LinkLimits = {
  ofKey: 1_024,
  ofKnown: 8_192,
  strangersOfAddress: 64,
  strangers: 1_024,
  strangerMilliseconds: 20_000,
};

/** What a carrier accepted. */
interface Ended {
  destroy(): void;
}

export interface OpenConnection {
  readonly carried: Ended;
  /** As `clientNetwork` gives it. */
  readonly network: string;
  /** Ends the connection if it has not proven a known key by then. */
  readonly late: NodeJS.Timeout;
  /** The key that it proved, as text. */
  key: string | null;
}

export class OpenConnections {
  readonly #limits: LinkLimits;
  readonly #all = new Set<OpenConnection>();
  /** Without a known key, in the order in which they came; of all addresses, and of each. */
  readonly #strangers = new Set<OpenConnection>();
  readonly #ofNetwork = new Map<string, Set<OpenConnection>>();
  readonly #known = new Map<string, Set<OpenConnection>>();

  constructor(limits: LinkLimits) {
    this.#limits = limits;
  }

  /**
   * A flood ends its own oldest connections, so that a part with a known key gets through in between. {@link remove} it
   * when it has closed.
   */
  add(carried: Ended, network: string): OpenConnection {
    const late = setTimeout(() => carried.destroy(), this.#limits.strangerMilliseconds);
    const connection: OpenConnection = { carried, network, late, key: null };
    this.#all.add(connection);
    this.#strangers.add(connection);
    const ofNetwork = memberOf(this.#ofNetwork, network);
    ofNetwork.add(connection);
    const oldest = ofNetwork.size > this.#limits.strangersOfAddress ? ofNetwork : this.#strangers;
    if (oldest === ofNetwork || oldest.size > this.#limits.strangers) {
      for (const first of oldest) {
        this.#leaveStrangers(first);
        first.carried.destroy();
        break;
      }
    }
    return connection;
  }

  remove(connection: OpenConnection): void {
    clearTimeout(connection.late);
    this.#all.delete(connection);
    this.#leaveStrangers(connection);
    if (connection.key !== null) leave(this.#known, connection.key, connection);
  }

  /** Counts it among those of its key. Returns false where there are too many. */
  promote(connection: OpenConnection): boolean {
    const { key } = connection;
    if (key === null) return false;
    const ofKey = this.#known.get(key)?.size ?? 0;
    const ofKnown = this.#all.size - this.#strangers.size;
    if (ofKey >= this.#limits.ofKey || ofKnown >= this.#limits.ofKnown) return false;
    clearTimeout(connection.late);
    this.#leaveStrangers(connection);
    memberOf(this.#known, key).add(connection);
    return true;
  }

  /** Ends those whose keys, proven whether known or not, are not known any more. */
  async recheck(isKnown: (key: Buffer) => boolean | Promise<boolean>): Promise<void> {
    const keys = new Set([...this.#all].flatMap(({ key }) => (key === null ? [] : [key])));
    for (const key of keys) {
      if (await isKnown(Buffer.from(key, 'base64url'))) continue;
      for (const connection of this.#all) if (connection.key === key) connection.carried.destroy();
    }
  }

  endAll(): void {
    for (const { carried } of this.#all) carried.destroy();
  }

  #leaveStrangers(connection: OpenConnection): void {
    this.#strangers.delete(connection);
    leave(this.#ofNetwork, connection.network, connection);
  }
}

function memberOf(groups: Map<string, Set<OpenConnection>>, name: string): Set<OpenConnection> {
  const group = groups.get(name) ?? new Set();
  groups.set(name, group);
  return group;
}

function leave(groups: Map<string, Set<OpenConnection>>, name: string, connection: OpenConnection): void {
  const group = groups.get(name);
  group?.delete(connection);
  if (group?.size === 0) groups.delete(name);
}
