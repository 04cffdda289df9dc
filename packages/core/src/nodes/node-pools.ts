// Connections to the control sides of nodes, kept for the next call. A pool without connections is dropped, so nothing is
// left of a node that is gone.
import { httpOrigin, linkConnector } from '@platform/link';
import { buildConnector, Pool } from 'undici';
import type { NodeLink } from './control-side.ts';

/** No connection was made: the node has not seen the request. Its cause says why. */
export class UnreachedError extends Error {
  constructor(cause: Error) {
    super('the node could not be reached', { cause });
    this.name = 'UnreachedError';
  }
}

/** To one node: half of what it grants to the key that all cores share, so that commands always get through. */
const CONNECTIONS = 512;

export class NodePools {
  readonly #headersTimeout: number;
  readonly #pools = new Map<string, Pool>();

  /** @param headersTimeout milliseconds from a sent request to the head of its answer; a body may take any time */
  constructor(headersTimeout: number) {
    this.#headersTimeout = headersTimeout;
  }

  /**
   * For a request that is sent at once.
   *
   * @param origin `http://address:port`; with a link `https://address:port` or an iroh address
   */
  to(origin: string, link: NodeLink | null): Pool {
    const name = `${origin} ${link?.key.toString('hex')}`;
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const pool = this.#open(origin, link);
    this.#pools.set(name, pool);
    const dropIfUnused = () => {
      const { connected, size } = pool.stats;
      if (connected + size > 0 || this.#pools.get(name) !== pool) return;
      this.#pools.delete(name);
      void pool.close();
    };
    pool.on('disconnect', dropIfUnused).on('connectionError', dropIfUnused);
    return pool;
  }

  /** How many nodes there are connections to. */
  get size(): number {
    return this.#pools.size;
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    // None of them is dropped once more when its connections end.
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #open(origin: string, link: NodeLink | null): Pool {
    const connect = linkConnector(buildConnector, { origin, ...link });
    return new Pool(httpOrigin(origin), {
      pipelining: 1,
      connections: CONNECTIONS,
      headersTimeout: this.#headersTimeout,
      bodyTimeout: 0,
      connect: (options, callback) =>
        connect(options, (...[error, socket]) => {
          if (error === null) callback(null, socket);
          else callback(new UnreachedError(error), null);
        }),
    });
  }
}
