// Which revision each follower has carried out: a node of the assignments, an Ingress of the topology. Kept in the
// database, so that a core that has just started and an operator's command wait as well as any other. A node confirms a
// revision by polling for the next: it does not poll again before everything that was revoked has ended
// (packages/runtime/src/reconcile.ts). An Ingress says so.
import { limits } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { SignalMap } from '../database/signals.ts';
import { Wake } from '../events/wake.ts';
import { pendingFollowers, touchFollower, upsertFollower } from './follower-queries.ts';

export type Follows = SignalMap['carried-out']['follows'];

/** A revocation does not wait for a follower that has been silent for longer. A node polls at least every 25 s. */
const SILENT_MILLISECONDS = {
  assignments: 40_000,
  topology: limits.topologySilence.value * 1_000,
} as const satisfies Record<Follows, number>;
/** No answer waits longer for followers than this (architecture, "Revoke"). */
const LONGEST_WAIT_MILLISECONDS = 2_000;
/** Between looks where no signals are received. */
const LOOK_MILLISECONDS = 100;

/** What followers must carry out before a revocation is answered. */
export interface Change {
  /** Nodes that must reach `revision` of the assignments. */
  readonly nodeIds: readonly string[];
  readonly revision: bigint;
  /** What every Ingress must reach; `null` when no public name changed. */
  readonly topology: bigint | null;
}

interface Waited {
  readonly follows: Follows;
  readonly revision: bigint;
  /** `null` for all. */
  readonly followerIds: readonly string[] | null;
}

export class Followers {
  readonly #context: CoreContext;

  constructor(context: CoreContext) {
    this.#context = context;
  }

  /** Stores the revision that a follower has carried out, and notifies every replica of it. */
  async confirm(follows: Follows, followerId: string, revision: string | undefined): Promise<void> {
    if (revision === undefined || !/^\d{1,18}$/.test(revision)) return;
    await upsertFollower(this.#context.database, { follows, followerId, revision });
  }

  /** A follower is still there. */
  async seen(follows: Follows, followerId: string): Promise<void> {
    await touchFollower(this.#context.database, follows, followerId);
  }

  /** Resolves when every follower that a change concerns has carried it out or is silent, after 2 s at the latest. */
  async allCarriedOut({ nodeIds, revision, topology }: Change): Promise<void> {
    await Promise.all([
      nodeIds.length === 0 ? undefined : this.#carriedOut({ follows: 'assignments', revision, followerIds: nodeIds }),
      topology === null ? undefined : this.#carriedOut({ follows: 'topology', revision: topology, followerIds: null }),
    ]);
  }

  async #carriedOut(waited: Waited): Promise<void> {
    const { database, signals, stopping } = this.#context;
    const silentMilliseconds = SILENT_MILLISECONDS[waited.follows];
    const done = new Set<string>();
    const wake = new Wake();
    // Listening starts before reading, so that a confirmation in between is not missed.
    const off = signals.on('carried-out', ({ follows, followerId, revision }) => {
      if (follows !== waited.follows || BigInt(revision) < waited.revision) return;
      done.add(followerId);
      wake.wake();
    });
    let over = stopping.aborted;
    const stop = () => {
      over = true;
      wake.wake();
    };
    const timer = setTimeout(stop, LONGEST_WAIT_MILLISECONDS);
    stopping.addEventListener('abort', stop);
    try {
      let pending = await pendingFollowers(database, { ...waited, silentMilliseconds });
      for (;;) {
        pending = pending.filter((id) => !done.has(id));
        if (pending.length === 0 || over) return;
        if (!signals.connected) setTimeout(wake.wake, LOOK_MILLISECONDS);
        await wake.next();
        if (!signals.connected) pending = await pendingFollowers(database, { ...waited, silentMilliseconds });
      }
    } finally {
      clearTimeout(timer);
      stopping.removeEventListener('abort', stop);
      off();
    }
  }
}
