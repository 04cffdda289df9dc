// Delivers the outbox. A worker leases subscriptions for 20 s and sends the messages of one subscription one after the
// other. A message may go out twice, never not at all: its service worker shows an id once.
import { backOff, type Lease, type LeasedWork } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import { shortenMessage } from './compose-message.ts';
import { openMessage } from './outbox.ts';
import {
  type ClaimedSubscription,
  claimSubscriptions,
  type MessageRow,
  nextDue,
  nextMessages,
  type Settlement,
  settle,
} from './outbox-queries.ts';
import type { Outcome, PushSender } from './send-message.ts';
import { openAddress } from './subscriptions.ts';

export interface PushWorkOptions {
  readonly sender: PushSender;
  /** Wait before the first repetition; doubled each time. Milliseconds, default 5,000. */
  readonly firstRetryMilliseconds?: number | undefined;
  /** After it, what a worker that is gone had begun is taken over. Milliseconds, default 20,000. */
  readonly leaseMilliseconds?: number | undefined;
}

const SLOTS = 64;
/** So that browsers of one account, whose push services may hang, leave the other slots free. */
const SLOTS_OF_ACCOUNT = 4;
const MESSAGES_AT_ONCE = 32;
const LEASE_MILLISECONDS = 20_000;
/** A slot gives a subscription back after this part of a lease: with the longest request after it, well within it. */
const PART_OF_LEASE = 0.15;
const LONGEST_RETRY_MILLISECONDS = 3_600_000;

/** A leased subscription, and its messages in the order in which they are sent. */
interface Delivery {
  readonly subscription: ClaimedSubscription;
  readonly messages: readonly MessageRow[];
}

export class PushWork implements LeasedWork<Delivery> {
  readonly name = 'web push';
  readonly wakeOn = 'push-queued';
  readonly slots = SLOTS;
  readonly leaseMilliseconds: number;
  readonly #context: CoreContext;
  readonly #options: PushWorkOptions;
  #finished: Settlement[] = [];
  #settling: Promise<void> | undefined;
  #aborted = false;

  constructor(context: CoreContext, options: PushWorkOptions) {
    this.#context = context;
    this.#options = options;
    this.leaseMilliseconds = options.leaseMilliseconds ?? LEASE_MILLISECONDS;
  }

  async claim({ id: lease, now, until }: Lease, atMost: number): Promise<Delivery[]> {
    const { database, at } = this.#context;
    const claimed = await claimSubscriptions(database, { lease, now, until, atMost, ofAccount: SLOTS_OF_ACCOUNT });
    if (claimed.length === 0) return [];
    await at('push.claimed');
    const messages = await nextMessages(
      database,
      claimed.map(({ id }) => id),
      MESSAGES_AT_ONCE,
    );
    return claimed.map((subscription) => ({ subscription, messages: messages.get(subscription.id) ?? [] }));
  }

  async run(delivery: Delivery, { id: lease }: Lease, stopping: AbortSignal): Promise<void> {
    await this.#settle(await this.#deliver(delivery, lease, stopping));
  }

  nextDue(): Promise<Date | null> {
    return nextDue(this.#context.database, this.#context.clock());
  }

  abort(): void {
    this.#aborted = true;
    void this.#options.sender.abort();
  }

  close(): Promise<void> {
    return this.#options.sender.close();
  }

  async #deliver({ subscription, messages }: Delivery, lease: string, stopping: AbortSignal): Promise<Settlement> {
    const { masterKey, time, log, count } = this.#context;
    const { id } = subscription;
    const done: string[] = [];
    if (subscription.expires_at <= time.proven()) {
      count('platform_core_push_dropped_total', { reason: 'gone' }, messages.length);
      return { id, lease, done, gone: true, retry: null };
    }
    const address = openAddress(masterKey, subscription);
    const started = performance.now();
    for (const message of messages) {
      if (stopping.aborted || performance.now() - started > this.leaseMilliseconds * PART_OF_LEASE) break;
      if (message.expires_at <= time.proven()) count('platform_core_push_dropped_total', { reason: 'expired' });
      else {
        const { outcome, shortened } = await this.#attempt(address, message);
        if (outcome.kind === 'gone') {
          count('platform_core_push_dropped_total', { reason: 'gone' }, messages.length - done.length);
          return { id, lease, done, gone: true, retry: null };
        }
        if (outcome.kind === 'later') {
          if (this.#aborted) break;
          count('platform_core_push_failed_total', {});
          log.debug({ subscriptionId: id, why: outcome.why }, 'web push failed; retrying later');
          const retry = { sequence: message.sequence, at: this.#retryAt(message.attempts, outcome), shortened };
          return { id, lease, done, gone: false, retry };
        }
        if (outcome.kind === 'sent') count('platform_core_push_sent_total', {});
        else {
          const why = outcome.kind === 'refused' ? outcome.why : 'too large, even shortened';
          count('platform_core_push_dropped_total', { reason: outcome.kind });
          log.warn({ subscriptionId: id, service: new URL(address.endpoint).host, why }, 'web push was refused');
        }
      }
      done.push(message.sequence);
    }
    return { id, lease, done, gone: false, retry: null };
  }

  /** Sends a message; a shortened one after 413, once. */
  async #attempt(
    address: Parameters<PushSender['send']>[0],
    message: MessageRow,
  ): Promise<{ readonly outcome: Outcome; readonly shortened: boolean }> {
    const { sender } = this.#options;
    const { masterKey, clock } = this.#context;
    const payload = openMessage(masterKey, message);
    const ttl = Math.max(0, Math.floor((message.expires_at.getTime() - clock().getTime()) / 1000));
    const { urgency, topic } = message;
    const send = (said: typeof payload) => sender.send(address, { payload: said, ttl, urgency, topic });
    const outcome = await send(message.shortened ? shortenMessage(payload) : payload);
    if (outcome.kind !== 'too-large' || message.shortened) return { outcome, shortened: message.shortened };
    return { outcome: await send(shortenMessage(payload)), shortened: true };
  }

  #retryAt(attempts: number, { afterMilliseconds }: Extract<Outcome, { kind: 'later' }>): Date {
    const { firstRetryMilliseconds = 5_000 } = this.#options;
    const own = backOff(this.#context, attempts, {
      first: firstRetryMilliseconds,
      longest: LONGEST_RETRY_MILLISECONDS,
    });
    const requested = Math.min(afterMilliseconds ?? 0, LONGEST_RETRY_MILLISECONDS);
    return new Date(this.#context.clock().getTime() + Math.max(own, requested));
  }

  /** Whatever ended while others were written is written together: one transaction for many. */
  async #settle(settlement: Settlement): Promise<void> {
    this.#finished.push(settlement);
    while (this.#finished.includes(settlement)) {
      if (this.#settling !== undefined) await this.#settling;
      else {
        const batch = this.#finished;
        this.#finished = [];
        this.#settling = this.#write(batch).finally(() => {
          this.#settling = undefined;
        });
        await this.#settling;
      }
    }
  }

  async #write(settlements: readonly Settlement[]): Promise<void> {
    const { database, clock, at } = this.#context;
    await database.transaction().execute(async (trx) => {
      await settle(trx, settlements, clock());
      await at('push.settle.committing');
    });
    await at('push.settle.committed');
  }
}
