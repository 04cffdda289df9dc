// Work leases keep a workload awake while it works without receiving requests.

import type { CallOptions, ServiceAccess } from './call-options.ts';
import { type Clock, systemClock } from './clock.ts';
import { PlatformError } from './platform-error.ts';
import { callService } from './service-call.ts';

export interface WorkLeaseOptions {
  /** How long the lease lasts unless it is renewed, in seconds: 15 to 300; default 60. */
  readonly durationSeconds?: number;
  /** Why, for the owner to read: one line of at most 200 characters. */
  readonly reason?: string;
  /**
   * Renews the lease by itself until this many seconds have passed since it was made, at a third of its duration each;
   * default 0, never. Afterwards it runs out.
   */
  readonly renewForSeconds?: number;
  /** Releases the lease when it aborts; before the lease is there, the call rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Ends by itself; `await using lease = await platform.acquireWorkLease()` releases it at the end of the block. */
export interface WorkLeaseHandle extends AsyncDisposable {
  readonly id: string;
  /** When it ends; each renewal changes it. */
  readonly expiresAt: Date;
  /**
   * Aborts when the lease is over: with a PlatformError `lease_lost` when it ran out or the platform ended it, with an
   * AbortError when it was released.
   */
  readonly ended: AbortSignal;
  /** Renews it for its duration, from now on. @throws {PlatformError} `not_found` when it is over */
  renew(options?: CallOptions): Promise<void>;
  /** Ends it; harmless when it is over already. */
  release(options?: CallOptions): Promise<void>;
}

export interface RenewOptions extends CallOptions {
  /** A duration other than the last one, in seconds: 15 to 300. */
  readonly durationSeconds?: number;
}

const LEASES = '/v1/services/runtime/work-leases';
const DEFAULT_SECONDS = 60;
/** Two renewals may fail before the lease is lost. */
const RENEWALS_IN_A_DURATION = 3;

/** @throws {PlatformError} `concurrency_limited` when the installation has as many leases as it may have */
export async function acquireWorkLease(
  access: ServiceAccess,
  options: WorkLeaseOptions = {},
  clock: Clock = systemClock,
): Promise<WorkLeaseHandle> {
  const { durationSeconds = DEFAULT_SECONDS, reason, renewForSeconds = 0, signal } = options;
  // The platform counts from when it receives the request, which is later, so the lease never ends before this time.
  const begun = clock.now();
  const { lease } = await callService<'services.workLeases.create'>(
    access,
    { method: 'POST', path: LEASES, body: { durationSeconds, ...(reason === undefined ? {} : { reason }) } },
    signal === undefined ? {} : { signal },
  );
  const handle = new Handle(access, clock, {
    lease,
    begun,
    duration: durationSeconds * 1_000,
    renewUntil: begun + renewForSeconds * 1_000,
  });
  handle.releaseWith(signal);
  return handle;
}

/** Returns when it will end. @throws {PlatformError} `not_found` when it is over */
export async function renewWorkLease(
  access: ServiceAccess,
  id: string,
  { durationSeconds, ...call }: RenewOptions = {},
): Promise<Date> {
  const body = durationSeconds === undefined ? {} : { durationSeconds };
  const { lease } = await callService<'services.workLeases.renew'>(
    access,
    { method: 'POST', path: `${LEASES}/:id/renew`, parameters: { id }, body },
    call,
  );
  return new Date(lease.expiresAt);
}

/** @throws {PlatformError} `not_found` when it is over */
export async function releaseWorkLease(access: ServiceAccess, id: string, options?: CallOptions): Promise<void> {
  const input = { method: 'DELETE', path: `${LEASES}/:id`, parameters: { id } } as const;
  await callService<'services.workLeases.release'>(access, input, options);
}

interface Begin {
  readonly lease: { readonly id: string; readonly expiresAt: string };
  readonly begun: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly renewUntil: number;
}

class Handle implements WorkLeaseHandle {
  readonly id: string;
  expiresAt: Date;
  readonly #access: ServiceAccess;
  readonly #clock: Clock;
  readonly #begin: Begin;
  readonly #over = new AbortController();
  /** When it ends, by this process's own clock. */
  #end: number;
  #cancel = () => {};

  constructor(access: ServiceAccess, clock: Clock, begin: Begin) {
    this.#access = access;
    this.#clock = clock;
    this.#begin = begin;
    this.id = begin.lease.id;
    this.expiresAt = new Date(begin.lease.expiresAt);
    this.#end = begin.begun + begin.duration;
    this.#plan();
  }

  get ended(): AbortSignal {
    return this.#over.signal;
  }

  releaseWith(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    // A lost release does no harm: the lease expires.
    const release = () => void this.release().catch(() => undefined);
    if (signal.aborted) release();
    else signal.addEventListener('abort', release, { signal: this.ended });
  }

  async renew(options: CallOptions = {}): Promise<void> {
    const begun = this.#clock.now();
    const expiresAt = await renewWorkLease(this.#access, this.id, options).catch((error: unknown) => {
      if (isGone(error)) this.#finish(lost('The platform ended it.'));
      throw error;
    });
    if (this.ended.aborted) return;
    this.expiresAt = expiresAt;
    this.#end = begun + this.#begin.duration;
    this.#plan();
  }

  async release(options: CallOptions = {}): Promise<void> {
    if (this.ended.aborted) return;
    this.#finish(undefined);
    await releaseWorkLease(this.#access, this.id, options).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #plan(): void {
    this.#cancel();
    const { duration, renewUntil } = this.#begin;
    const now = this.#clock.now();
    const timers = [this.#clock.after(Math.max(0, this.#end - now), () => this.#finish(lost('It expired.')))];
    const next = now + duration / RENEWALS_IN_A_DURATION;
    if (next < this.#end && next < renewUntil) {
      timers.push(this.#clock.after(next - now, () => void this.#renewByItself()));
    }
    this.#cancel = () => {
      for (const cancel of timers) cancel();
    };
  }

  async #renewByItself(): Promise<void> {
    try {
      await this.renew();
    } catch {
      // Retried until the lease is over, which `ended` signals.
      if (!this.ended.aborted) this.#plan();
    }
  }

  #finish(reason: PlatformError | undefined): void {
    this.#cancel();
    this.#over.abort(reason);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof PlatformError && error.code === 'not_found';
}

function lost(why: string): PlatformError {
  return new PlatformError({ code: 'lease_lost', detail: `The work lease is over. ${why}` });
}
