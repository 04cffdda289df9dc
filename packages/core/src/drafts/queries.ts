// All SQL of apps that apps made.
import type { DraftId, InstallationId, Manifest } from '@platform/contract';
import { type Insertable, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

/** Serialises what makes apps an account's own. */
export async function lockMade(trx: Executor, accountKey: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${accountKey}, 4233))`.execute(trx);
}

/** Serialises what hands in apps for an account. */
export async function lockDrafts(trx: Executor, accountKey: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${accountKey}, 4232))`.execute(trx);
}

/** A draft without its package. */
export interface DraftRow {
  readonly id: DraftId;
  readonly installation_id: InstallationId;
  readonly app_id: string;
  readonly version: string;
  readonly hash: string;
  readonly manifest: Manifest;
  readonly created_at: Date;
  readonly expires_at: Date;
  /** The app that made it. */
  readonly made_by: string;
  /** The version of the app that is installed. */
  readonly installed: string | null;
}

function drafts(db: Executor, accountKey: string, now: Date) {
  return db
    .selectFrom('app_drafts')
    .innerJoin('installed_apps as maker', 'maker.id', 'app_drafts.installation_id')
    .leftJoin('installed_apps as present', (join) =>
      join
        .onRef('present.account_key', '=', 'app_drafts.account_key')
        .onRef('present.app_id', '=', 'app_drafts.app_id'),
    )
    .select([
      'app_drafts.id',
      'app_drafts.installation_id',
      'app_drafts.app_id',
      'app_drafts.version',
      'app_drafts.hash',
      'app_drafts.manifest',
      'app_drafts.created_at',
      'app_drafts.expires_at',
      'maker.app_id as made_by',
      'present.version as installed',
    ])
    .where('app_drafts.account_key', '=', accountKey)
    .where('app_drafts.expires_at', '>', now);
}

/** Newest first, after the one of this id. */
export function selectDrafts(
  db: Executor,
  accountKey: string,
  { now, before, limit }: { readonly now: Date; readonly before: DraftId | null; readonly limit: number },
): Promise<DraftRow[]> {
  return drafts(db, accountKey, now)
    .$if(before !== null, (query) => query.where('app_drafts.id', '<', before as DraftId))
    .orderBy('app_drafts.id', 'desc')
    .limit(limit)
    .execute();
}

export interface OwnDraft {
  readonly accountKey: string;
  readonly id: DraftId;
  readonly now: Date;
}

export function selectDraft(db: Executor, { accountKey, id, now }: OwnDraft): Promise<DraftRow | undefined> {
  return drafts(db, accountKey, now).where('app_drafts.id', '=', id).executeTakeFirst();
}

export async function selectPackage(db: Executor, id: DraftId): Promise<Buffer | undefined> {
  const row = await db.selectFrom('app_drafts').select('package').where('id', '=', id).executeTakeFirst();
  return row?.package;
}

export interface Waiting {
  readonly drafts: number;
  readonly bytes: number;
  /** Of them, those of one installation. */
  readonly ofInstallation: number;
  readonly bytesOfInstallation: number;
}

/** What waits for the person, also what expired and was not swept yet: it takes room. */
export async function countWaiting(db: Executor, accountKey: string, installationId: InstallationId): Promise<Waiting> {
  const { rows } = await sql<Waiting>`
    SELECT count(*)::integer AS drafts, coalesce(sum(bytes), 0)::float8 AS bytes,
           count(*) FILTER (WHERE installation_id = ${installationId})::integer AS "ofInstallation",
           coalesce(sum(bytes) FILTER (WHERE installation_id = ${installationId}), 0)::float8 AS "bytesOfInstallation"
      FROM app_drafts WHERE account_key = ${accountKey}`.execute(db);
  return rows[0] ?? { drafts: 0, bytes: 0, ofInstallation: 0, bytesOfInstallation: 0 };
}

