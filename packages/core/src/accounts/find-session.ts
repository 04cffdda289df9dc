// Who a session cookie belongs to: one prepared statement, which also notes the use at most once a minute.
import type { CoreContext } from '../context.ts';
import type { SessionCaller } from '../http/caller.ts';

interface Row {
  readonly id: string;
  readonly account_key: string;
  readonly name: string;
  readonly account_created_at: Date;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const FIND_SESSION = `
  WITH used AS (
    UPDATE sessions SET last_used_at = $2::timestamptz
    WHERE token_hash = $1 AND expires_at > $2::timestamptz AND last_used_at <= $2::timestamptz - interval '1 minute'
  )
  SELECT sessions.id, sessions.account_key, accounts.name, accounts.created_at AS account_created_at,
         sessions.created_at, sessions.expires_at
  FROM sessions JOIN accounts ON accounts.key = sessions.account_key
  WHERE sessions.token_hash = $1 AND accounts.suspended_at IS NULL`;

/**
 * @param tokenHash SHA-256 of the cookie's value
 * @returns `null` for an unknown or ended session and for one of a suspended account
 */
export async function findSession(
  { pool, clock }: Pick<CoreContext, 'pool' | 'clock'>,
  tokenHash: Buffer,
): Promise<SessionCaller | 'expired' | null> {
  const now = clock();
  const { rows } = await pool.query<Row>({ name: 'find-session', text: FIND_SESSION, values: [tokenHash, now] });
  const [row] = rows;
  if (row === undefined) return null;
  if (row.expires_at <= now) return 'expired';
  return {
    kind: 'session',
    sessionId: row.id,
    accountKey: row.account_key,
    accountName: row.name,
    accountCreatedAt: row.account_created_at,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
