// The SQL of confirmations that were used.
import { sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { Executor } from './queries.ts';

/** Rows that one insert deletes at most: more than it adds, so expired ones do not accumulate. */
const CLEARED_AT_ONCE = 20;

/** Remembers a use and clears expired ones in the same statement. @returns whether it is the first use */
export async function insertUsedConfirmation(
  executor: Executor,
  use: { readonly hash: Buffer; readonly expires_at: Date },
  proven: ProvenTime,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    WITH cleared AS (
      DELETE FROM used_confirmations WHERE hash IN (
        SELECT hash FROM used_confirmations WHERE expires_at <= ${proven} AND hash <> ${use.hash}
         ORDER BY expires_at LIMIT ${CLEARED_AT_ONCE} FOR UPDATE SKIP LOCKED))
    INSERT INTO used_confirmations (hash, expires_at) VALUES (${use.hash}, ${use.expires_at})
    ON CONFLICT (hash) DO NOTHING`.execute(executor);
  return numAffectedRows > 0n;
}
