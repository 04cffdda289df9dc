// All SQL of the account that was named at the console to look after the platform.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

export interface NamedMaster {
  readonly key: string;
  readonly name: string;
}

/** `undefined` where none was named. */
export function selectNamedMaster(db: Executor): Promise<NamedMaster | undefined> {
  return db.selectFrom('accounts').select(['key', 'name']).where('named_master_at', 'is not', null).executeTakeFirst();
}

/**
 * Names the account, unless one is named. Of two at a time the second one waits for the first. The guide that the account may
 * have put away is shown again.
 *
 * @returns the one that was named before, and stays it; `undefined` where this one is named now
 */
export async function markMaster(trx: Executor, accountKey: string, now: Date): Promise<NamedMaster | undefined> {
  // While nobody is named, there is no row to lock.
  await sql`SELECT pg_advisory_xact_lock(4263)`.execute(trx);
  const named = await selectNamedMaster(trx);
  if (named !== undefined) return named;
  await trx
    .updateTable('accounts')
    .set({ named_master_at: now, guide_dismissed_at: null })
    .where('key', '=', accountKey)
    .execute();
  return undefined;
}

/** @returns the one that was named; `undefined` where none was */
export function unmarkMaster(trx: Executor): Promise<NamedMaster | undefined> {
  return trx
    .updateTable('accounts')
    .set({ named_master_at: null })
    .where('named_master_at', 'is not', null)
    .returning(['key', 'name'])
    .executeTakeFirst();
}

/** Whether the account put the guide away, and whether no account is older. */
export async function selectGuideState(
  db: Executor,
  accountKey: string,
): Promise<{ readonly dismissed: boolean; readonly first: boolean }> {
  const { guide_dismissed_at } = await db
    .selectFrom('accounts')
    .select('guide_dismissed_at')
    .where('key', '=', accountKey)
    .executeTakeFirstOrThrow();
  const oldest = await db
    .selectFrom('accounts')
    .select('key')
    .orderBy('created_at')
    .orderBy('key')
    .limit(1)
    .executeTakeFirst();
  return { dismissed: guide_dismissed_at !== null, first: oldest?.key === accountKey };
}

export async function updateGuideDismissed(db: Executor, accountKey: string, now: Date): Promise<void> {
  await db.updateTable('accounts').set({ guide_dismissed_at: now }).where('key', '=', accountKey).execute();
}
