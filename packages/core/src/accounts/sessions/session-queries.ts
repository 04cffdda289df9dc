// The SQL of sessions and enrolment links.

import type { Selectable } from 'kysely';
import type pg from 'pg';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { DatabaseSchema } from '../../database/schema.ts';
import type { Executor } from '../queries.ts';

export type Session = Selectable<DatabaseSchema['sessions']>;
/** The payload of the `session-ended` signal. */
export type EndedSession = Pick<Session, 'id' | 'account_key'>;

const CLEARED_AT_ONCE = 20;

/** Stores a session. The token is stored as its SHA-256 only. */
export async function insertSession(executor: Executor, session: Session): Promise<void> {
  await executor.insertInto('sessions').values(session).execute();
}

/** The sessions of an account that have not expired, most recently used first. */
export function sessionsOf(executor: Executor, accountKey: string, now: Date): Promise<Session[]> {
  return executor
    .selectFrom('sessions')
    .selectAll()
    .where('account_key', '=', accountKey)
    .where('expires_at', '>', now)
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Deletes a session of the account. @returns it, or `undefined` when the account has no such session */
export function deleteSession(executor: Executor, accountKey: string, id: string): Promise<EndedSession | undefined> {
  return executor
    .deleteFrom('sessions')
    .where('account_key', '=', accountKey)
    .where('id', '=', id)
    .returning(['id', 'account_key'])
    .executeTakeFirst();
}

/** Locks a session against deletion until the transaction ends. @returns whether it exists and has not expired */
export async function holdSession(
  executor: Executor,
  { sessionId, now }: { readonly sessionId: string; readonly now: Date },
): Promise<boolean> {
  const row = await executor
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('expires_at', '>', now)
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** When the session registered its account; `null` for one that did not. */
export async function registrationOf(executor: Executor, sessionId: string): Promise<Date | null> {
  const row = await executor
    .selectFrom('sessions')
    .select('created_at')
    .where('id', '=', sessionId)
    .where('registered', '=', true)
    .executeTakeFirst();
  return row?.created_at ?? null;
}

/** Deletes the session with this token hash. @returns it, or `undefined` when there is none */
export function deleteSessionByToken(executor: Executor, tokenHash: Buffer): Promise<EndedSession | undefined> {
  return executor
    .deleteFrom('sessions')
    .where('token_hash', '=', tokenHash)
    .returning(['id', 'account_key'])
    .executeTakeFirst();
}

/** Deletes the sessions that a passkey opened, except the caller's own. @returns those that were deleted */
export function deleteSessionsOfPasskey(
  executor: Executor,
  { accountKey, passkeyId, exceptSessionId }: { accountKey: string; passkeyId: string; exceptSessionId: string },
): Promise<EndedSession[]> {
  return executor
    .deleteFrom('sessions')
    .where('account_key', '=', accountKey)
    .where('passkey_id', '=', passkeyId)
    .where('id', '!=', exceptSessionId)
    .returning(['id', 'account_key'])
    .execute();
}

/** Ends all but the most recently used sessions of an account. */
export function deleteSessionsBeyond(executor: Executor, accountKey: string, kept: number): Promise<EndedSession[]> {
  return executor
    .deleteFrom('sessions')
    .where('id', 'in', (query) =>
      query
        .selectFrom('sessions')
        .select('id')
        .where('account_key', '=', accountKey)
        .orderBy('last_used_at', 'desc')
        .orderBy('id', 'desc')
        .offset(kept)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'account_key'])
    .execute();
}

/** Ends all other sessions of an account. @returns those that were deleted */
export function deleteOtherSessions(executor: Executor, accountKey: string, keptId: string): Promise<EndedSession[]> {
  return executor
    .deleteFrom('sessions')
    .where('account_key', '=', accountKey)
    .where('id', '!=', keptId)
    .returning(['id', 'account_key'])
    .execute();
}

/** Deletes some sessions that expired before `before`; each sign-in deletes more than it adds. */
export async function clearExpiredSessions(executor: Executor, before: ProvenTime): Promise<void> {
  await executor
    .deleteFrom('sessions')
    .where('id', 'in', (query) =>
      query
        .selectFrom('sessions')
        .select('id')
        .where('expires_at', '<', before)
        .orderBy('expires_at')
        .limit(CLEARED_AT_ONCE)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
}

/** Stores the account's only enrolment link in place of the former, and deletes expired ones of all accounts. */
export async function replaceEnrolmentLink(
  executor: Executor,
  link: { token_hash: Buffer; account_key: string; expires_at: Date },
  proven: ProvenTime,
): Promise<void> {
  await executor
    .deleteFrom('enrolment_links')
    .where((either) => either.or([either('account_key', '=', link.account_key), either('expires_at', '<=', proven)]))
    .execute();
  await executor.insertInto('enrolment_links').values(link).execute();
}

/** The account of a valid link, or `undefined`. */
export function findEnrolment(executor: Executor, tokenHash: Buffer, now: Date) {
  return executor
    .selectFrom('enrolment_links')
    .innerJoin('accounts', 'accounts.key', 'enrolment_links.account_key')
    .select(['accounts.key', 'accounts.name'])
    .where('enrolment_links.token_hash', '=', tokenHash)
    .where('enrolment_links.expires_at', '>', now)
    .where('accounts.suspended_at', 'is', null)
    .executeTakeFirst();
}

/** Consumes a link: of concurrent uses exactly one succeeds. */
export async function takeEnrolmentLink(
  executor: Executor,
  { tokenHash, accountKey, now }: { tokenHash: Buffer; accountKey: string; now: Date },
): Promise<boolean> {
  const { numDeletedRows } = await executor
    .deleteFrom('enrolment_links')
    .where('token_hash', '=', tokenHash)
    .where('account_key', '=', accountKey)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

export interface SessionRow {
  readonly id: string;
  readonly account_key: string;
  readonly name: string;
  readonly account_created_at: Date;
  readonly deletion_requested_at: Date | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const FIND_SESSION = `
  WITH used AS (
    UPDATE sessions SET last_used_at = $2::timestamptz
    WHERE token_hash = $1 AND expires_at > $2::timestamptz AND last_used_at <= $2::timestamptz - interval '1 minute'
  )
  SELECT sessions.id, sessions.account_key, accounts.name, accounts.created_at AS account_created_at,
         accounts.deletion_requested_at,
         sessions.created_at, sessions.expires_at
  FROM sessions JOIN accounts ON accounts.key = sessions.account_key
  WHERE sessions.token_hash = $1 AND accounts.suspended_at IS NULL`;

/** The session of a token: one prepared statement, which also stores the time of use at most once a minute. */
export async function findSessionRow(pool: pg.Pool, tokenHash: Buffer, now: Date): Promise<SessionRow | undefined> {
  const query = { name: 'find-session', text: FIND_SESSION, values: [tokenHash, now] };
  const { rows } = await pool.query<SessionRow>(query);
  return rows[0];
}

/** By primary key: asked only when a browser sends several session cookies, or one that is not its own. */
export async function findSessionTokenHash(pool: pg.Pool, id: string): Promise<Buffer | undefined> {
  const query = { name: 'find-session-token', text: 'SELECT token_hash FROM sessions WHERE id = $1', values: [id] };
  const { rows } = await pool.query<{ token_hash: Buffer }>(query);
  return rows[0]?.token_hash;
}
