// All SQL of invitations.

import type { Selectable } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { DatabaseSchema } from '../../database/schema.ts';
import type { Executor } from '../queries.ts';

export type InvitationRow = Selectable<DatabaseSchema['invitations']>;

/** Those that have not expired, the newest first. */
export function selectInvitations(db: Executor, now: Date): Promise<Omit<InvitationRow, 'token_hash'>[]> {
  return db
    .selectFrom('invitations')
    .select(['id', 'account_name', 'created_at', 'expires_at'])
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Stores an invitation, and deletes expired ones. @returns false when there are `most` already */
export async function insertInvitation(
  db: Executor,
  invitation: InvitationRow,
  { most, proven }: { readonly most: number; readonly proven: ProvenTime },
): Promise<boolean> {
  await db.deleteFrom('invitations').where('expires_at', '<=', proven).execute();
  const { waiting } = await db
    .selectFrom('invitations')
    .select(({ fn }) => fn.countAll<string>().as('waiting'))
    .executeTakeFirstOrThrow();
  if (Number(waiting) >= most) return false;
  await db.insertInto('invitations').values(invitation).execute();
  return true;
}

/** An invitation that can still be used for this name; nothing changes. */
export async function isInvited(
  db: Executor,
  { tokenHash, name, now }: { readonly tokenHash: Buffer; readonly name: string; readonly now: Date },
): Promise<boolean> {
  const row = await db
    .selectFrom('invitations')
    .select('id')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .where((either) => either.or([either('account_name', 'is', null), either('account_name', '=', name)]))
    .executeTakeFirst();
  return row !== undefined;
}

/** Uses an invitation up: of concurrent uses exactly one gets it. @returns whether this one did */
export async function takeInvitation(
  db: Executor,
  { tokenHash, name, now }: { readonly tokenHash: Buffer; readonly name: string; readonly now: Date },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('invitations')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .where((either) => either.or([either('account_name', 'is', null), either('account_name', '=', name)]))
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** @returns whether there was such an invitation */
export async function deleteInvitation(db: Executor, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('invitations').where('id', '=', id).executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function isAnyAccount(db: Executor): Promise<boolean> {
  return (await db.selectFrom('accounts').select('key').limit(1).executeTakeFirst()) !== undefined;
}

/** Suspended ones included. */
export async function accountNameExists(db: Executor, name: string): Promise<boolean> {
  return (await db.selectFrom('accounts').select('key').where('name', '=', name).executeTakeFirst()) !== undefined;
}
