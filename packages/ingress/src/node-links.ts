// The connections of this Ingress to the public sides of nodes: for each a pool, and a queue in which installations take turns.
import type { TopologyNode } from '@platform/contract';
import { type Connect, lookupElsewhere, openPool } from '@platform/http';
import {
  type IrohEndpoint,
  isIrohAddress,
  type LinkCertificate,
  type LinkTarget,
  linkConnector,
  probeLink,
  publicKeyText,
  readPublicKey,
} from '@platform/link';
import { buildConnector, type Pool } from 'undici';
import { FairQueue } from './fair-queue.ts';
import { NodeWatch } from './node-watch.ts';

/** Milliseconds until a connection to a node must stand; a request that waits for it gets 503 within two seconds. */
const CONNECT_MILLISECONDS = 1_500;

/**
 * Requests under way to one node, of which an installation may have few hundreds (contract 4e): so many that a crowd of
 * installations with slow readers cannot take them all. WebSockets that stand are not among them.
 */
const MOST_PER_NODE = 4_096;

export interface NodeLink {
  readonly pool: Pool;
  readonly queue: FairQueue;
  readonly watch: NodeWatch;
  /** What this Ingress presents there. */
  readonly credential: string;
}

interface Open extends NodeLink {
  readonly node: TopologyNode;
}

export class NodeLinks {
  readonly #certificate: LinkCertificate;
  readonly #iroh: IrohEndpoint | null;
  readonly #open = new Map<string, Open>();

  /**
   * @param certificate what proves this Ingress to nodes over https
   * @param iroh reaches nodes behind NAT; `null` where that is off
   */
  constructor(certificate: LinkCertificate, iroh: IrohEndpoint | null) {
    this.#certificate = certificate;
    this.#iroh = iroh;
  }

  /** Whether a node of the topology has this key. */
  hasKey(key: Buffer): boolean {
    const text = publicKeyText(key);
    return this.#open.values().some(({ node }) => node.key === text);
  }

  get size(): number {
    return this.#open.size;
  }

  find(nodeId: string): NodeLink | undefined {
    return this.#open.get(nodeId);
  }

  /** From now on these are the nodes. What is under way to others comes to its end. */
  change(nodes: ReadonlyMap<string, TopologyNode>): void {
    for (const [id, { node, pool }] of this.#open) {
      const next = nodes.get(id);
      if (next?.url === node.url && next.key === node.key) continue;
      this.#open.delete(id);
      void pool.close().catch(() => undefined);
    }
    for (const [id, node] of nodes) {
      const known = this.#open.get(id);
      if (known?.node.credential === node.credential) continue;
      const parts = known ?? { ...this.#reach(node), queue: new FairQueue(MOST_PER_NODE) };
      this.#open.set(id, { ...parts, node, credential: node.credential });
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#open.values()].map(({ pool }) => pool);
    this.#open.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  /**
   * The pool takes the node for plain http: for https undici would end a connection whenever the next request has another
   * `Host`. What the connection is, the connector decides.
   */
  #reach({ url, key }: TopologyNode): Pick<NodeLink, 'pool' | 'watch'> {
    const { protocol, origin: plainOrigin } = new URL(url);
    const origin = isIrohAddress(url) ? url : plainOrigin;
    const target: LinkTarget = {
      origin,
      // An unreadable key becomes one that no node can prove.
      key: key === null ? undefined : (readPublicKey(key) ?? Buffer.alloc(32)),
      certificate: this.#certificate,
      // Core has refused addresses that mean this machine; what its name resolves to is the node's to say.
      ...(key === null ? {} : { lookup: lookupElsewhere }),
      iroh: this.#iroh,
      connectTimeout: CONNECT_MILLISECONDS,
    };
    const connect = linkConnector(buildConnector, target);
    const pinned: Connect = (options, callback) => {
      if (protocol !== 'http:' && key === null) callback(new Error(`${origin} has no key to prove`), null);
      else connect({ ...options, protocol }, callback);
    };
    return {
      pool: openPool('http://node.invalid', { connect: pinned }),
      // No wire leads to the node beside this Ingress.
      watch: new NodeWatch(protocol === 'http:' ? async () => undefined : (signal) => probeLink(target, signal)),
    };
  }
}
