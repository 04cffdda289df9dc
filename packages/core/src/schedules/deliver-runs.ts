// Delivers runs to the triggers of backends. A replica leases a run for one attempt; one that fails is given back until
// the next attempt. A replica that is killed leaves its lease behind, which another takes over when it has expired: a
// backend may get a run twice, with the same idempotency key, and never not at all.
import { limits, plainText, RefusalError, type ScheduleFiring, errors as table } from '@platform/contract';
import { backOff, type Lease, type LeasedWork } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import { findTriggers } from '../installations/face.ts';
import type { Backends } from '../nodes/face.ts';
import { claimRuns, endRun, nextRunDue, type Outcome, type RunRow, releaseRun, repeatRun } from './run-queries.ts';
import { findSchedule, type ScheduleRow } from './schedule-queries.ts';

/** For tests; none of it can be configured. */
export interface DeliveryOptions {
  /** Wait before the second attempt; doubled each time. Milliseconds, default 5,000. */
  readonly firstRetryMilliseconds?: number;
  /** One attempt. Milliseconds, default 90,000. */
  readonly attemptMilliseconds?: number;
  /** Beyond an attempt, until another replica takes a run over. Milliseconds, default 30,000. */
  readonly takeoverMilliseconds?: number;
  /** Leaves all schedules to other replicas. Default false. */
  readonly idle?: boolean;
}

/** Of one replica: the shares of 64 accounts, since claiming stops when more than half of them are taken. */
const SLOTS = 1_024;
const FIRST_RETRY_MILLISECONDS = 5_000;
const LONGEST_RETRY_MILLISECONDS = 600_000;
const TAKEOVER_MILLISECONDS = 30_000;

/** How an attempt ended: `later` is tried again until the run is given up. */
type Ending =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'ended' | 'later' | 'skipped'; readonly detail: string };

export class DeliveryWork implements LeasedWork<RunRow> {
  readonly name = 'runs of schedules';
  readonly wakeOn = 'schedules-changed';
  readonly slots = SLOTS;
  readonly leaseMilliseconds: number;
  readonly #context: CoreContext;
  readonly #firstRetry: number;
  readonly #attempt: number;
  readonly #aborted = new AbortController();

  constructor(context: CoreContext, options: DeliveryOptions) {
    this.#context = context;
    this.#firstRetry = options.firstRetryMilliseconds ?? FIRST_RETRY_MILLISECONDS;
    this.#attempt = options.attemptMilliseconds ?? limits.scheduleAttemptSeconds.value * 1_000;
    this.leaseMilliseconds = this.#attempt + (options.takeoverMilliseconds ?? TAKEOVER_MILLISECONDS);
  }