/** Removes what the installation handed in of the app before, unless somebody accepts it just now. */
export async function deleteFormer(
  db: Executor,
  {
    installationId,
    appId,
    now,
  }: { readonly installationId: InstallationId; readonly appId: string; readonly now: Date },
): Promise<void> {
  await db
    .deleteFrom('app_drafts')
    .where('installation_id', '=', installationId)
    .where('app_id', '=', appId)
    .where((is) => is.or([is('deciding_until', 'is', null), is('deciding_until', '<=', now)]))
    .execute();
}

export async function insertDraft(db: Executor, row: Insertable<DatabaseSchema['app_drafts']>): Promise<void> {
  await db.insertInto('app_drafts').values(row).execute();
}

/** @returns whether it is now this decision's: of several at once one is, until `until` */
export async function claimDraft(
  db: Executor,
  { accountKey, id, now }: OwnDraft,
  { hash, until }: { readonly hash: string; readonly until: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('app_drafts')
    .set({ deciding_until: until })
    .where('account_key', '=', accountKey)
    .where('id', '=', id)
    .where('hash', '=', hash)
    .where((is) => is.or([is('deciding_until', 'is', null), is('deciding_until', '<=', now)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Only for the decision that claimed it until then: meanwhile it may be another one's. */
export async function releaseDraft(db: Executor, id: DraftId, until: Date): Promise<void> {
  await db
    .updateTable('app_drafts')
    .set({ deciding_until: null })
    .where('id', '=', id)
    .where('deciding_until', '=', until)
    .execute();
}

/** @returns whether it was there, and nobody accepted it */
export async function deleteUndecided(db: Executor, { accountKey, id, now }: OwnDraft): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('app_drafts')
    .where('account_key', '=', accountKey)
    .where('id', '=', id)
    .where((is) => is.or([is('deciding_until', 'is', null), is('deciding_until', '<=', now)]))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteDraft(db: Executor, id: DraftId): Promise<void> {
  await db.deleteFrom('app_drafts').where('id', '=', id).execute();
}

/** @returns the account that had some */
export async function deleteDraftsOf(db: Executor, installationId: InstallationId): Promise<string | undefined> {
  const deleted = await db
    .deleteFrom('app_drafts')
    .where('installation_id', '=', installationId)
    .returning('account_key')
    .execute();
  return deleted[0]?.account_key;
}

/** What somebody accepts just now stays until that is done. @returns the account of each that was deleted */
export async function deleteExpired(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<string[]> {
  const deleted = await db
    .deleteFrom('app_drafts')
    .where('id', 'in', (query) =>
      query
        .selectFrom('app_drafts')
        .select('id')
        .where('expires_at', '<=', proven)
        .where((is) => is.or([is('deciding_until', 'is', null), is('deciding_until', '<=', proven)]))
        .orderBy('expires_at')
        .limit(atMost)
        .forUpdate()
        .skipLocked(),
    )
    .returning('account_key')
    .execute();
  return deleted.map(({ account_key }) => account_key);
}

/** @returns the app that made this one, if one did */
export async function selectMaker(db: Executor, accountKey: string, appId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('made_apps')
    .select('made_by')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .executeTakeFirst();
  return row?.made_by;
}

/** Those that have a version. */
export async function countMade(db: Executor, accountKey: string): Promise<number> {
  const { count } = await db
    .selectFrom('made_apps')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('account_key', '=', accountKey)
    .where('app_id', 'in', (query) => query.selectFrom('published_versions').select('published_versions.app_id'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertMade(db: Executor, row: Insertable<DatabaseSchema['made_apps']>): Promise<void> {
  await db
    .insertInto('made_apps')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export function selectMade(
  db: Executor,
  accountKey: string,
): Promise<{ readonly app_id: string; readonly made_by: string; readonly created_at: Date }[]> {
  return db
    .selectFrom('made_apps')
    .select(['app_id', 'made_by', 'created_at'])
    .where('account_key', '=', accountKey)
    .orderBy('app_id')
    .execute();
}
