// Makes notifications of what arrives through the bridge, and marks them read where the person has read it elsewhere. One replica
// at a time asks the bridge, for all accounts, and says with the next question that it has kept the former answer.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type MessagingBridgeNotice,
  type MessagingBridgeNotices,
  notificationId,
  RefusalError,
} from '@platform/contract';
import { endNamedLease, namedLeaseDue, takeNamedLease } from '../../background/lease-queries.ts';
import { backOff, type Lease, type LeasedWork } from '../../background/leased-worker.ts';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import type { NewNotification } from '../../notifications/face.ts';
import { findByKey } from '../account-queries.ts';
import { findMessagesApp } from '../notice-queries.ts';
import { markNoticesRead, notificationOf, storeNotices } from '../notices.ts';
import type { BridgeClient } from './bridge-client.ts';
import { conversationOf, subjectOf } from './bridge-views.ts';

const LEASE = 'messaging-notices';
/** Renewed with each question. Longer than one with what becomes of its answer. */
const LEASE_MILLISECONDS = 90_000;
const WAIT_MILLISECONDS = 30_000;
const BATCH = 100;
/** Between two questions, so that a bridge that always has something keeps nobody busy. */
const APART_MILLISECONDS = 250;
const RETRY = { first: 1_000, longest: 30_000 };
/** A bridge of a former version has no notices; it may be replaced. */
const UNKNOWN_MILLISECONDS = 600_000;

export class NoticesWork implements LeasedWork<Date> {
  readonly name = 'notices of the messaging bridge';
  readonly slots = 1;
  readonly leaseMilliseconds = LEASE_MILLISECONDS;
  readonly graceMilliseconds = 0;
  readonly #context: CoreContext;
  readonly #client: BridgeClient;
  #cursor: string | undefined;
  #failures = 0;

  constructor(context: CoreContext, client: BridgeClient) {
    this.#context = context;
    this.#client = client;
  }

  async claim({ now, until }: Lease): Promise<Date[]> {
    return (await takeNamedLease(this.#context.pool, LEASE, { due: now, until })) ? [until] : [];
  }

  async run(claimed: Date, _lease: Lease, stopping: AbortSignal): Promise<void> {
    const { pool, clock, log } = this.#context;
    let until = claimed;
    let pause = 0;
    try {
      while (!stopping.aborted) {
        const begun = performance.now();
        const answer = await this.#ask(stopping);
        if (answer === null) {
          log.warn(
            {},
            'the messaging bridge is of a former version, so nobody is notified of messages that arrive through it',
          );
          pause = UNKNOWN_MILLISECONDS;
          break;
        }
        await takeNotices(this.#context, answer.notices);
        this.#cursor = answer.cursor;
        this.#failures = 0;
        const next = new Date(clock().getTime() + LEASE_MILLISECONDS);
        if (!(await takeNamedLease(pool, LEASE, { due: until, until: next }))) return;
        until = next;
        await delay(Math.max(0, begun + APART_MILLISECONDS - performance.now()), undefined, { signal: stopping });
      }
    } catch (error) {
      if (!stopping.aborted) {
        // The client has said what is wrong with the bridge.
        if (!(error instanceof RefusalError))
          log.error({ err: error }, 'notices of the messaging bridge could not be kept');
        pause = backOff(this.#context, this.#failures, RETRY);
        this.#failures += 1;
      }
    }
    await endNamedLease(pool, LEASE, { until, next: new Date(clock().getTime() + pause) });
  }

  async nextDue(): Promise<Date | null> {
    return namedLeaseDue(this.#context.pool, LEASE);
  }

  #ask(stopping: AbortSignal): Promise<MessagingBridgeNotices | null> {
    const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    return this.#client.notices({ ...cursor, timeoutMs: WAIT_MILLISECONDS, limit: BATCH }, stopping);
  }
}

/** Can be repeated: what is known is not stored again, and what is read stays so. */
async function takeNotices(context: CoreContext, notices: readonly MessagingBridgeNotice[]): Promise<void> {
  const fresh: NewNotification[] = [];
  for (const notice of notices) {
    const notification = await takeNotice(context, notice);
    if (notification !== null) fresh.push(notification);
  }
  if (fresh.length > 0) await context.database.transaction().execute((trx) => storeNotices(trx, context, fresh));
}

/** @returns what is to be stored of it */
async function takeNotice(
  context: CoreContext,
  { id, accountId, transportUserId, conversation: told }: MessagingBridgeNotice,
): Promise<NewNotification | null> {
  const { database, config, clock, log } = context;
  const { serverName } = config.messaging;
  const account = await findByKey(database, accountId);
  // Deleted, and not forgotten by the bridge yet.
  if (account === undefined) return null;
  if (subjectOf(account.key, account.name, serverName).transportUserId !== transportUserId || !told.encrypted) {
    log.warn({}, 'the messaging bridge gave a notice that is not accepted');
    return null;
  }
  const conversation = conversationOf(told, { transportUserId, serverName });
  const waits = conversation.state === 'request' || (conversation.unread > 0 && conversation.state !== 'left');
  if (!waits) {
    await markNoticesRead(context, account.key, conversation);
    return null;
  }
  const installationId = await findMessagesApp(database, account.key);
  if (installationId === undefined) return null;
  const dedupe_key = `bridge:${createHash('sha256').update(id).digest('base64url')}`;
  const occurred_at = clock();
  const noticed = {
    id: notificationId.parse(newId('ntf', context)),
    account_key: account.key,
    occurred_at,
    dedupe_key,
  };
  return notificationOf(context, noticed, { installationId, conversation });
}
