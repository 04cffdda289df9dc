// One activity of a run: claimed, executed while its lease is renewed, completed; or its result, if it was completed
// before, by whichever process.
import { type Clock, onAbort, pause } from './clock.ts';
import { type Patience, patiently } from './patience.ts';
import { PlatformError } from './platform-error.ts';
import type { WorkflowCalls } from './workflows.ts';

export interface ActivityContext {
  /**
   * The same for every attempt: hand it on to what has the effect, so that this happens once. An executor can be run
   * again after its effect, when the process dies before the result is kept.
   */
  readonly idempotencyKey: string;
  /** Aborts when another process may go on with this step, or the run was cancelled. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
}

export type Executor<Input, Result> = (input: Input, context: ActivityContext) => Promise<Result> | Result;

export interface RetryPolicy {
  /** Executions in this process, the first one included; default 1. */
  readonly attempts?: number;
  /** Before the second; default 1,000. Doubles each time. */
  readonly backoffMilliseconds?: number;
  /** Default 60,000. */
  readonly maximumBackoffMilliseconds?: number;
  /** `code` members of errors after which it is not tried again. */
  readonly nonRetryable?: readonly string[];
}

export interface ActivityOptions {
  readonly retry?: RetryPolicy;
}

export interface Execution extends Patience {
  readonly calls: WorkflowCalls;
  readonly runId: string;
  /** Of the whole run in this process. */
  readonly signal: AbortSignal;
  /** Ends the execution, for example because the run was cancelled. */
  stop(reason: unknown): void;
}

interface Step {
  readonly step: string;
  readonly name: string;
  readonly input: unknown;
}

/** A third of the lease: two renewals may fail. */
const RENEW_MILLISECONDS = 20_000;
const LEASE_MILLISECONDS = 60_000;
const RETRY_RENEWAL_MILLISECONDS = 2_000;
const GRACE_MILLISECONDS = 5_000;
const FIRST_LOOK_MILLISECONDS = 250;
const LAST_LOOK_MILLISECONDS = 5_000;

/**
 * @throws {PlatformError} what the platform refuses, such as `activity_conflict` for a step with another name or input
 * @throws {ExecutorFailure} what the executor threw
 */
export async function runActivity<Input, Result>(
  execution: Execution,
  { step, name, input }: { readonly step: string; readonly name: string; readonly input: Input },
  executor: Executor<Input, Result>,
  { retry = {} }: ActivityOptions,
): Promise<Result> {
  const { attempts = 1, backoffMilliseconds = 1_000, maximumBackoffMilliseconds = 60_000, nonRetryable = [] } = retry;
  const kept = asJson(input);
  for (let failures = 0; ; ) {
    const attempt = await attemptOnce(execution, { step, name, input: kept }, executor);
    if (attempt.outcome === 'completed') return attempt.result as Result;
    // Another process has the step now; its result is ours.
    if (attempt.outcome === 'lost') continue;
    failures += 1;
    if (failures >= attempts || nonRetryable.includes(String(codeOf(attempt.error))))
      throw new ExecutorFailure(attempt.error);
    const backoff = Math.min(maximumBackoffMilliseconds, backoffMilliseconds * 2 ** (failures - 1));
    await pause(execution.clock, backoff * (0.75 + execution.random() / 2), execution.signal);
  }
}

/** Carries what an executor threw to where the run is ended, apart from what the platform refused. */
export class ExecutorFailure {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

type Attempt =
  | { readonly outcome: 'completed'; readonly result: unknown }
  | { readonly outcome: 'failed'; readonly error: unknown }
  | { readonly outcome: 'lost' };

async function attemptOnce(execution: Execution, step: Step, executor: Executor<never, unknown>): Promise<Attempt> {
  const claim = await claimOrWait(execution, step);
  if (claim.outcome === 'completed') return { outcome: 'completed', result: claim.activity.result };
  const { id, attempt, leaseToken } = claim.activity;
  const lease = new HeldLease(execution, { id, leaseToken, begun: claim.begun });
  try {
    const executed = await execute(executor, asJson(step.input), {
      idempotencyKey: id,
      signal: lease.signal,
      attempt,
    });
    return await settle(execution, { id, leaseToken }, executed);
  } finally {
    lease.end();
  }
}

type Executed = { readonly result: unknown } | { readonly error: unknown };

async function execute(
  executor: Executor<never, unknown>,
  input: unknown,
  context: ActivityContext,
): Promise<Executed> {
  try {
    return { result: asJson(await executor(input as never, context)) };
  } catch (error) {
    return { error };
  }
}

/** Claims the step; while another process has it, looks again and again. */
async function claimOrWait({ calls, runId, signal, ...patience }: Execution, { step, name, input }: Step) {
  // Repeating the claim gives the same lease, if the answer was lost.
  const leaseToken = newLeaseToken();
  for (let looks = 0; ; looks += 1) {
    const begun = patience.clock.now();
    try {
      const claim = await patiently(patience, signal, (within) =>
        calls.claim(runId, step, { activity: name, input, leaseToken }, { signal: within }),
      );
      return { ...claim, begun };
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'activity_leased') throw error;
      const growing = Math.min(LAST_LOOK_MILLISECONDS, FIRST_LOOK_MILLISECONDS * 2 ** looks);
      const longest = (error.retryAfter ?? Number.POSITIVE_INFINITY) * 1_000;
      await pause(patience.clock, Math.min(growing, longest) * (0.5 + patience.random()), signal);
    }
  }
}

