// What core holds at one time of the answers of nodes, and how fast it takes them. A node is another machine, and may send
// whatever it likes to its readers: it spends its own share, in memory and in time, and nobody else's.
import { limits, sizeText } from '@platform/contract';
import type { Pace } from '@platform/link';

/** A read ended because its node sent too much: beyond one answer, or beyond the share of the node or of all. */
export class TooMuchError extends Error {
  override readonly name = 'TooMuchError';
}

export interface IntakeOptions {
  /** Bytes held of one node. Default `limits.nodeIntake`. */
  readonly ofNode?: number;
  /** Bytes held of all nodes. Default `limits.nodesIntake`. */
  readonly inAll?: number;
  /** Bytes a second that are taken from one node for long, as `Pace` counts. Default `limits.nodeRate`. */
  readonly rate?: number;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
}

/** One read under way. */
export interface Holding {
  /**
   * Says how much it holds from now on.
   *
   * @throws TooMuchError when that is beyond the share of its node, or beyond that of all and its node holds the most
   */
  resize(bytes: number): void;
  /** Holds nothing any more. Idempotent. */
  end(): void;
}

interface Held {
  bytes: number;
  readonly fail: (error: TooMuchError) => void;
}

interface OfNode {
  readonly reads: Set<Held>;
  bytes: number;
}

/** What every read takes besides its bytes: its connection, and what waits there. */
const BYTES_OF_READ = 64 * 1024;
/** A node that was idle may send so many seconds' worth at once. */
const BURST_SECONDS = 1;
/** Nodes whose pace is remembered; a pace that is forgotten begins anew. */
const PACES = 10_000;

/** What one process of core holds of the answers of nodes, by read, by node and in sum. */
export class Intake {
  readonly #options: Required<IntakeOptions>;
  readonly #nodes = new Map<string, OfNode>();
  /** Until when what each node sent so far keeps it busy, in milliseconds. */
  readonly #busyUntil = new Map<string, number>();
  #bytes = 0;

  constructor({
    ofNode = limits.nodeIntake.value,
    inAll = limits.nodesIntake.value,
    rate = limits.nodeRate.value,
    now = () => performance.now(),
  }: IntakeOptions = {}) {
    this.#options = { ofNode, inAll, rate, now };
  }

  /** Bytes held now, of all nodes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Begins a read of something that a node sends.
   *
   * @param fail ends the read when room is needed for others: it is the largest of the node that holds the most
   * @throws TooMuchError as `Holding.resize`
   */
  begin(nodeId: string, fail: (error: TooMuchError) => void): Holding {
    const node = this.#nodes.get(nodeId) ?? { reads: new Set(), bytes: 0 };
    this.#nodes.set(nodeId, node);
    const held: Held = { bytes: 0, fail };
    node.reads.add(held);
    const holding: Holding = {
      resize: (bytes) => this.#resize(nodeId, held, BYTES_OF_READ + bytes),
      end: () => this.#end(nodeId, held),
    };
    try {
      holding.resize(0);
    } catch (error) {
      holding.end();
      throw error;
    }
    return holding;
  }

  /** Holds a node to its rate. What is waited for is short, and nobody but the readers of this node waits. */
  pace(nodeId: string): Pace {
    const { rate, now } = this.#options;
    return (cost) => {
      const time = now();
      const until = Math.max(this.#busyUntil.get(nodeId) ?? 0, time) + (cost / rate) * 1_000;
      this.#busyUntil.delete(nodeId);
      this.#busyUntil.set(nodeId, until);
      if (this.#busyUntil.size > PACES) this.#busyUntil.delete(this.#busyUntil.keys().next().value ?? nodeId);
      const wait = until - time - BURST_SECONDS * 1_000;
      // Unreferenced: it holds up no end of this process.
      return wait <= 0 ? undefined : new Promise((resolve) => void setTimeout(resolve, wait).unref());
    };
  }

  #resize(nodeId: string, held: Held, bytes: number): void {
    const node = this.#nodes.get(nodeId);
    if (node === undefined || !node.reads.has(held)) throw new TooMuchError('the read was ended to make room');
    const more = bytes - held.bytes;
    const { ofNode, inAll } = this.#options;
    if (more > 0 && node.bytes + more > ofNode)
      throw new TooMuchError(`core holds ${sizeText(ofNode)} of answers of this node already`);
    this.#add(node, held, more);
    while (more > 0 && this.#bytes > inAll) {
      const [most, ofMost] = this.#holdsMost();
      const largest = [...ofMost.reads].reduce((one, other) => (other.bytes > one.bytes ? other : one));
      const error = new TooMuchError('core holds too much of answers of nodes, and of this one the most');
      this.#end(most, largest);
      if (largest === held) throw error;
      largest.fail(error);
    }
  }

  #holdsMost(): [string, OfNode] {
    return [...this.#nodes].reduce((one, other) => (other[1].bytes > one[1].bytes ? other : one));
  }

  #add(node: OfNode, held: Held, bytes: number): void {
    held.bytes += bytes;
    node.bytes += bytes;
    this.#bytes += bytes;
  }

  #end(nodeId: string, held: Held): void {
    const node = this.#nodes.get(nodeId);
    if (node?.reads.delete(held) !== true) return;
    this.#add(node, held, -held.bytes);
    if (node.reads.size === 0) this.#nodes.delete(nodeId);
  }
}
