// The SQL of accounts, passkeys and challenges. Every state change is guarded in its WHERE, so it holds under
// concurrency; sessions and enrolment links have their own file beside this one.

import { type Kysely, type Selectable, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { isFormerName } from './deletion/deletion-queries.ts';
import type { PasskeyUse, StoredPasskey } from './webauthn/verify-assertion.ts';
import type { NewPasskey } from './webauthn/verify-registration.ts';

/** The database or a transaction on it. */
export type Executor = Kysely<DatabaseSchema>;
export type Challenge = Selectable<DatabaseSchema['challenges']>;
export type Passkey = Selectable<DatabaseSchema['passkeys']>;

/** Rows that one insert deletes at most: more than it adds, so expired ones do not accumulate. */
const CLEARED_AT_ONCE = 20;

/** Stores a challenge and clears expired ones in the same statement. */
export async function insertChallenge(executor: Executor, challenge: Challenge, proven: ProvenTime): Promise<void> {
  await executor
    .with('expired', (query) =>
      query
        .selectFrom('challenges')
        .select('id')
        .where('expires_at', '<=', proven)
        .orderBy('expires_at')
        .limit(CLEARED_AT_ONCE)
        .forUpdate()
        .skipLocked(),
    )
    .with('cleared', (query) =>
      query.deleteFrom('challenges').where('id', 'in', (expired) => expired.selectFrom('expired').select('id')),
    )
    .insertInto('challenges')
    .values(challenge)
    .execute();
}

/**
 * Removes a bounded number of challenges that have expired or are the oldest beyond `kept`.
 *
 * @returns how many were removed
 */
export async function removeSurplusChallenges(
  executor: Executor,
  { proven, kept, atMost }: { readonly proven: ProvenTime; readonly kept: number; readonly atMost: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM challenges WHERE id IN (
      (SELECT id FROM challenges WHERE expires_at <= ${proven} ORDER BY expires_at LIMIT ${atMost})
      UNION ALL
      (SELECT id FROM challenges ORDER BY expires_at DESC OFFSET ${kept} LIMIT ${atMost}))`.execute(executor);
  return Number(numAffectedRows);
}

/** Consumes a challenge: of concurrent uses exactly one gets the row. */
export function takeChallenge(executor: Executor, id: string): Promise<Challenge | undefined> {
  return executor.deleteFrom('challenges').where('id', '=', id).returningAll().executeTakeFirst();
}

export function selectAccount(executor: Executor, accountKey: string) {
  return executor
    .selectFrom('accounts')
    .select(['name', 'created_at', 'plan', 'paused_at'])
    .where('key', '=', accountKey)
    .executeTakeFirstOrThrow();
}

/** @returns whether that changed something */
export async function updatePlan(
  executor: Executor,
  accountKey: string,
  plan: 'free' | 'paid' | null,
): Promise<boolean> {
  const { numUpdatedRows } = await executor
    .updateTable('accounts')
    .set({ plan })
    .where('key', '=', accountKey)
    .where('plan', 'is distinct from', plan)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whether an account has the name, suspended ones included, or one that was deleted had it. */
export async function accountNameTaken(executor: Executor, name: string): Promise<boolean> {
  const row = await executor.selectFrom('accounts').select('key').where('name', '=', name).executeTakeFirst();
  return row !== undefined || (await isFormerName(executor, name));
}

/**
 * Roll back when it was not: the row may be there nevertheless.
 *
 * @returns whether the name was free; a concurrent insert or deletion of the same name is waited for
 */
export async function insertAccount(executor: Executor, account: { key: string; name: string; created_at: Date }) {
  const { numInsertedOrUpdatedRows } = await executor
    .insertInto('accounts')
    .values(account)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirstOrThrow();
  // Asked afterwards, since the account of this name may have been deleted during the wait.
  return numInsertedOrUpdatedRows === 1n && !(await isFormerName(executor, account.name));
}

/**
 * Locks an account until the transaction ends, so that counts of its rows stay valid.
 *
 * @returns the account, or `undefined` when it does not exist or is suspended
 */
export function lockAccount(executor: Executor, by: { key: string } | { name: string }) {
  const [column, value] = 'key' in by ? (['key', by.key] as const) : (['name', by.name] as const);
  return executor
    .selectFrom('accounts')
    .select(['key', 'name', 'created_at', 'deletion_requested_at'])
    .where(column, '=', value)
    .where('suspended_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/**
 * Locks accounts until the transaction ends, suspended ones too: nothing of them changes, and counts of their rows stay valid.
 * Always in the same order, so that two transactions never wait for each other.
 */
export async function holdAccounts(executor: Executor, keys: readonly string[]): Promise<void> {
  await executor
    .selectFrom('accounts')
    .select('key')
    .where('key', 'in', [...new Set(keys)])
    .orderBy('key')
    .forNoKeyUpdate()
    .execute();
}

/** @returns the stored passkey, or `undefined` when its id is registered already, to any account */
export function insertPasskey(
  executor: Executor,
  { accountKey, label, now, passkey }: { accountKey: string; label: string; now: Date; passkey: NewPasskey },
): Promise<Passkey | undefined> {
  return executor
    .insertInto('passkeys')
    .values({
      id: passkey.id,
      account_key: accountKey,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: [...passkey.transports],
      backup_eligible: passkey.backupEligible,
      backed_up: passkey.backedUp,
      label,
      created_at: now,
      last_used_at: null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * A passkey with the name and creation time of its account; `undefined` when it is unknown or the account is
 * suspended.
 */
export function findPasskey(executor: Executor, id: string) {
  return executor
    .selectFrom('passkeys')
    .innerJoin('accounts', 'accounts.key', 'passkeys.account_key')
    .select([
      'passkeys.id',
      'passkeys.account_key',
      'passkeys.public_key',
      'passkeys.counter',
      'passkeys.backup_eligible',
      'accounts.name',
      'accounts.created_at',
      'accounts.deletion_requested_at',
    ])
    .where('passkeys.id', '=', id)
    .where('accounts.suspended_at', 'is', null)
    .executeTakeFirst();
}

/** What {@link findPasskey} found, as an assertion is verified with it. */
export function storedPasskey(found: NonNullable<Awaited<ReturnType<typeof findPasskey>>>): StoredPasskey {
  return {
    id: found.id,
    accountKey: found.account_key,
    publicKey: found.public_key,
    counter: Number(found.counter),
    backupEligible: found.backup_eligible,
  };
}

/**
 * Stores a verified use if the counter increases (or stays 0 for authenticators that do not count), the passkey is
 * otherwise unchanged, and its account is not suspended.
 *
 * @returns whether all of these conditions held
 */
export async function recordPasskeyUse(
  executor: Executor,
  { stored, outcome, now }: { stored: StoredPasskey; outcome: PasskeyUse; now: Date },
): Promise<boolean> {
  const { counter, backedUp, backupEligible = stored.backupEligible } = outcome;
  const { numUpdatedRows } = await executor
    .updateTable('passkeys')
    .from('accounts')
    .set({ counter, backup_eligible: backupEligible, backed_up: backedUp, last_used_at: now })
    .where('passkeys.id', '=', stored.id)
    .where('passkeys.account_key', '=', stored.accountKey)
    .where('passkeys.backup_eligible', '=', stored.backupEligible)
    .where(sql<boolean>`(passkeys.counter < ${counter}::bigint OR (passkeys.counter = 0 AND ${counter}::bigint = 0))`)
    .whereRef('accounts.key', '=', 'passkeys.account_key')
    .where('accounts.suspended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** All passkeys of an account, oldest first. */
export function passkeysOf(executor: Executor, accountKey: string): Promise<Passkey[]> {
  return executor
    .selectFrom('passkeys')
    .selectAll()
    .where('account_key', '=', accountKey)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** COSE, of a passkey that is there. */
export async function publicKeyOf(executor: Executor, id: string): Promise<Buffer> {
  const row = await executor.selectFrom('passkeys').select('public_key').where('id', '=', id).executeTakeFirstOrThrow();
  return row.public_key;
}

/** Of these passkeys the keys, and the names of their accounts. */
export function passkeysNamed(executor: Executor, ids: readonly string[]) {
  return executor
    .selectFrom('passkeys')
    .innerJoin('accounts', 'accounts.key', 'passkeys.account_key')
    .select(['passkeys.id', 'passkeys.public_key', 'accounts.name'])
    .where('passkeys.id', 'in', ids.length === 0 ? [''] : [...ids])
    .execute();
}

/** Renames a passkey. @returns it after the change, or `undefined` when the account has no such passkey */
export function labelPasskey(executor: Executor, accountKey: string, id: string, label: string) {
  return executor
    .updateTable('passkeys')
    .set({ label })
    .where('account_key', '=', accountKey)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a passkey of the account; no effect when it has no such passkey. */
export async function deletePasskey(executor: Executor, accountKey: string, id: string): Promise<void> {
  await executor.deleteFrom('passkeys').where('account_key', '=', accountKey).where('id', '=', id).execute();
}
