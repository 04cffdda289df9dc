// All SQL of work leases.

import type { InstallationId, WorkLeaseId } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

/**
 * Locks an installation, which serialises the creation of its leases. Returns whether one may be created: not for a
 * removed app, or a paused or suspended account.
 */
export async function lockForLease(trx: Executor, installationId: InstallationId): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM installed_apps i JOIN account_states a ON a.key = i.account_key AND a.paused_at IS NULL AND a.suspended_at IS NULL
     WHERE i.id = ${installationId}
       FOR NO KEY UPDATE OF i FOR SHARE OF a`.execute(trx);
  return rows.length > 0;
}

/** Number of active leases of the installation, and when the first of them ends. */
export async function runningLeases(
  db: Executor,
  installationId: InstallationId,
  now: Date,
): Promise<{ readonly count: number; readonly firstEnd: Date | null }> {
  const { rows } = await sql<{ count: number; first_end: Date | null }>`
    SELECT count(*)::int AS count, min(expires_at) AS first_end FROM work_leases
     WHERE installation_id = ${installationId} AND expires_at > ${now}`.execute(db);
  return { count: rows[0]?.count ?? 0, firstEnd: rows[0]?.first_end ?? null };
}

/** Stores a lease, and deletes expired ones of the installation, so that their number stays bounded. */
export async function insertLease(
  trx: Executor,
  lease: {
    readonly id: WorkLeaseId;
    readonly installationId: InstallationId;
    readonly durationSeconds: number;
    readonly reason: string | null;
    readonly proven: ProvenTime;
    readonly expiresAt: Date;
  },
): Promise<void> {
  const { id, installationId, durationSeconds, reason, proven, expiresAt } = lease;
  await trx
    .deleteFrom('work_leases')
    .where('installation_id', '=', installationId)
    .where('expires_at', '<=', proven)
    .execute();
  await trx
    .insertInto('work_leases')
    .values({
      id,
      installation_id: installationId,
      duration_seconds: durationSeconds,
      reason,
      expires_at: expiresAt,
    })
    .execute();
}

/** Renews an active lease of this installation from now on. `undefined` when it has no active lease with this id. */
export async function extendLease(
  db: Executor,
  lease: {
    readonly id: WorkLeaseId;
    readonly installationId: InstallationId;
    readonly durationSeconds: number | null;
    readonly now: Date;
  },
): Promise<Date | undefined> {
  const { id, installationId, durationSeconds, now } = lease;
  const { rows } = await sql<{ expires_at: Date }>`
    UPDATE work_leases
       SET duration_seconds = COALESCE(${durationSeconds}::int, duration_seconds),
           expires_at = ${now}::timestamptz
                        + make_interval(secs => COALESCE(${durationSeconds}::int, duration_seconds))
     WHERE id = ${id} AND installation_id = ${installationId} AND expires_at > ${now}
    RETURNING expires_at`.execute(db);
  return rows[0]?.expires_at;
}

/** Ends a lease. Returns whether there was an active lease with this id. */
export async function deleteLease(
  db: Executor,
  lease: { readonly id: WorkLeaseId; readonly installationId: InstallationId; readonly now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    DELETE FROM work_leases
     WHERE id = ${lease.id} AND installation_id = ${lease.installationId} AND expires_at > ${lease.now}
    RETURNING id`.execute(db);
  return rows.length > 0;
}

/** When the last lease of an installation ends or ended; `undefined` when none is known. */
export async function lastLeaseEnd(db: Executor, installationId: InstallationId): Promise<Date | undefined> {
  const row = await db
    .selectFrom('work_leases')
    .select('expires_at')
    .where('installation_id', '=', installationId)
    .orderBy('expires_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.expires_at;
}

/** Deletes all work leases of an installation. */
export async function deleteLeases(db: Executor, installationId: InstallationId): Promise<void> {
  await db.deleteFrom('work_leases').where('installation_id', '=', installationId).execute();
}

/** Deletes all work leases of an account's installations. */
export async function deleteLeasesOfAccount(db: Executor, accountKey: string): Promise<void> {
  await sql`
    DELETE FROM work_leases l USING kept_installations i
     WHERE i.id = l.installation_id AND i.account_key = ${accountKey}`.execute(db);
}

/** Leases of all installations that have not ended. */
export async function countLeases(db: Executor, now: Date): Promise<number> {
  const { leases } = await db
    .selectFrom('work_leases')
    .select(({ fn }) => fn.countAll<string>().as('leases'))
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(leases);
}
