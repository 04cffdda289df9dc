// Keeps the workload awake while it runs workflows, by one work lease for all of them. Without one they go on too, until
// the platform puts the workload to sleep; then its next start resumes them.

import type { ServiceAccess } from './call-options.ts';
import type { Clock } from './clock.ts';
import { acquireWorkLease, type WorkLeaseHandle } from './work-lease.ts';

/** Shorter ones keep it awake by their calls, and need no lease. */
const SOON_MILLISECONDS = 2_000;
const AGAIN_MILLISECONDS = 10_000;
/** The longest run. */
const RENEW_SECONDS = 604_800;

export class Awake {
  readonly #access: ServiceAccess;
  readonly #clock: Clock;
  #runs = 0;
  #lease: Promise<WorkLeaseHandle | null> | null = null;
  #cancel = () => {};

  constructor(access: ServiceAccess, clock: Clock) {
    this.#access = access;
    this.#clock = clock;
  }

  /** From now on, until it is disposed of. */
  hold(): Disposable {
    this.#runs += 1;
    if (this.#runs === 1) this.#plan(this.#lease === null ? () => this.#acquire() : () => {});
    return {
      [Symbol.dispose]: () => {
        this.#runs -= 1;
        if (this.#runs === 0) this.#plan(() => this.#release());
      },
    };
  }

  #plan(action: () => void, milliseconds = SOON_MILLISECONDS): void {
    this.#cancel();
    this.#cancel = this.#clock.after(milliseconds, action);
  }

  #acquire(): void {
    const options = { reason: 'Runs workflows', renewForSeconds: RENEW_SECONDS };
    this.#lease = acquireWorkLease(this.#access, options, this.#clock).catch(() => null);
    void this.#lease.then((lease) => {
      if (lease === null) this.#lost();
      else lease.ended.addEventListener('abort', () => this.#lost());
    });
  }

  #lost(): void {
    this.#lease = null;
    if (this.#runs > 0) this.#plan(() => this.#acquire(), AGAIN_MILLISECONDS);
  }

  #release(): void {
    // It runs out by itself.
    void this.#lease?.then((lease) => lease?.release()).catch(() => undefined);
  }
}
