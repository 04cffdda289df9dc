// Which revision of the assignments each node has carried out. A node says so by asking for the next one: it does not
// ask again before what was taken away is really gone (packages/runtime/src/reconcile.ts).
import type { CoreContext } from '../context.ts';
import { notifyStatement } from '../database/signals.ts';

/** A node asks at least every 25 s; one that was not heard for longer is not waited for. */
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

  /** Tells every replica what a node has carried out, from the revision that it knows when it asks. */
  async confirm(nodeId: string, revision: string | undefined): Promise<void> {
    if (revision === undefined || !/^\d{1,18}$/.test(revision)) return;
    await this.#context.pool.query(notifyStatement('assignments-carried-out', { nodeId, revision }));
  }

  /** Resolves when the node has carried out the revision, at once when it is not there, after 2 s at the latest. */
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
}