/** 32 random bytes, base64url. */
function newLeaseToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace('=', '');
}

async function settle(
  execution: Execution,
  { id, leaseToken }: { readonly id: string; readonly leaseToken: string },
  executed: Executed,
): Promise<Attempt> {
  const { calls, runId } = execution;
  using grace = outlasting(execution);
  const send = (body: Parameters<WorkflowCalls['settle']>[2]) =>
    patiently(execution, grace.signal, (within) => calls.settle(runId, id, body, { signal: within }));
  const giveBack = async (error: unknown): Promise<Attempt> => {
    await send({ leaseToken, error: describe(error) });
    return { outcome: 'failed', error };
  };
  try {
    if ('error' in executed) return await giveBack(executed.error);
    try {
      await send({ leaseToken, result: executed.result });
      return { outcome: 'completed', result: executed.result };
    } catch (error) {
      // What cannot be kept is the executor's to mend, for example a result that is too large.
      if (error instanceof PlatformError && (error.status === 413 || error.status === 400))
        return await giveBack(error);
      throw error;
    }
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'lease_lost') return { outcome: 'lost' };
    throw error;
  }
}

/** A signal that aborts a little later than the execution: what was done is still kept, what was not is given back. */
function outlasting({ clock, signal }: Execution): Disposable & { readonly signal: AbortSignal } {
  const later = new AbortController();
  let cancel = () => {};
  const stopFollowing = onAbort(signal, () => {
    cancel = clock.after(GRACE_MILLISECONDS, () => later.abort(signal.reason), true);
  });
  return {
    signal: later.signal,
    [Symbol.dispose]() {
      stopFollowing();
      cancel();
    },
  };
}

/** Renews a lease until it is ended; its signal aborts when the lease is lost. */
class HeldLease {
  readonly #execution: Execution;
  readonly #clock: Clock;
  readonly #lease: { readonly id: string; readonly leaseToken: string };
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly signal: AbortSignal;
  /** By this process's own clock; the platform counts from later. */
  #expires: number;
  #cancel: () => void;

  constructor(execution: Execution, { begun, ...lease }: { id: string; leaseToken: string; begun: number }) {
    this.#execution = execution;
    this.#clock = execution.clock;
    this.#lease = lease;
    this.signal = AbortSignal.any([execution.signal, this.#lost.signal]);
    this.#expires = begun + LEASE_MILLISECONDS;
    this.#cancel = this.#clock.after(RENEW_MILLISECONDS, () => void this.#renew());
  }

  end(): void {
    this.#cancel();
    // A reason of its own would be an error with a stack, for each activity.
    this.#ended.abort('ended');
  }

  async #renew(): Promise<void> {
    const { calls, runId } = this.#execution;
    const begun = this.#clock.now();
    let wait = RENEW_MILLISECONDS;
    try {
      await calls.renew(runId, this.#lease.id, this.#lease.leaseToken, {
        signal: this.#ended.signal,
        timeoutMilliseconds: RENEW_MILLISECONDS,
      });
      this.#expires = begun + LEASE_MILLISECONDS;
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      const code = codeOf(error);
      if (code === 'workflow_not_running' || code === 'not_found') return this.#execution.stop(error);
      if (code === 'lease_lost') return this.#lost.abort(error);
      if (this.#clock.now() >= this.#expires)
        return this.#lost.abort(
          new PlatformError({
            code: 'lease_lost',
            detail: 'The lease could not be renewed in time. Another process may have claimed this step.',
            cause: error,
          }),
        );
      wait = RETRY_RENEWAL_MILLISECONDS;
    }
    if (!this.#ended.signal.aborted) this.#cancel = this.#clock.after(wait, () => void this.#renew());
  }
}

/** What the platform gives back for it: a value as the next execution will see it. `undefined` becomes `null`. */
export function asJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? null : JSON.parse(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const detail = 'The value has too many levels to be written as JSON. Pass a reference instead.';
    throw new PlatformError({ code: 'invalid_request', detail, cause: error });
  }
}

/** The `code` of whatever was thrown, if it has one. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** In the shape the platform keeps errors in. */
export function describe(error: unknown): { code?: string; message: string } {
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const message = text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\P{C}\n\t]/gu, '')
    .slice(0, 2_000)
    .toWellFormed();
  return typeof code === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(code) ? { code, message } : { message };
}
