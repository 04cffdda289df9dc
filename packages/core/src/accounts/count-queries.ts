// The SQL that counts accounts and sessions, for the operator's inventory.
import type { SystemInventory } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

const DAY = 86_400_000;
const DAYS = 30;

/** Days are periods of 24 hours up to `now`. */
export async function countAccounts(db: Executor, now: Date): Promise<SystemInventory['accounts']> {
  const since = new Date(now.getTime() - DAYS * DAY);
  const totals = await sql<{ total: number; paused: number; suspended: number }>`
    SELECT count(*)::integer AS total, count(paused_at)::integer AS paused, count(suspended_at)::integer AS suspended
      FROM accounts`.execute(db);
  const sessions = await sql<{ sessions: number; active: number }>`
    SELECT count(*)::integer AS sessions,
           (count(DISTINCT account_key) FILTER (WHERE last_used_at > ${since}))::integer AS active
      FROM sessions WHERE expires_at > ${now}`.execute(db);
  const days = await sql<{ day: number; accounts: number }>`
    SELECT floor(extract(epoch FROM ${now}::timestamptz - created_at) / 86400)::integer AS day,
           count(*)::integer AS accounts
      FROM accounts WHERE created_at > ${since} AND created_at <= ${now} GROUP BY day`.execute(db);
  const registered = Array.from({ length: DAYS }, () => 0);
  for (const { day, accounts } of days.rows) registered[DAYS - 1 - day] = accounts;
  return {
    ...(totals.rows[0] ?? { total: 0, paused: 0, suspended: 0 }),
    ...(sessions.rows[0] ?? { sessions: 0, active: 0 }),
    registered,
  };
}
