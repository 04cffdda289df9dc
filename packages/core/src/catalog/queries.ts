// All SQL of the catalog.
import type { Manifest } from '@platform/contract';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Database = Kysely<DatabaseSchema>;

/** One published version with the columns that other domains need. */
export interface AppVersion {
  readonly appId: string;
  readonly version: string;
  readonly packageHash: string;
  /** Bytes of the package, in decimal. */
  readonly size: string;
  readonly manifest: Manifest;
  readonly publishedAt: Date;
  /** The highest version of the app. */
  readonly newest: boolean;
  /** Whether it comes with the platform. */
  readonly system: boolean;
  /** Account name of the publisher; `platform` for the apps that come with it. */
  readonly publisher: string;
  /** Key of the publishing account; `null` for system apps and those of a removed account. */
  readonly ownerKey: string | null;
  /** Of the app, as its newest version says; `private` also for a version that says so itself. */
  readonly visibility: NonNullable<Manifest['visibility']>;
}

/** Of a row of `app_versions`. */
const visibility = sql<AppVersion['visibility']>`
  CASE WHEN app_versions.manifest ->> 'visibility' = 'private' THEN 'private'
       ELSE (SELECT coalesce(n.manifest ->> 'visibility', 'public')
               FROM app_versions n WHERE n.app_id = app_versions.app_id AND n.newest) END`;

function selectVersions(database: Database) {
  return database
    .selectFrom('app_versions')
    .innerJoin('apps', 'apps.app_id', 'app_versions.app_id')
    .innerJoin('package_blobs', 'package_blobs.hash', 'app_versions.package_hash')
    .leftJoin('account_states', 'account_states.key', 'apps.owner_key')
    .select((eb) => [
      'app_versions.app_id as appId',
      'app_versions.version',
      'app_versions.package_hash as packageHash',
      'package_blobs.size',
      'app_versions.manifest',
      'app_versions.published_at as publishedAt',
      'app_versions.newest',
      'apps.system',
      'apps.owner_key as ownerKey',
      visibility.as('visibility'),
      eb
        .case()
        .when('apps.system', '=', true)
        .then('platform')
        .else(eb.fn.coalesce('account_states.name', eb.val('a removed account')))
        .end()
        .as('publisher'),
    ]);
}

/** @param version absent takes the newest */
export async function findAppVersion(
  database: Database,
  appId: string,
  version?: string,
): Promise<AppVersion | undefined> {
  const ofApp = selectVersions(database).where('app_versions.app_id', '=', appId);
  return await (version === undefined
    ? ofApp.where('app_versions.newest', '=', true)
    : ofApp.where('app_versions.version', '=', version)
  ).executeTakeFirst();
}

/** The newest version of each of these apps that is published at all. */
export async function findNewestVersions(database: Database, appIds: readonly string[]): Promise<AppVersion[]> {
  if (appIds.length === 0) return [];
  return await selectVersions(database)
    .where('app_versions.newest', '=', true)
    .where('app_versions.app_id', 'in', appIds)
    .execute();
}

/**
 * The newest versions of all public apps, by app id; without those of accounts that are deleted or about to be, and those of
 * the platform's apps that `hidden` lists.
 */
export async function listNewestVersions(
  database: Database,
  page: {
    readonly after: string;
    readonly limit: number;
    readonly hidden: readonly string[];
    /** Sees its own apps whatever their visibility. */
    readonly viewer: string;
  },
): Promise<AppVersion[]> {
  return await selectVersions(database)
    .where('app_versions.newest', '=', true)
    .where(sql<boolean>`(apps.system OR apps.owner_key IS NOT NULL)`)
    .where(sql<boolean>`NOT (apps.system AND apps.app_id = ANY (${[...page.hidden]}))`)
    .where(
      sql<boolean>`(coalesce(app_versions.manifest ->> 'visibility', 'public') = 'public'
                     AND account_states.deletion_requested_at IS NULL OR apps.owner_key = ${page.viewer})`,
    )
    .where('app_versions.app_id', '>', page.after)
    .orderBy('app_versions.app_id')
    .limit(page.limit)
    .execute();
}

/**
 * The version that an account has installed, and the one it can go back to; both `null` without an installation. Of apps
 * that come with the platform none.
 */
export async function findUsedVersions(
  database: Database,
  accountKey: string,
  appId: string,
): Promise<{ readonly installed: string | null; readonly former: string | null }> {
  const row = await database
    .selectFrom('installed_apps')
    .innerJoin('apps', 'apps.app_id', 'installed_apps.app_id')
    .select(['version as installed', 'former_version as former'])
    .where('installed_apps.account_key', '=', accountKey)
    .where('installed_apps.app_id', '=', appId)
    .where('apps.system', '=', false)
    .executeTakeFirst();
  return row ?? { installed: null, former: null };
}

/** The version that an account has installed, also of an app that comes with the platform. */
export async function findInstalledVersion(
  database: Database,
  accountKey: string,
  appId: string,
): Promise<AppVersion | undefined> {
  const row = await database
    .selectFrom('installed_apps')
    .select('version')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .executeTakeFirst();
  return row === undefined ? undefined : await findAppVersion(database, appId, row.version);
}

export interface PublishedVersion {
  readonly version: string;
  readonly hash: string;
  readonly size: number;
  readonly publishedAt: Date;
}

/**
 * The versions of an app that were published last, the last first; `size` in bytes. Empty for an unknown app.
 *
 * @param among `null` for all, `public` for all that are not private, else those of the list
 */
