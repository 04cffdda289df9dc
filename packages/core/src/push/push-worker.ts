// Delivers the outbox. Every replica has a worker; each leases subscriptions for 20 s, so that what a killed one held
// is taken over, and sends the messages of one subscription one after the other. A message may go out twice, never not
// at all: its service worker shows an id once.
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

export type DropReason = 'expired' | 'gone' | 'refused' | 'surplus' | 'too-large';

/** What an operator is told. */
export interface PushCounts {
  sent(): void;
  /** An attempt that is repeated later. */
  failed(): void;
  dropped(reason: DropReason): void;
}

export interface PushWorkerOptions {
  readonly sender: PushSender;
  readonly counts: PushCounts;
  /** Wait before the first repetition; doubled each time. Milliseconds, default 5,000. */
  readonly firstRetryMilliseconds?: number | undefined;
  /** After it, what a worker that is gone had begun is taken over. Milliseconds, default 20,000. */
  readonly leaseMilliseconds?: number | undefined;
}

const SLOTS = 64;
const MESSAGES_AT_ONCE = 32;
const LEASE_MILLISECONDS = 20_000;
/** A slot gives a subscription back after this part of a lease: with the longest request after it, well within it. */
const PART_OF_LEASE = 0.15;
const LONGEST_RETRY_MILLISECONDS = 3_600_000;
/** Without a signal, a look at what is due happens this often. */
const IDLE_MILLISECONDS = 15_000;
const SHORTEST_WAIT_MILLISECONDS = 25;
/** At a stop, requests under way may end for so long. */
const GRACE_MILLISECONDS = 3_000;

export class PushWorker {
  readonly #context: CoreContext;
  readonly #options: PushWorkerOptions;
  readonly #working = new Set<Promise<void>>();
  #finished: Settlement[] = [];
  #settling: Promise<void> | undefined;
  #pumping: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #aborted = false;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: () => void = () => undefined;

  constructor(context: CoreContext, options: PushWorkerOptions) {
    this.#context = context;
    this.#options = options;
  }

  start(): void {
    this.#unsubscribe = this.#context.signals.on('push-queued', () => this.#wake());
    this.#wake();
  }

  /** Lets requests under way end, gives back what it holds, and closes its connections. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    clearTimeout(this.#timer);
    const { sender } = this.#options;
    const impatient = setTimeout(() => {
      this.#aborted = true;
      void sender.abort();
    }, GRACE_MILLISECONDS);
    await this.#pumping;
    await Promise.all(this.#working);
    clearTimeout(impatient);
    await this.#settling;
    await sender.close();
  }

  #wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined;
      // Somebody called while it was about to go to sleep.
      if (this.#again) this.#wake();
    });
  }

  async #pump(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        // With few slots free it waits for more: a claim costs the same for one and for many.
        if (this.#working.size > SLOTS / 2) return;
        if (await this.#claim()) this.#again = true;
      }
      await this.#sleep();
    } catch (error) {
      this.#context.log.warn({ err: error }, 'the outbox of web push could not be read');
      this.#timer = setTimeout(() => this.#wake(), 1_000);
    }
  }

  async #sleep(): Promise<void> {
    const due = await nextDue(this.#context.database);
    if (this.#stopped) return;
    const wait = due === null ? IDLE_MILLISECONDS : due.getTime() - this.#context.clock().getTime();
    const bounded = Math.min(Math.max(wait, SHORTEST_WAIT_MILLISECONDS), IDLE_MILLISECONDS);
    this.#timer = setTimeout(() => this.#wake(), bounded);
  }

  /** @returns whether there may be more */
  async #claim(): Promise<boolean> {
    const { database, clock, random } = this.#context;
    const now = clock();
    const lease = random(12).toString('base64url');
    const atMost = SLOTS - this.#working.size;
    const { leaseMilliseconds = LEASE_MILLISECONDS } = this.#options;
    const until = new Date(now.getTime() + leaseMilliseconds);
    const claimed = await claimSubscriptions(database, { lease, now, until, atMost });
    if (claimed.length === 0) return false;
    const ids = claimed.map(({ id }) => id);
    const messages = await nextMessages(database, ids, MESSAGES_AT_ONCE);
    for (const subscription of claimed) {
      const work = this.#deliver(subscription, lease, messages.get(subscription.id) ?? [])
        .then((settlement) => this.#settle(settlement))
        .catch((error: unknown) => {
          // Its lease runs out, and it is taken up again.
          this.#context.log.error({ err: error, subscriptionId: subscription.id }, 'web push was not delivered');
        })
        .finally(() => {
          this.#working.delete(work);
          this.#wake();
        });
      this.#working.add(work);
    }
    return claimed.length === atMost;
  }

  async #deliver(subscription: ClaimedSubscription, lease: string, messages: MessageRow[]): Promise<Settlement> {
    const { masterKey, clock, log } = this.#context;
    const { counts, leaseMilliseconds = LEASE_MILLISECONDS } = this.#options;
    const { id } = subscription;
    const done: string[] = [];
    if (subscription.expires_at <= clock()) {
      for (const _ of messages) counts.dropped('gone');
      return { id, lease, done, gone: true, retry: null };
    }
    const address = openAddress(masterKey, subscription);
    const started = performance.now();
    for (const message of messages) {
      if (this.#stopped || performance.now() - started > leaseMilliseconds * PART_OF_LEASE) break;
      if (message.expires_at <= clock()) counts.dropped('expired');
      else {
        const { outcome, shortened } = await this.#attempt(address, message);
        if (outcome.kind === 'gone') {
          for (const _ of messages.slice(done.length)) counts.dropped('gone');
          return { id, lease, done, gone: true, retry: null };
        }
        if (outcome.kind === 'later') {
          if (this.#aborted) break;
          counts.failed();
          log.debug({ subscriptionId: id, why: outcome.why }, 'web push is tried again later');
          const retry = { sequence: message.sequence, at: this.#retryAt(message.attempts, outcome), shortened };
          return { id, lease, done, gone: false, retry };
        }
        if (outcome.kind === 'sent') counts.sent();
        else {
          const why = outcome.kind === 'refused' ? outcome.why : 'too large, even shortened';
          counts.dropped(outcome.kind);
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
    const doubled = firstRetryMilliseconds * 2 ** Math.min(attempts, 20);
    // Between half and all of it, so that what failed together does not come back together.
    const share = 0.5 + this.#context.random(2).readUInt16BE() / 131_072;
    const own = Math.min(doubled, LONGEST_RETRY_MILLISECONDS) * share;
    const asked = Math.min(afterMilliseconds ?? 0, LONGEST_RETRY_MILLISECONDS);
    return new Date(this.#context.clock().getTime() + Math.max(own, asked));
  }

  /** Whatever ended while others were written is written together: one transaction for many. */
  async #settle(settlement: Settlement): Promise<void> {
    this.#finished.push(settlement);
    while (this.#finished.includes(settlement)) {
      if (this.#settling !== undefined) await this.#settling;
      else {
        const batch = this.#finished;
        this.#finished = [];
        const { database, clock } = this.#context;
        this.#settling = database
          .transaction()
          .execute((trx) => settle(trx, batch, clock()))
          .finally(() => {
            this.#settling = undefined;
          });
        await this.#settling;
      }
    }
  }
}
