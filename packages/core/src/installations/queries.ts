// All SQL of installations. The hot ones are prepared statements on the bare pool, the others run in transactions.
import type { BackendResources, Grant, InstallationId, Manifest } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { grantedBackend } from '../grants/granted-backend.ts';
import { isBegun, type Place } from '../placement/face.ts';

type Executor = Kysely<DatabaseSchema>;

export interface NewInstallation {
  readonly id: string;
  readonly accountKey: string;
  readonly appId: string;
  readonly version: string;
  readonly hostLabel: string;
  readonly endpointId: string;
  readonly grants: readonly Grant[];
  readonly resources: BackendResources;
  readonly place: Place;
  readonly now: Date;
}

/**
 * Installs an app, or reinstalls a removed one: under its former id, so that it keeps its volume and the size of it, but
 * with a new host, a new endpoint and a new generation of derived capabilities. Returns the id, or `undefined` when the
 * app is already installed; of two concurrent calls one gets `undefined`.
 */
export async function insertInstallation(
  db: Executor,
  installation: NewInstallation,
): Promise<InstallationId | undefined> {
  const grants = JSON.stringify(installation.grants);
  const resources = JSON.stringify(installation.resources);
  const { place } = installation;
  const { rows } = await sql<{ id: InstallationId }>`
    INSERT INTO installations
           (id, account_key, app_id, version, host_label, endpoint_id, grants, resources, node_id, waiting, held_by,
            has_volume, volume_store, installed_at)
    VALUES (${installation.id}, ${installation.accountKey}, ${installation.appId}, ${installation.version},
            ${installation.hostLabel}, ${installation.endpointId}, ${grants}, ${resources}::jsonb, ${place.nodeId},
            ${place.waiting}, ${place.heldBy}, ${place.hasVolume}, ${place.volumeStore}, ${installation.now})
    ON CONFLICT (account_key, app_id) DO UPDATE
       SET version = EXCLUDED.version, host_label = EXCLUDED.host_label, endpoint_id = EXCLUDED.endpoint_id,
           generation = installations.generation + 1, grants = EXCLUDED.grants,
           revision = installations.revision + 1, stopped = false,
           resources = CASE WHEN EXCLUDED.has_volume
             THEN jsonb_set(EXCLUDED.resources, '{diskMiB}', to_jsonb(greatest(
                    (EXCLUDED.resources ->> 'diskMiB')::integer,
                    CASE WHEN installations.has_volume THEN (installations.resources ->> 'diskMiB')::integer END)))
             ELSE EXCLUDED.resources END,
           node_id = EXCLUDED.node_id, waiting = EXCLUDED.waiting, held_by = EXCLUDED.held_by,
           has_volume = EXCLUDED.has_volume, volume_store = EXCLUDED.volume_store,
           installed_at = EXCLUDED.installed_at, removed_at = NULL, former_version = NULL, former_kept_until = NULL
     WHERE installations.removed_at IS NOT NULL
    RETURNING id`.execute(db);
  return rows[0]?.id;
}

export interface OwnInstallation {
  readonly id: InstallationId;
  readonly version: string;
  readonly grants: Grant[];
  /** Held, and without effect, since this version does not request it. */
  readonly set_aside: Grant[];
  readonly resources: BackendResources | null;
  readonly revision: string;
  readonly stopped: boolean;
  readonly stopped_by: string | null;
  readonly node_id: string | null;
  readonly waiting: boolean;
  readonly held_by: string | null;
  readonly has_volume: boolean;
  readonly volume_store: string | null;
  readonly former_version: string | null;
  readonly former_kept_until: Date | null;
  /** Comes with the platform. */
  readonly system: boolean;
  readonly manifest: Manifest;
}

/** The installed app of an account with its manifest. */
export async function selectOwn(db: Executor, accountKey: string, appId: string): Promise<OwnInstallation | undefined> {
  return db
    .selectFrom('installations')
    .innerJoin('published_versions', (join) =>
      join
        .onRef('published_versions.app_id', '=', 'installations.app_id')
        .onRef('published_versions.version', '=', 'installations.version'),
    )
    .innerJoin('published_apps', 'published_apps.app_id', 'installations.app_id')
    .select([
      'installations.id',
      'installations.version',
      'installations.grants',
      'installations.set_aside',
      'installations.resources',
      'installations.revision',
      'installations.stopped',
      'installations.stopped_by',
      'installations.node_id',
      'installations.waiting',
      'installations.held_by',
      'installations.has_volume',
      'installations.volume_store',
      'installations.former_version',
      'installations.former_kept_until',
      'published_apps.system',
      'published_versions.manifest',
    ])
    .where('installations.account_key', '=', accountKey)
    .where('installations.app_id', '=', appId)
    .where('installations.removed_at', 'is', null)
    .executeTakeFirst();
}

/**
 * An installed app with its version, locked until the transaction ends, which serialises changes of one installation. Locks first and reads
 * afterwards, because a row that changed during the wait would not match its former version in a join.
 */
