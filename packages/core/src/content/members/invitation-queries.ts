// All SQL of invitations to collections.
import type { CollectionId, ContentInvitation, ContentInvitationId } from '@platform/contract';
import { type Insertable, sql } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

export interface InvitationRow {
  readonly id: ContentInvitationId;
  readonly collection_id: CollectionId;
  readonly kind: string;
  readonly name: string;
  readonly space_id: string;
  readonly role: ContentInvitation['role'];
  readonly invited_by: string;
  /** The name of that account. */
  readonly from: string;
  readonly app_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly answer: DatabaseSchema['content_invitations']['answer'];
}

const invitations = sql`
  SELECT i.id, i.collection_id, c.kind, c.name, c.space_id, i.role, i.invited_by, a.name AS "from", i.app_id, i.created_at,
         i.expires_at, i.answer
    FROM content_invitations i
    JOIN content_collections c ON c.id = i.collection_id
    JOIN account_states a ON a.key = i.invited_by`;

export async function insertInvitation(
  trx: Executor,
  row: Insertable<DatabaseSchema['content_invitations']>,
): Promise<void> {
  await trx.insertInto('content_invitations').values(row).execute();
}

/** Those that wait for the account, newest first. */
export async function selectWaiting(
  db: Executor,
  accountKey: string,
  { now, before, limit }: { readonly now: Date; readonly before: string | null; readonly limit: number },
): Promise<InvitationRow[]> {
  const { rows } = await sql<InvitationRow>`
    ${invitations}
     WHERE i.account_key = ${accountKey} AND i.answer IS NULL AND i.expires_at > ${now}
       AND (${before}::text IS NULL OR i.id < ${before})
     ORDER BY i.id DESC LIMIT ${limit}`.execute(db);
  return rows;
}

/** Answered or not, for whom it is. */
export async function selectInvitation(
  db: Executor,
  accountKey: string,
  id: ContentInvitationId,
): Promise<InvitationRow | undefined> {
  const { rows } = await sql<InvitationRow>`
    ${invitations} WHERE i.id = ${id} AND i.account_key = ${accountKey}`.execute(db);
  return rows[0];
}

/** @returns whether nobody answered it before */
export async function answerInvitation(
  trx: Executor,
  id: ContentInvitationId,
  answer: 'accepted' | 'declined',
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('content_invitations')
    .set({ answer })
    .where('id', '=', id)
    .where('answer', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Those that wait: of these collections by this account, or of this collection to that account. @returns who was invited */
export async function withdrawInvitations(
  trx: Executor,
  ids: readonly CollectionId[],
  which: { readonly by: string } | { readonly to: string },
): Promise<string[]> {
  const rows = await trx
    .updateTable('content_invitations')
    .set({ answer: 'withdrawn' })
    .where('collection_id', 'in', [...ids])
    .where('by' in which ? 'invited_by' : 'account_key', '=', 'by' in which ? which.by : which.to)
    .where('answer', 'is', null)
    .returning('account_key')
    .execute();
  return rows.map((row) => row.account_key);
}

/** Whether the one invited the other before, as far as is still known. */
export async function invitedBefore(
  db: Executor,
  { by, to }: { readonly by: string; readonly to: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('content_invitations')
    .select('id')
    .where('invited_by', '=', by)
    .where('account_key', '=', to)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Serialises what invites people for an account. */
export async function lockInviting(trx: Executor, accountKey: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${accountKey}, 4241))`.execute(trx);
}

/** Of the invitations of an account that wait: all, and those to one person. */
export async function countSent(
  db: Executor,
  { by, to, now }: { readonly by: string; readonly to: string; readonly now: Date },
): Promise<{ readonly all: number; readonly toOne: number }> {
  const { rows } = await sql<{ all: number; toOne: number }>`
    SELECT count(*)::integer AS all, count(*) FILTER (WHERE account_key = ${to})::integer AS "toOne"
      FROM content_invitations WHERE invited_by = ${by} AND answer IS NULL AND expires_at > ${now}`.execute(db);
  return rows[0] ?? { all: 0, toOne: 0 };
}

/** @returns the account of each that was deleted */
export async function deleteExpired(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<string[]> {
  const { rows } = await sql<{ account_key: string }>`
    DELETE FROM content_invitations
     WHERE id IN (SELECT id FROM content_invitations WHERE expires_at <= ${proven} ORDER BY expires_at LIMIT ${atMost}
                  FOR UPDATE SKIP LOCKED)
    RETURNING account_key`.execute(db);
  return rows.map((row) => row.account_key);
}
