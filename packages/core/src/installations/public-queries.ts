// All SQL of the internet address of one app, for its owner.
import type { InstallationId } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

export interface PublicFacts {
  /** Of its hostname; `null` for an app without public routes. */
  readonly label: string | null;
  /** Its account is paused or suspended. */
  readonly halted: boolean;
}

export async function selectPublicFacts(db: Executor, id: InstallationId): Promise<PublicFacts> {
  const { rows } = await sql<PublicFacts>`
    SELECT n.label, a.paused_at IS NOT NULL OR a.suspended_at IS NOT NULL AS halted
      FROM installations i
      JOIN account_states a ON a.key = i.account_key
      LEFT JOIN public_labels n ON n.installation_id = i.id AND n.generation = i.generation
     WHERE i.id = ${id}`.execute(db);
  return rows[0] ?? { label: null, halted: false };
}

/** What was counted on a day, by outcome: `passed`, or the error code of a refusal. */
export async function selectPublicRequests(
  db: Executor,
  id: InstallationId,
  day: string,
): Promise<{ readonly outcome: string; readonly count: number }[]> {
  const { rows } = await sql<{ outcome: string; count: number }>`
    SELECT outcome, least(count, ${Number.MAX_SAFE_INTEGER})::float8 AS count FROM counted_requests
     WHERE installation_id = ${id} AND day = ${day}::date`.execute(db);
  return rows;
}