export async function lockOwn(trx: Executor, accountKey: string, appId: string): Promise<OwnInstallation | undefined> {
  await trx
    .selectFrom('installations')
    .select('id')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .forUpdate()
    .execute();
  return selectOwn(trx, accountKey, appId);
}

/** Locks an app of an account, installed or removed. */
export async function lockIdentity(
  trx: Executor,
  accountKey: string,
  appId: string,
): Promise<InstallationId | undefined> {
  const row = await trx
    .selectFrom('installations')
    .select('id')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .forUpdate()
    .executeTakeFirst();
  return row?.id;
}

/** Every installation of an account, removed ones too, locked until the transaction ends. */
export async function lockAllOf(
  trx: Executor,
  accountKey: string,
): Promise<{ readonly id: InstallationId; readonly appId: string; readonly installed: boolean }[]> {
  const rows = await trx
    .selectFrom('installations')
    .select(['id', 'app_id', 'removed_at'])
    .where('account_key', '=', accountKey)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map((row) => ({ id: row.id, appId: row.app_id, installed: row.removed_at === null }));
}

/** The manifests of the versions that these installations run. */
export async function selectInstalledManifests(
  db: Executor,
  ids: readonly InstallationId[],
): Promise<{ readonly id: InstallationId; readonly manifest: Manifest }[]> {
  if (ids.length === 0) return [];
  return await db
    .selectFrom('installations')
    .innerJoin('published_versions', (join) =>
      join
        .onRef('published_versions.app_id', '=', 'installations.app_id')
        .onRef('published_versions.version', '=', 'installations.version'),
    )
    .select(['installations.id', 'published_versions.manifest'])
    .where('installations.id', 'in', [...ids])
    .execute();
}

/** The names of installed apps of some accounts, in the order given; `null` for one that is not installed. */
export async function selectAppNames(
  db: Executor,
  apps: readonly { readonly accountKey: string; readonly appId: string }[],
): Promise<(string | null)[]> {
  const { rows } = await sql<{ name: string | null }>`
    SELECT v.manifest ->> 'name' AS name
      FROM unnest(${apps.map(({ accountKey }) => accountKey)}::text[],
                  ${apps.map(({ appId }) => appId)}::text[]) WITH ORDINALITY AS n (account_key, app_id, place)
      LEFT JOIN installations i ON i.account_key = n.account_key AND i.app_id = n.app_id AND i.removed_at IS NULL
      LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     ORDER BY n.place`.execute(db);
  return rows.map(({ name }) => name);
}

/** Returns the revision after the change. */
export async function updateGrants(
  db: Executor,
  id: InstallationId,
  { grants, setAside }: { readonly grants: readonly Grant[]; readonly setAside: readonly Grant[] },
): Promise<number> {
  const { revision } = await db
    .updateTable('installations')
    .set((expression) => ({
      grants: JSON.stringify(grants),
      set_aside: JSON.stringify(setAside),
      revision: expression('revision', '+', '1'),
    }))
    .where('id', '=', id)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return Number(revision);
}

/** The version that an owner can go back to, and until when nobody can delete it. */
export interface FormerVersion {
  readonly version: string;
  readonly keptUntil: Date;
}

/** Sets version, grants, resources and place of an installation, and increments its revision. */
export async function updateVersion(
  db: Executor,
  id: InstallationId,
  change: {
    readonly version: string;
    readonly former: FormerVersion | null;
    readonly grants: readonly Grant[];
    readonly setAside: readonly Grant[];
    readonly resources: BackendResources;
    readonly place: Place;
  },
): Promise<void> {
  await db
    .updateTable('installations')
    .set((expression) => ({
      version: change.version,
      former_version: change.former?.version ?? null,
      former_kept_until: change.former?.keptUntil ?? null,
      grants: JSON.stringify(change.grants),
      set_aside: JSON.stringify(change.setAside),
      resources: JSON.stringify(change.resources),
      node_id: change.place.nodeId,
      waiting: change.place.waiting,
      held_by: change.place.heldBy,
      has_volume: change.place.hasVolume,
      volume_store: change.place.volumeStore,
      revision: expression('revision', '+', '1'),
    }))
    .where('id', '=', id)
    .execute();
}

/** Stores that the backend is to be stopped, and by whom; `null` allows it to run. */
export async function updateStopped(db: Executor, id: InstallationId, by: string | null): Promise<void> {
  await db
    .updateTable('installations')
    .set({ stopped: by !== null, stopped_by: by })
    .where('id', '=', id)
    .execute();
}

/** Removes the installation and every capability of its frontend; identity, node and so the volume stay. */
export async function markRemoved(db: Executor, id: InstallationId, now: Date): Promise<void> {
  await db
    .updateTable('installations')
    .set((expression) => ({
      removed_at: now,
      former_version: null,
      former_kept_until: null,
      waiting: false,
      grants: '[]',
      set_aside: '[]',
      revision: expression('revision', '+', '1'),
    }))
    .where('id', '=', id)
    .execute();
  await db.deleteFrom('frontend_capabilities').where('installation_id', '=', id).execute();
}

