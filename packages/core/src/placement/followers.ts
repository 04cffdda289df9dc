// Which assignment revision each node has applied. A node confirms one by polling for the next: it does not poll again
// before everything that was revoked has ended (packages/runtime/src/reconcile.ts).
import type { CoreContext } from '../context.ts';
import { notifyStatement } from '../database/signals.ts';
import type { AssignedChange } from './assignments.ts';

/** A node polls at least every 25 s; core does not wait for one that has been silent for longer than this. */
const SILENT_MILLISECONDS = 40_000;
/** No answer waits longer for a node than this (architecture, "Revoke"). */
const LONGEST_WAIT_MILLISECONDS = 2_000;

interface Confirmed {
  readonly revision: bigint;
  /** By the monotonic clock of this process. */
  readonly at: number;
}

export class Followers {
  readonly #context: CoreContext;
  readonly #confirmed = new Map<string, Confirmed>();

  constructor(context: CoreContext) {
    this.#context = context;
    context.signals.on('assignments-carried-out', ({ nodeId, revision }) => {
      this.#confirmed.set(nodeId, { revision: BigInt(revision), at: performance.now() });
    });
  }

  /** Notifies every replica of the revision that a node has applied, which is the one it polls with. */
  async confirm(nodeId: string, revision: string | undefined): Promise<void> {
    if (revision === undefined || !/^\d{1,18}$/.test(revision)) return;
    await this.#context.pool.query(notifyStatement('assignments-carried-out', { nodeId, revision }));
  }

  /** Resolves when the node has applied the revision, at once when the node is offline, after 2 s at the latest. */
  async carriedOut(nodeId: string, revision: bigint): Promise<void> {
    const done = () => (this.#confirmed.get(nodeId)?.revision ?? -1n) >= revision;
    const last = this.#confirmed.get(nodeId);
    if (last === undefined || performance.now() - last.at > SILENT_MILLISECONDS || done()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Registered after the one of the constructor, so that the map is up to date when it runs.
    const off = this.#context.signals.on('assignments-carried-out', () => {
      if (done()) resolve();
    });
    const timer = setTimeout(resolve, LONGEST_WAIT_MILLISECONDS);
    const stop = () => resolve();
    this.#context.stopping.addEventListener('abort', stop);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#context.stopping.removeEventListener('abort', stop);
      off();
    }
  }

  /** The same for every node that a change concerns. */
  async allCarriedOut(change: AssignedChange | null): Promise<void> {
    if (change === null) return;
    await Promise.all(change.nodeIds.map((nodeId) => this.carriedOut(nodeId, change.revision)));
  }
}