export async function listLastVersions(
  database: Database,
  appId: string,
  { most, among }: { readonly most: number; readonly among: readonly string[] | 'public' | null },
): Promise<PublishedVersion[]> {
  const rows = await database
    .selectFrom('app_versions')
    .innerJoin('package_blobs', 'package_blobs.hash', 'app_versions.package_hash')
    .select(['version', 'hash', 'size', 'published_at as publishedAt'])
    .where('app_id', '=', appId)
    .$if(among === 'public', (query) => query.where(sql`manifest ->> 'visibility'`, 'is distinct from', 'private'))
    .$if(Array.isArray(among), (query) => query.where('version', 'in', among as string[]))
    .orderBy('published_at', 'desc')
    .limit(most)
    .execute();
  return rows.map((row) => ({ ...row, size: Number(row.size) }));
}

export interface OwnPackage {
  readonly appId: string;
  readonly version: string;
  readonly hash: string;
  /** As uploaded. */
  readonly bytes: number;
}

/** The versions that an account published, by app id and version as text. */
export async function listOwnPackages(
  database: Database,
  accountKey: string,
  page: { readonly after: Pick<OwnPackage, 'appId' | 'version'>; readonly limit: number },
): Promise<OwnPackage[]> {
  const { rows } = await sql<OwnPackage>`
    SELECT v.app_id AS "appId", v.version, b.hash, b.size::float8 AS bytes
      FROM apps a
      JOIN app_versions v ON v.app_id = a.app_id
      JOIN package_blobs b ON b.hash = v.package_hash
     WHERE a.owner_key = ${accountKey} AND (v.app_id, v.version) > (${page.after.appId}, ${page.after.version})
     ORDER BY v.app_id, v.version LIMIT ${page.limit}`.execute(database);
  return rows;
}

/** All versions of an app, in no particular order. Empty for an unknown app. */
export async function listVersions(database: Database, appId: string): Promise<string[]> {
  const rows = await database.selectFrom('app_versions').select('version').where('app_id', '=', appId).execute();
  return rows.map(({ version }) => version);
}

export interface AppOwner {
  readonly ownerKey: string | null;
  readonly system: boolean;
}

/** The owner of an app id, `ownerKey` being `null` for system apps; `undefined` while it is unclaimed. */
export async function findOwner(database: Database, appId: string): Promise<AppOwner | undefined> {
  return await database
    .selectFrom('apps')
    .select(['owner_key as ownerKey', 'system'])
    .where('app_id', '=', appId)
    .executeTakeFirst();
}

/** Whether this version of the app is published. */
export async function versionExists(database: Database, appId: string, version: string): Promise<boolean> {
  const row = await database
    .selectFrom('app_versions')
    .select('version')
    .where('app_id', '=', appId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row !== undefined;
}

/** Keeps a version from being deleted until the transaction ends. @returns whether it is published */
export async function holdVersion(trx: Database, appId: string, version: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM app_versions WHERE app_id = ${appId} AND version = ${version} FOR KEY SHARE`.execute(trx);
  return rows.length > 0;
}

/** Claims the app id for its first publisher, and locks it, which serialises publications of one app. */
export async function claimApp(
  trx: Transaction<DatabaseSchema>,
  app: { readonly appId: string; readonly ownerKey: string | null; readonly system: boolean; readonly now: Date },
): Promise<AppOwner> {
  await trx
    .insertInto('apps')
    .values({ app_id: app.appId, owner_key: app.ownerKey, system: app.system, created_at: app.now })
    .onConflict((conflict) => conflict.column('app_id').doNothing())
    .execute();
  return await trx
    .selectFrom('apps')
    .select(['owner_key as ownerKey', 'system'])
    .where('app_id', '=', app.appId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** @returns whether the version was free */
export async function insertVersion(
  trx: Transaction<DatabaseSchema>,
  published: {
    readonly hash: string;
    readonly size: number;
    readonly unpacked: number;
    readonly frontendDigest: string | null;
    readonly manifest: Manifest;
    readonly now: Date;
  },
): Promise<boolean> {
  const { hash, size, unpacked, frontendDigest, manifest, now } = published;
  await trx
    .insertInto('package_blobs')
    .values({ hash, size, unpacked, frontend_digest: frontendDigest, created_at: now })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('app_versions')
    .values({
      app_id: manifest.id,
      version: manifest.version,
      package_hash: hash,
      manifest: JSON.stringify(manifest),
      newest: false,
      published_at: now,
    })
    .onConflict((conflict) => conflict.columns(['app_id', 'version']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Makes this version the newest of its app; no effect when it already is. */
export async function setNewest(trx: Transaction<DatabaseSchema>, appId: string, version: string): Promise<void> {
  // Two statements, since no two rows may be the newest at any time.
  await trx
    .updateTable('app_versions')
    .set({ newest: false })
    .where('app_id', '=', appId)
    .where('newest', '=', true)
    .where('version', '<>', version)
    .execute();
  await trx
    .updateTable('app_versions')
    .set({ newest: true })
    .where('app_id', '=', appId)
    .where('version', '=', version)
    .where('newest', '=', false)
    .execute();
}

/** Which of these packages are published. */
export async function findPublishedHashes(database: Database, hashes: string[]): Promise<Set<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await database.selectFrom('package_blobs').select('hash').where('hash', 'in', hashes).execute();
  return new Set(rows.map(({ hash }) => hash));
}

/** Locks an app, so that one transaction at a time changes its versions. */
export async function lockApp(trx: Kysely<DatabaseSchema>, appId: string): Promise<void> {
  await trx.selectFrom('apps').select('app_id').where('app_id', '=', appId).forUpdate().execute();
}
