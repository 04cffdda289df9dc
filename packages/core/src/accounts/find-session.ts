// Who a session cookie belongs to.
import type { CoreContext } from '../context.ts';
import type { SessionCaller } from '../http/caller.ts';
import { deletionOf } from './deletion-grace.ts';
import { findSessionRow, findSessionTokenHash } from './session-queries.ts';

/**
 * @param tokenHash SHA-256 of the cookie's value
 * @returns `null` for an unknown or ended session and for one of a suspended account
 */
export async function findSession(
  { pool, clock }: Pick<CoreContext, 'pool' | 'clock'>,
  tokenHash: Buffer,
): Promise<SessionCaller | 'expired' | null> {
  const now = clock();
  const row = await findSessionRow(pool, tokenHash, now);
  if (row === undefined) return null;
  if (row.expires_at <= now) return 'expired';
  return {
    kind: 'session',
    sessionId: row.id,
    accountKey: row.account_key,
    accountName: row.name,
    accountCreatedAt: row.account_created_at,
    deletesAt: deletionOf(row.deletion_requested_at),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

/** @returns SHA-256 of the token of this session, also of an expired one; `null` for an unknown or ended session */
export async function findSessionToken({ pool }: Pick<CoreContext, 'pool'>, sessionId: string): Promise<Buffer | null> {
  return (await findSessionTokenHash(pool, sessionId)) ?? null;
}
