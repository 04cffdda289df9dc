// All SQL of paused accounts.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

/** Pauses or resumes the account. @returns whether that changed its state */
export async function updatePaused(db: Executor, accountKey: string, pausedAt: Date | null): Promise<boolean> {
  const { rows } = await sql`
    UPDATE accounts SET paused_at = ${pausedAt}
     WHERE key = ${accountKey} AND (paused_at IS NULL) <> (${pausedAt}::timestamptz IS NULL)
       AND deletion_requested_at IS NULL
    RETURNING key`.execute(db);
  return rows.length > 0;
}

/** When the account was paused; `null` while it is not. */
export async function selectPausedAt(db: Executor, accountKey: string): Promise<Date | null> {
  const row = await db.selectFrom('accounts').select('paused_at').where('key', '=', accountKey).executeTakeFirst();
  return row?.paused_at ?? null;
}