/** The volume of an app of an account, removed or not; `undefined` without one. */
export async function selectVolume(
  db: Executor,
  accountKey: string,
  appId: string,
): Promise<{ readonly id: InstallationId; readonly installed: boolean } | undefined> {
  const row = await db
    .selectFrom('installations')
    .select(['id', 'removed_at'])
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .where('has_volume', '=', true)
    .executeTakeFirst();
  return row === undefined ? undefined : { id: row.id, installed: row.removed_at === null };
}

/** The volume of a removed app is gone: a later installation begins with an empty one, on whichever node. */
export async function forgetVolume(db: Executor, id: InstallationId): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('installations')
    .set({ has_volume: false, volume_store: null })
    .where('id', '=', id)
    .where('removed_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Accounts with one of these apps that they never had, installed or removed; in the order of their keys. */
export async function selectNeverInstalled(
  db: Executor,
  selection: {
    readonly appIds: readonly string[];
    /** `null` for every account. */
    readonly accountKey: string | null;
    readonly from: string;
    readonly most: number;
  },
): Promise<{ readonly key: string; readonly name: string; readonly appId: string }[]> {
  const { appIds, accountKey, from, most } = selection;
  const { rows } = await sql<{ key: string; name: string; appId: string }>`
    SELECT a.key, a.name, d.app_id AS "appId"
      FROM account_states a CROSS JOIN unnest(${[...appIds]}::text[]) AS d (app_id)
     WHERE a.key >= ${from} AND (${accountKey}::text IS NULL OR a.key = ${accountKey})
       AND NOT EXISTS (SELECT FROM installations i WHERE i.account_key = a.key AND i.app_id = d.app_id)
     ORDER BY a.key LIMIT ${most}`.execute(db);
  return rows;
}

export interface BackendRow {
  readonly id: InstallationId;
  readonly accountKey: string;
  readonly account: string;
  readonly appId: string;
  readonly version: string;
  /** Name of the node it is placed on. */
  readonly node: string | null;
  /** As its node last reported; `null` before the first report. */
  readonly state: string | null;
  readonly since: Date | null;
  readonly reason: string | null;
  readonly restarts: number | null;
  readonly lastExit: { readonly at: string; readonly reason: string } | null;
  /** When its account was paused; `null` when it is not. */
  readonly pausedAt: Date | null;
}

/** Why a backend rests that a person stopped; one that is asleep needs no reason. */
export const STOPPED = 'Stopped until it is started again.';

/**
 * Installed apps that have a backend that may run, of all accounts or as selected. A list names none that nobody has used yet.
 */
export async function selectBackends(
  db: Executor,
  selection: { readonly id?: InstallationId; readonly account?: string; readonly appId?: string },
): Promise<BackendRow[]> {
  const { id = null, account = null, appId = null } = selection;
  const { rows } = await sql<BackendRow>`
    SELECT i.id, i.account_key AS "accountKey", a.name AS account, i.app_id AS "appId", i.version, n.name AS node,
           s.state, s.since, s.restarts,
           CASE WHEN i.stopped AND s.state = 'stopped' THEN ${STOPPED}::text ELSE s.reason END AS reason,
           s.last_exit AS "lastExit", a.paused_at AS "pausedAt"
      FROM installations i
      JOIN account_states a ON a.key = i.account_key
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN known_nodes n ON n.id = i.node_id
      LEFT JOIN backend_states s ON s.installation_id = i.id
     WHERE i.removed_at IS NULL AND ${grantedBackend} AND (${id ?? appId}::text IS NOT NULL OR ${isBegun})
       AND (${id}::text IS NULL OR i.id = ${id})
       AND (${account}::text IS NULL OR a.name = ${account})
       AND (${appId}::text IS NULL OR i.app_id = ${appId})
     ORDER BY a.name, i.app_id`.execute(db);
  return rows;
}

/** Makes an app the home screen of the account, in place of any other. */
export async function upsertLauncher(db: Executor, accountKey: string, appId: string): Promise<void> {
  await db
    .insertInto('launchers')
    .values({ account_key: accountKey, app_id: appId })
    .onConflict((conflict) => conflict.column('account_key').doUpdateSet({ app_id: appId }))
    .execute();
}

/** Forgets the choice of the account, or with `appId` only if it is this app. Returns whether there was one. */
export async function deleteLauncher(db: Executor, accountKey: string, appId?: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('launchers')
    .where('account_key', '=', accountKey)
    .$if(appId !== undefined, (query) => query.where('app_id', '=', appId as string))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The ids of the installed apps of an account. */
export async function selectAppIds(db: Executor, accountKey: string): Promise<string[]> {
  const rows = await db.selectFrom('installed_apps').select('app_id').where('account_key', '=', accountKey).execute();
  return rows.map(({ app_id }) => app_id);
}
