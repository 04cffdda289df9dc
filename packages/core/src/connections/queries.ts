// The SQL of connections. What ends is returned, so that it can be announced in the same transaction.
import { type Selectable, sql } from 'kysely';
import type pg from 'pg';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type ConnectionRow = Selectable<DatabaseSchema['connections']>;
export type EndedConnection = Pick<ConnectionRow, 'id' | 'account_key'>;

const ENDED = ['id', 'account_key'] as const;

export async function insertConnection(db: Executor, connection: Omit<ConnectionRow, 'last_used_at'>): Promise<void> {
  await db.insertInto('connections').values(connection).execute();
}

/** The connection; `undefined` while its account is suspended or about to be deleted. */
export function findConnection(db: Executor, id: string): Promise<ConnectionRow | undefined> {
  return db
    .selectFrom('connections')
    .innerJoin('account_states', 'account_states.key', 'connections.account_key')
    .selectAll('connections')
    .where('connections.id', '=', id)
    .where('account_states.suspended_at', 'is', null)
    .where('account_states.deletion_requested_at', 'is', null)
    .executeTakeFirst();
}

/** Those that can still be used, newest first. */
export function connectionsOf(db: Executor, accountKey: string, now: Date): Promise<ConnectionRow[]> {
  return db
    .selectFrom('connections')
    .selectAll()
    .where('account_key', '=', accountKey)
    .where((expression) =>
      expression.exists(
        expression
          .selectFrom('connection_tokens')
          .select('token_hash')
          .whereRef('connection_tokens.connection_id', '=', 'connections.id')
          .where('connection_tokens.used_at', 'is', null)
          .where('connection_tokens.expires_at', '>', now),
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export function deleteConnection(
  db: Executor,
  id: string,
  accountKey?: string | undefined,
): Promise<EndedConnection | undefined> {
  return db
    .deleteFrom('connections')
    .where('id', '=', id)
    .$if(accountKey !== undefined, (query) => query.where('account_key', '=', accountKey ?? ''))
    .returning(ENDED)
    .executeTakeFirst();
}

export function deleteConnectionsOf(db: Executor, accountKey: string): Promise<EndedConnection[]> {
  return db.deleteFrom('connections').where('account_key', '=', accountKey).returning(ENDED).execute();
}

export function deleteConnectionsOfPasskey(
  db: Executor,
  { accountKey, passkeyId }: { readonly accountKey: string; readonly passkeyId: string },
): Promise<EndedConnection[]> {
  return db
    .deleteFrom('connections')
    .where('account_key', '=', accountKey)
    .where('passkey_id', '=', passkeyId)
    .returning(ENDED)
    .execute();
}

/** All but the most recently used. */
export function deleteConnectionsBeyond(
  db: Executor,
  { accountKey, kept }: { readonly accountKey: string; readonly kept: number },
): Promise<EndedConnection[]> {
  return db
    .deleteFrom('connections')
    .where('id', 'in', (query) =>
      query
        .selectFrom('connections')
        .select('id')
        .where('account_key', '=', accountKey)
        .orderBy(sql`coalesce(last_used_at, created_at)`, 'desc')
        .orderBy('id', 'desc')
        .offset(kept),
    )
    .returning(ENDED)
    .execute();
}

/** Those of which no token can be used any more, longest without first. */
export function deleteUnusable(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<EndedConnection[]> {
  return db
    .deleteFrom('connections')
    .where('id', 'in', (query) =>
      query
        .selectFrom('connections')
        .select('id')
        .where((expression) =>
          expression.not(
            expression.exists(
              expression
                .selectFrom('connection_tokens')
                .select('token_hash')
                .whereRef('connection_tokens.connection_id', '=', 'connections.id')
                .where('connection_tokens.used_at', 'is', null)
                .where('connection_tokens.expires_at', '>', proven),
            ),
          ),
        )
        // Allowed a moment ago: its code is about to be made.
        .where('created_at', '<', sql<Date>`${proven}::timestamptz - interval '10 minutes'`)
        .orderBy('created_at')
        .limit(atMost)
        .forUpdate()
        .skipLocked(),
    )
    .returning(ENDED)
    .execute();
}

export interface FoundConnection
  extends Pick<ConnectionRow, 'id' | 'account_key' | 'client_name' | 'client_host' | 'client_origin' | 'app_id'> {
  readonly account_name: string;
  /** Of the token: no more than the connection's. */
  readonly scope: string;
  readonly expires_at: Date;
  readonly paused: boolean;
}

const FIND = `
  WITH used AS (
    UPDATE connections SET last_used_at = $2::timestamptz
    WHERE id = (
      SELECT connection_id FROM connection_tokens
      WHERE token_hash = $1 AND kind = 'access' AND expires_at > $2::timestamptz
    ) AND (last_used_at IS NULL OR last_used_at <= $2::timestamptz - interval '1 minute')
  )
  SELECT c.id, c.account_key, c.client_name, c.client_host, c.client_origin, c.app_id, a.name AS account_name,
    t.payload->>'scope' AS scope, t.expires_at, a.paused_at IS NOT NULL AS paused
  FROM connection_tokens t
    JOIN connections c ON c.id = t.connection_id
    JOIN account_states a ON a.key = c.account_key
  WHERE t.token_hash = $1 AND t.kind = 'access' AND a.suspended_at IS NULL AND a.deletion_requested_at IS NULL`;

/** One prepared statement, which also stores the time of use at most once a minute. */
export async function findByAccessToken(
  pool: pg.Pool,
  tokenHash: Buffer,
  now: Date,
): Promise<FoundConnection | undefined> {
  const { rows } = await pool.query<FoundConnection>({
    name: 'find-connection',
    text: FIND,
    values: [tokenHash, now],
  });
  return rows[0];
}

const FIND_BY_ID = `
  SELECT c.id, c.account_key, c.client_name, c.client_host, c.client_origin, c.app_id, a.name AS account_name,
    array_to_string(c.scopes, ' ') AS scope, $2::timestamptz AS expires_at, a.paused_at IS NOT NULL AS paused
  FROM connections c
    JOIN account_states a ON a.key = c.account_key
  WHERE c.id = $1 AND a.suspended_at IS NULL AND a.deletion_requested_at IS NULL`;

/** With all that was allowed. It is used for this moment alone, so it expires `now`. */
export async function findById(pool: pg.Pool, id: string, now: Date): Promise<FoundConnection | undefined> {
  const { rows } = await pool.query<FoundConnection>({
    name: 'find-connection-by-id',
    text: FIND_BY_ID,
    values: [id, now],
  });
  return rows[0];
}

export async function accountIsSuspended(db: Executor, accountKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('account_states')
    .select('suspended_at')
    .where('key', '=', accountKey)
    .executeTakeFirst();
  return row !== undefined && row.suspended_at !== null;
}
