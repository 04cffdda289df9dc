// The SQL of command lines that sign in. Every state change is guarded in its WHERE, so it holds under concurrency.

import type { Selectable } from 'kysely';
import type pg from 'pg';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { DatabaseSchema } from '../../database/schema.ts';
import type { Executor } from '../queries.ts';

export type AuthorRequest = Selectable<DatabaseSchema['author_requests']>;
export type AuthorToken = Selectable<DatabaseSchema['author_tokens']>;
export type EndedToken = Pick<AuthorToken, 'id' | 'account_key'>;

/** Stores a request; removes those that expired, and the oldest beyond `kept`. */
export async function insertRequest(
  db: Executor,
  request: Omit<AuthorRequest, 'account_key' | 'allowed' | 'passkey_id'>,
  { kept, proven }: { readonly kept: number; readonly proven: ProvenTime },
): Promise<void> {
  await db.deleteFrom('author_requests').where('expires_at', '<=', proven).execute();
  await db
    .deleteFrom('author_requests')
    .where('token_hash', 'in', (query) =>
      query
        .selectFrom('author_requests')
        .select('token_hash')
        .orderBy('created_at', 'desc')
        .offset(kept - 1)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
  await db.insertInto('author_requests').values(request).execute();
}

/** The request of a code that nobody has decided yet. */
export function findUndecided(db: Executor, codeHash: Buffer, now: Date): Promise<AuthorRequest | undefined> {
  return db
    .selectFrom('author_requests')
    .selectAll()
    .where('code_hash', '=', codeHash)
    .where('expires_at', '>', now)
    .where('account_key', 'is', null)
    .executeTakeFirst();
}

/**
 * @param allowedBy the passkey that allowed it; `null` denies it
 * @returns what it decided on; `undefined` where there is nothing to decide: of concurrent decisions the first one counts
 */
export async function decideRequest(
  db: Executor,
  {
    codeHash,
    accountKey,
    allowedBy,
    now,
  }: { codeHash: Buffer; accountKey: string; allowedBy: string | null; now: Date },
): Promise<{ readonly machine: string } | undefined> {
  return await db
    .updateTable('author_requests')
    .set({ account_key: accountKey, allowed: allowedBy !== null, passkey_id: allowedBy })
    .where('code_hash', '=', codeHash)
    .where('expires_at', '>', now)
    .where('account_key', 'is', null)
    .returning('machine')
    .executeTakeFirst();
}

export function findRequest(db: Executor, tokenHash: Buffer, now: Date): Promise<AuthorRequest | undefined> {
  return db
    .selectFrom('author_requests')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Takes a decided request out: of concurrent uses exactly one succeeds. */
export function takeDecided(db: Executor, tokenHash: Buffer, now: Date) {
  return db
    .deleteFrom('author_requests')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .where('account_key', 'is not', null)
    .returning(['account_key', 'allowed', 'machine', 'passkey_id'])
    .executeTakeFirst();
}

/** @returns the name of an account that is not suspended, which stays so until the transaction ends */
export async function lockAccountName(db: Executor, accountKey: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select(['name', 'suspended_at'])
    .where('key', '=', accountKey)
    .forShare()
    .executeTakeFirst();
  return row == null || row.suspended_at !== null ? undefined : row.name;
}

export async function insertToken(db: Executor, token: AuthorToken): Promise<void> {
  await db.insertInto('author_tokens').values(token).execute();
}

export function tokensOf(db: Executor, accountKey: string, now: Date): Promise<AuthorToken[]> {
  return db
    .selectFrom('author_tokens')
    .selectAll()
    .where('account_key', '=', accountKey)
    .where('expires_at', '>', now)
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export function deleteToken(db: Executor, accountKey: string, id: string): Promise<EndedToken | undefined> {
  return db
    .deleteFrom('author_tokens')
    .where('account_key', '=', accountKey)
    .where('id', '=', id)
    .returning(['id', 'account_key'])
    .executeTakeFirst();
}

/** Ends those that a passkey allowed, and what it allowed that was not collected yet. */
export async function deleteTokensOfPasskey(
  db: Executor,
  { accountKey, passkeyId }: { accountKey: string; passkeyId: string },
): Promise<EndedToken[]> {
  await db
    .deleteFrom('author_requests')
    .where('account_key', '=', accountKey)
    .where('passkey_id', '=', passkeyId)
    .execute();
  return db
    .deleteFrom('author_tokens')
    .where('account_key', '=', accountKey)
    .where('passkey_id', '=', passkeyId)
    .returning(['id', 'account_key'])
    .execute();
}

/** Ends expired ones of the account, and all but the most recently used. */
export async function deleteTokensBeyond(
  db: Executor,
  { accountKey, kept, proven }: { accountKey: string; kept: number; proven: ProvenTime },
): Promise<EndedToken[]> {
  return db
    .deleteFrom('author_tokens')
    .where('account_key', '=', accountKey)
    .where((either) =>
      either.or([
        either('expires_at', '<=', proven),
        either('id', 'in', (query) =>
          query
            .selectFrom('author_tokens')
            .select('id')
            .where('account_key', '=', accountKey)
            .orderBy('last_used_at', 'desc')
            .orderBy('id', 'desc')
            .offset(kept),
        ),
      ]),
    )
    .returning(['id', 'account_key'])
    .execute();
}

export type FoundToken = Pick<AuthorToken, 'id' | 'account_key' | 'machine' | 'expires_at'> & { readonly name: string };

const FIND_TOKEN = `
  WITH used AS (
    UPDATE author_tokens SET last_used_at = $2::timestamptz
    WHERE token_hash = $1 AND expires_at > $2::timestamptz AND last_used_at <= $2::timestamptz - interval '1 minute'
  )
  SELECT t.id, t.account_key, t.machine, t.expires_at, a.name
  FROM author_tokens t JOIN accounts a ON a.key = t.account_key
  WHERE t.token_hash = $1 AND a.suspended_at IS NULL AND a.deletion_requested_at IS NULL`;

/** One prepared statement, which also stores the time of use at most once a minute. */
export async function findToken(pool: pg.Pool, tokenHash: Buffer, now: Date): Promise<FoundToken | undefined> {
  const { rows } = await pool.query<FoundToken>({
    name: 'find-author-token',
    text: FIND_TOKEN,
    values: [tokenHash, now],
  });
  return rows[0];
}
