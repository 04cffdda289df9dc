// All SQL of what the platform offers an account, besides that of the domains that have it.
import type { Executor } from '../database/schema.ts';

interface AccountRow {
  readonly plan: 'free' | 'paid' | null;
  readonly paused: boolean;
}

export async function selectAccount(db: Executor, accountKey: string): Promise<AccountRow> {
  const row = await db
    .selectFrom('account_states')
    .select(['plan', 'paused_at', 'suspended_at'])
    .where('key', '=', accountKey)
    .executeTakeFirstOrThrow();
  return { plan: row.plan, paused: row.paused_at !== null || row.suspended_at !== null };
}

/** Whether any Ingress answers the internet for apps. */
export async function hasIngress(db: Executor): Promise<boolean> {
  const row = await db.selectFrom('known_ingresses').select('id').limit(1).executeTakeFirst();
  return row !== undefined;
}