  claim({ id: lease, now, until }: Lease, atMost: number): Promise<RunRow[]> {
    const ofAccount = limits.scheduleConcurrency.value;
    return claimRuns(this.#context.database, { lease, now, until, atMost, ofAccount });
  }

  nextDue(): Promise<Date | null> {
    return nextRunDue(this.#context.database, this.#context.clock());
  }

  abort(): void {
    this.#aborted.abort();
  }

  async run(run: RunRow, { id: lease }: Lease, stopping: AbortSignal): Promise<void> {
    const { database, at } = this.#context;
    if (stopping.aborted) return releaseRun(database, { id: run.id, lease });
    await at('schedules.deliver');
    const ending = await this.#deliver(run).catch((error: unknown) => {
      if (!this.#aborted.signal.aborted) throw error;
    });
    // Stopped in the middle of an attempt: the next replica makes another.
    if (ending === undefined) return releaseRun(database, { id: run.id, lease });
    await at('schedules.settle.committing');
    await this.#settle(run, lease, ending);
    await at('schedules.settle.committed');
  }

  async #settle(run: RunRow, lease: string, ending: Ending): Promise<void> {
    const { database, clock, log, count } = this.#context;
    const now = clock();
    const end = async (outcome: Outcome['outcome'], detail: string | null) => {
      await endRun(database, run.id, { at: now, outcome, detail });
      count('platform_core_schedule_runs_total', { outcome });
    };
    if (ending.kind === 'delivered') return end('delivered', null);
    log.debug({ scheduleId: run.schedule_id, attempts: run.attempts, why: ending.detail }, 'a run was not delivered');
    if (ending.kind === 'skipped') return end('skipped', ending.detail);
    if (ending.kind === 'ended') return end('failed', ending.detail);
    if (now >= run.give_up_at) return end('failed', `${ending.detail} Gave up after ${attemptsOf(run.attempts)}.`);
    const wait = { first: this.#firstRetry, longest: LONGEST_RETRY_MILLISECONDS };
    const retryAt = now.getTime() + backOff(this.#context, run.attempts - 1, wait);
    const dueAt = new Date(Math.min(retryAt, run.give_up_at.getTime()));
    const detail = `${ending.detail} Retrying for up to an hour (${attemptsOf(run.attempts)} so far).`;
    await repeatRun(database, { id: run.id, lease, dueAt }, { at: now, outcome: 'failed', detail });
  }

  /** @throws the reason of the stop that ended the attempt */
  async #deliver(run: RunRow): Promise<Ending> {
    const { pool, database } = this.#context;
    const schedule = await findSchedule(database, run.account_key, run.schedule_id, 'read');
    // It was deleted meanwhile, and its runs with it.
    if (schedule === undefined) return { kind: 'ended', detail: 'The schedule was deleted.' };
    if (!schedule.enabled && !run.by_hand)
      return { kind: 'skipped', detail: 'The schedule was paused before this run was delivered.' };
    const app = await findTriggers(pool, run.account_key, schedule.app_id);
    if (app === undefined) return { kind: 'ended', detail: `The app ${schedule.app_id} is not installed any more.` };
    const trigger = app.triggers.find(({ name }) => name === schedule.trigger_name);
    if (trigger === undefined)
      return { kind: 'ended', detail: `${app.name} no longer has the trigger “${schedule.trigger_name}”.` };
    try {
      return await this.#call(app.id, trigger.path, { run, schedule });
    } catch (error) {
      if (error instanceof RefusalError) return { kind: 'later', detail: wordsOf(error) };
      throw error;
    }
  }

  async #call(
    installationId: Parameters<Backends['call']>[0],
    path: string,
    { run, schedule }: { readonly run: RunRow; readonly schedule: ScheduleRow },
  ): Promise<Ending> {
    const headers = {
      'content-type': 'application/json',
      'platform-trigger': 'schedule',
      'idempotency-key': run.id,
    };
    const signal = AbortSignal.any([AbortSignal.timeout(this.#attempt), this.#aborted.signal]);
    const body = Buffer.from(JSON.stringify(this.#firing(run, schedule)));
    const answer = await this.#context.backends.call(installationId, { method: 'POST', path, headers, body, signal });
    const isDelivered = answer.status >= 200 && answer.status < 300;
    // What it says is nothing to anybody, but a backend that is cut off in the middle of its answer might stop its work.
    await answer.read(limits.scheduleAnswer.value).catch((error: unknown) => {
      if (this.#aborted.signal.aborted && !isDelivered) throw error;
    });
    return isDelivered ? { kind: 'delivered' } : { kind: 'later', detail: `The backend answered ${answer.status}.` };
  }

  #firing(run: RunRow, { id, name, payload }: ScheduleRow): ScheduleFiring {
    return {
      scheduleId: id,
      name,
      firedAt: this.#context.clock().toISOString(),
      scheduledFor: run.scheduled_for.toISOString(),
      payload: payload === null ? null : JSON.parse(payload),
    };
  }
}

function attemptsOf(count: number): string {
  return count === 1 ? '1 attempt' : `${count} attempts`;
}

function wordsOf({ refusal }: RefusalError): string {
  return plainText(refusal.detail ?? table[refusal.code].title);
}
