// All SQL of messages that go through a bridge: whom an account wrote to first, what was sent under a transaction, and which
// accounts it is to forget.
import { sql } from 'kysely';
import { JobTable } from '../../background/job-queries.ts';
import type { Executor } from '../../database/schema.ts';

export interface NewRequest {
  readonly accountKey: string;
  readonly userId: string;
  readonly now: Date;
  /** Requests after it are counted. */
  readonly since: Date;
  readonly most: number;
}

/**
 * Counts somebody whom the account writes to for the first time. Under the lock of the account, so that calls at the same time
 * do not pass the limit together.
 *
 * @returns whether it is new; `null` beyond the limit
 */
export async function countRequest(
  trx: Executor,
  { accountKey, userId, now, since, most }: NewRequest,
): Promise<boolean | null> {
  await sql`SELECT FROM messaging_accounts WHERE account_key = ${accountKey} FOR NO KEY UPDATE`.execute(trx);
  const { rows } = await sql<{ known: boolean; recent: number }>`
    SELECT count(*) FILTER (WHERE user_id = ${userId}) > 0 AS known,
           (count(*) FILTER (WHERE asked_at > ${since} AND asked_at <= ${now}))::integer AS recent
      FROM bridge_requests WHERE account_key = ${accountKey}`.execute(trx);
  const [counted] = rows;
  if (counted?.known === true) return false;
  if (counted === undefined || counted.recent >= most) return null;
  await trx.insertInto('bridge_requests').values({ account_key: accountKey, user_id: userId, asked_at: now }).execute();
  return true;
}

export async function forgetRequest(db: Executor, accountKey: string, userId: string): Promise<void> {
  await db.deleteFrom('bridge_requests').where('account_key', '=', accountKey).where('user_id', '=', userId).execute();
}

export interface BridgeSend {
  readonly installationId: string;
  readonly transactionId: string;
  readonly accountKey: string;
  /** Of what was sent, and where. */
  readonly digest: Buffer;
}

export async function findSend(
  db: Executor,
  { installationId, transactionId }: Pick<BridgeSend, 'installationId' | 'transactionId'>,
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('bridge_sends')
    .select('digest')
    .where('installation_id', '=', installationId)
    .where('transaction_id', '=', transactionId)
    .executeTakeFirst();
  return row?.digest;
}

/** @returns whether it was not kept before */
export async function keepSend(db: Executor, send: BridgeSend): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('bridge_sends')
    .values({
      installation_id: send.installationId,
      transaction_id: send.transactionId,
      account_key: send.accountKey,
      digest: send.digest,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** By the key of the account. */
export const bridgeRemovals = new JobTable<string>('bridge_removals', 'account_key');

/**
 * Adds the job for an account that is being deleted, if it takes part in messaging and a bridge may know it.
 *
 * @param always also for one that no call was about, as far as is known
 * @returns whether it was added
 */
export async function insertRemoval(
  trx: Executor,
  accountKey: string,
  { dueAt, always }: { readonly dueAt: Date; readonly always: boolean },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO bridge_removals (account_key, name, due_at)
    SELECT account.key, account.name, ${dueAt}
      FROM account_states AS account JOIN messaging_accounts AS party ON party.account_key = account.key
     WHERE account.key = ${accountKey} AND (${always} OR party.bridged)
    ON CONFLICT DO NOTHING`.execute(trx);
  return numAffectedRows === 1n;
}

/** The name of an account that was deleted. */
export async function nameOfRemoved(db: Executor, accountKey: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('bridge_removals')
    .select('name')
    .where('account_key', '=', accountKey)
    .executeTakeFirst();
  return row?.name;
}
