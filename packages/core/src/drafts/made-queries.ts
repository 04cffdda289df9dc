// All SQL of what apps that make apps see of those.
import type { DraftId, InstallationId } from '@platform/contract';
import { type Insertable, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export interface MadeVersion {
  readonly appId: string;
  readonly version: string;
}

/** What this installation handed in of the app and waits for its person. */
export function selectDraftOf(
  db: Executor,
  {
    accountKey,
    installationId,
    appId,
    now,
  }: {
    readonly accountKey: string;
    readonly installationId: InstallationId;
    readonly appId: string;
    readonly now: Date;
  },
): Promise<{ readonly id: DraftId; readonly version: string } | undefined> {
  return db
    .selectFrom('app_drafts')
    .select(['id', 'version'])
    .where('account_key', '=', accountKey)
    .where('installation_id', '=', installationId)
    .where('app_id', '=', appId)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

export async function insertMadeVersion(db: Executor, row: Insertable<DatabaseSchema['made_versions']>): Promise<void> {
  await db
    .insertInto('made_versions')
    .values(row)
    // Of the same number as one that was deleted since.
    .onConflict((conflict) => conflict.columns(['account_key', 'app_id', 'version']).doUpdateSet({ hash: row.hash }))
    .execute();
}

/** @returns the hash of its package; `undefined` for a version that no app made */
export async function selectMadeVersion(
  db: Executor,
  accountKey: string,
  { appId, version }: MadeVersion,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('made_versions')
    .select('hash')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.hash;
}

export interface KeptError {
  readonly report: string;
  readonly version: string;
  readonly times: number;
  readonly last_at: Date;
}

/** Counted where it was there before. */
export async function upsertError(
  db: Executor,
  row: Omit<Insertable<DatabaseSchema['app_page_errors']>, 'times'>,
): Promise<void> {
  await sql`
    INSERT INTO app_page_errors (installation_id, digest, version, report, times, last_at)
    VALUES (${row.installation_id}, ${row.digest}, ${row.version}, ${row.report}, 1, ${row.last_at})
    ON CONFLICT (installation_id, digest) DO UPDATE
      SET times = LEAST(app_page_errors.times, 2147483646) + 1, last_at = EXCLUDED.last_at`.execute(db);
}

/** Those of an account with errors. */
export async function selectMadeInstallations(db: Executor, accountKey: string): Promise<InstallationId[]> {
  const rows = await db
    .selectFrom('kept_installations')
    .select('id')
    .where('account_key', '=', accountKey)
    .where('id', 'in', (query) => query.selectFrom('app_page_errors').select('installation_id'))
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Deletes all errors of these installations but the last ones. What a clock that was ahead left goes first, so that nothing has to wait
 * until then.
 *
 * @param most default: as many as fit
 * @param bytes of their reports in sum
 */
export async function trimErrors(
  db: Executor,
  installationIds: readonly InstallationId[],
  { most = null, bytes, now }: { readonly most?: number | null; readonly bytes: number; readonly now: Date },
): Promise<void> {
  await sql`
    DELETE FROM app_page_errors WHERE (installation_id, digest) IN (
      SELECT installation_id, digest
        FROM (SELECT installation_id, digest, row_number() OVER newest AS place,
                     sum(octet_length(report)) OVER newest AS bytes
                FROM app_page_errors WHERE installation_id = ANY(${[...installationIds]}::text[])
              WINDOW newest AS (ORDER BY last_at > ${now}, last_at DESC, installation_id, digest
                                ROWS UNBOUNDED PRECEDING)) AS each
       WHERE place > ${most}::bigint OR bytes > ${bytes}::bigint)`.execute(db);
}

/** Of versions that apps made, newest first. */
export function selectErrors(
  db: Executor,
  {
    accountKey,
    installationId,
    appId,
    since,
  }: {
    readonly accountKey: string;
    readonly installationId: InstallationId;
    readonly appId: string;
    readonly since: Date;
  },
): Promise<KeptError[]> {
  return db
    .selectFrom('app_page_errors')
    .innerJoin('made_versions', 'made_versions.version', 'app_page_errors.version')
    .select(['app_page_errors.report', 'app_page_errors.version', 'app_page_errors.times', 'app_page_errors.last_at'])
    .where('made_versions.account_key', '=', accountKey)
    .where('made_versions.app_id', '=', appId)
    .where('app_page_errors.installation_id', '=', installationId)
    .where('app_page_errors.last_at', '>', since)
    .orderBy('app_page_errors.last_at', 'desc')
    .orderBy('app_page_errors.digest')
    .execute();
}

/** Of all apps of an account. */
export function selectAllErrors(
  db: Executor,
  accountKey: string,
): Promise<(KeptError & { readonly app_id: string })[]> {
  return db
    .selectFrom('app_page_errors')
    .innerJoin('installed_apps', 'installed_apps.id', 'app_page_errors.installation_id')
    .select([
      'installed_apps.app_id',
      'app_page_errors.report',
      'app_page_errors.version',
      'app_page_errors.times',
      'app_page_errors.last_at',
    ])
    .where('installed_apps.account_key', '=', accountKey)
    .orderBy('app_page_errors.last_at', 'desc')
    .orderBy('app_page_errors.digest')
    .execute();
}

/** @returns how many were deleted */
export async function deleteOldErrors(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('app_page_errors')
    .where(sql<boolean>`(installation_id, digest) IN (
      SELECT installation_id, digest FROM app_page_errors WHERE last_at <= ${proven}
       ORDER BY last_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)`)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export interface PreviewRow {
  readonly draft_id: DraftId;
  readonly hash: string;
  readonly entry: string | null;
}

/** In place of the one before. @returns whether the draft still waits: it may be replaced while this is asked */
export async function upsertPreview(
  db: Executor,
  { draft_id, host_label, app_id, expires_at }: Insertable<DatabaseSchema['app_draft_previews']>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO app_draft_previews (draft_id, host_label, app_id, expires_at)
    SELECT id, ${host_label}, ${app_id}, ${expires_at}::timestamptz FROM app_drafts WHERE id = ${draft_id} FOR KEY SHARE
    ON CONFLICT (draft_id) DO UPDATE SET host_label = EXCLUDED.host_label, expires_at = EXCLUDED.expires_at`.execute(
    db,
  );
  return numAffectedRows === 1n;
}

/** While the draft waits. */
export async function selectPreview(
  db: Executor,
  { hostLabel, appId, now }: { readonly hostLabel: string; readonly appId: string; readonly now: Date },
): Promise<PreviewRow | undefined> {
  const { rows } = await sql<PreviewRow>`
    SELECT p.draft_id, d.hash, d.manifest -> 'frontend' ->> 'entry' AS entry
      FROM app_draft_previews p JOIN app_drafts d ON d.id = p.draft_id
     WHERE p.host_label = ${hostLabel} AND p.app_id = ${appId} AND p.expires_at > ${now} AND d.expires_at > ${now}`.execute(
    db,
  );
  return rows[0];
}
