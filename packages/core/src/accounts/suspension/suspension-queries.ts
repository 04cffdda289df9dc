// All SQL of suspended accounts, and of the operator's list.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../../database/schema.ts';
import { deletionOf } from '../deletion/deletion-grace.ts';

type Executor = Kysely<DatabaseSchema>;

/** An account as the operator sees it. */
export interface AccountRow {
  readonly key: string;
  readonly name: string;
  readonly created_at: Date;
  readonly paused_at: Date | null;
  readonly suspended_at: Date | null;
  /** When it is deleted; `null` unless its owner asked for that. */
  readonly deletes_at: Date | null;
  /** As the operator set it; `null` for the default. */
  readonly plan: 'free' | 'paid' | null;
  /** Open ones. */
  readonly sessions: number;
  /** Of an open session, to the minute; `null` without one. */
  readonly last_used_at: Date | null;
}

/** By name. @param page default: all of them; with `name` those that contain it */
export async function selectAccounts(
  db: Executor,
  now: Date,
  page: { readonly after: string; readonly limit: number; readonly name?: string | undefined } = {
    after: '',
    limit: 2 ** 31 - 1,
  },
): Promise<AccountRow[]> {
  const { rows } = await sql<Omit<AccountRow, 'deletes_at'> & { readonly deletion_requested_at: Date | null }>`
    SELECT a.key, a.name, a.created_at, a.paused_at, a.suspended_at, a.deletion_requested_at, a.plan,
           count(s.id)::integer AS sessions,
           max(s.last_used_at) AS last_used_at
      FROM accounts a LEFT JOIN sessions s ON s.account_key = a.key AND s.expires_at > ${now}
     WHERE a.name > ${page.after} AND position(${page.name ?? ''} in a.name) > 0
     GROUP BY a.key ORDER BY a.name LIMIT ${page.limit}`.execute(db);
  return rows.map(({ deletion_requested_at, ...row }) => ({ ...row, deletes_at: deletionOf(deletion_requested_at) }));
}

/**
 * Suspends the account, or ends its suspension, and locks it. `changed` is false for one that was in that state already.
 *
 * @returns `undefined` when there is no account of that name
 */
export async function updateSuspended(
  db: Executor,
  name: string,
  suspendedAt: Date | null,
): Promise<{ readonly key: string; readonly changed: boolean } | undefined> {
  const account = await db
    .selectFrom('accounts')
    .select(['key', 'suspended_at'])
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if (account === undefined) return undefined;
  const changed = (account.suspended_at === null) !== (suspendedAt === null);
  if (changed)
    await db.updateTable('accounts').set({ suspended_at: suspendedAt }).where('key', '=', account.key).execute();
  return { key: account.key, changed };
}

/** Whether the operator suspended the account; `false` for an unknown one. */
export async function isSuspended(db: Executor, accountKey: string): Promise<boolean> {
  const row = await db.selectFrom('accounts').select('suspended_at').where('key', '=', accountKey).executeTakeFirst();
  return row != null && row.suspended_at !== null;
}

/**
 * Ends what opens the account: its sessions, with their capabilities and push subscriptions, its command
 * lines, and its recovery link.
 *
 * @returns ids of the sessions
 */
export async function deleteSignIns(db: Executor, accountKey: string): Promise<string[]> {
  const ended = await db.deleteFrom('sessions').where('account_key', '=', accountKey).returning('id').execute();
  await db.deleteFrom('author_tokens').where('account_key', '=', accountKey).execute();
  await db.deleteFrom('enrolment_links').where('account_key', '=', accountKey).execute();
  return ended.map(({ id }) => id);
}
