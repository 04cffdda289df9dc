// All SQL of data-plane capabilities.

import type { InstallationId } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

/** Expired ones, of whichever installation, that each new one clears away. */
const CLEARED_AT_ONCE = 20;

export interface NewCapability {
  readonly installationId: InstallationId;
  readonly tokenHash: Buffer;
  readonly now: Date;
  readonly proven: ProvenTime;
  /** The latest expiry; a session may end sooner. */
  readonly expiresAt: Date;
}

export interface MadeCapability {
  readonly expires_at: Date;
  /** How many of the same session, or of the same backend itself, are live now. */
  readonly live: number;
}

/** For a client that a session lets in. Returns `undefined` when the session or the installation has ended. */
export async function insertForSession(
  db: Executor,
  sessionId: string,
  { installationId, tokenHash, now, proven, expiresAt }: NewCapability,
): Promise<MadeCapability | undefined> {
  // The session is locked before the installation, as when a session ends.
  const { rows } = await sql<MadeCapability>`
    WITH held AS (
      SELECT id, expires_at FROM session_terms WHERE id = ${sessionId} AND expires_at > ${now} FOR KEY SHARE),
    target AS (
      SELECT i.id, held.id AS session_id, held.expires_at FROM held CROSS JOIN installed_apps i
       WHERE i.id = ${installationId} FOR SHARE OF i),
    cleared AS (${clearExpired(proven)}),
    made AS (
      INSERT INTO data_plane_capabilities (token_hash, installation_id, session_id, created_at, expires_at)
      SELECT ${tokenHash}, id, session_id, ${now}, LEAST(${expiresAt}::timestamptz, expires_at) FROM target
      RETURNING installation_id, session_id, expires_at)
    SELECT made.expires_at, 1 + (SELECT count(*)::integer FROM data_plane_capabilities c
                                  WHERE c.installation_id = made.installation_id
                                    AND c.session_id = made.session_id AND c.expires_at > ${now}) AS live
      FROM made`.execute(db);
  return rows[0];
}

/**
 * For a backend itself. Returns `undefined` for an installation that is on no node, or on one of a former version, which
 * would not accept it.
 */
export async function insertForBackend(
  db: Executor,
  { installationId, tokenHash, now, proven, expiresAt }: NewCapability,
): Promise<MadeCapability | undefined> {
  const { rows } = await sql<MadeCapability>`
    WITH target AS (
      SELECT i.id FROM installed_apps i JOIN known_nodes n ON n.id = i.node_id
       WHERE i.id = ${installationId}
         AND COALESCE(n.asks_capabilities, n.control_url IS NULL) FOR SHARE OF i),
    cleared AS (${clearExpired(proven)}),
    made AS (
      INSERT INTO data_plane_capabilities (token_hash, installation_id, session_id, created_at, expires_at)
      SELECT ${tokenHash}, id, NULL, ${now}, ${expiresAt} FROM target
      ON CONFLICT (token_hash) DO NOTHING
      RETURNING installation_id, expires_at)
    SELECT made.expires_at, 1 + (SELECT count(*)::integer FROM data_plane_capabilities c
                                  WHERE c.installation_id = made.installation_id
                                    AND c.session_id IS NULL AND c.expires_at > ${now}) AS live
      FROM made`.execute(db);
  return rows[0];
}

function clearExpired(proven: ProvenTime) {
  return sql`
    DELETE FROM data_plane_capabilities WHERE token_hash IN (
      SELECT token_hash FROM data_plane_capabilities WHERE expires_at <= ${proven}
       ORDER BY expires_at LIMIT ${CLEARED_AT_ONCE} FOR UPDATE SKIP LOCKED)`;
}

/** Has the capabilities that a backend got before end at this time, unless they end sooner. */
export async function shortenOfBackend(db: Executor, id: InstallationId, end: Date): Promise<void> {
  await db
    .updateTable('data_plane_capabilities')
    .set({ expires_at: end })
    .where('installation_id', '=', id)
    .where('session_id', 'is', null)
    .where('expires_at', '>', end)
    .execute();
}

export interface ValidCapability {
  readonly token_hash: Buffer;
  readonly expires_at: Date;
}

/** Which of these capabilities are valid for an installation, on this node where one is named. */
export async function selectValid(
  db: Executor,
  question: {
    readonly installationId: InstallationId;
    readonly hashes: readonly Buffer[];
    readonly nodeId?: string;
    readonly now: Date;
  },
): Promise<ValidCapability[]> {
  const { installationId, hashes, nodeId = null, now } = question;
  const { rows } = await sql<ValidCapability>`
    SELECT c.token_hash, c.expires_at
      FROM data_plane_capabilities c
      JOIN installed_apps i ON i.id = c.installation_id
      LEFT JOIN session_terms s ON s.id = c.session_id
     WHERE c.token_hash = ANY(${[...hashes]}::bytea[]) AND c.installation_id = ${installationId}
       AND c.expires_at > ${now} AND (c.session_id IS NULL OR s.expires_at > ${now})
       AND (${nodeId}::text IS NULL OR i.node_id = ${nodeId})`.execute(db);
  return rows;
}

/** Deletes the capabilities of these sessions. Returns the nodes of the installations that had some. */
export async function deleteOfSessions(db: Executor, sessionIds: readonly string[]): Promise<(string | null)[]> {
  const ids = [...sessionIds];
  const { rows } = await sql<{ node_id: string | null }>`
    UPDATE installations SET clients_revision = clients_revision + 1
     WHERE id IN (SELECT i.id FROM kept_installations i
                   WHERE i.id IN (SELECT installation_id FROM data_plane_capabilities
                                   WHERE session_id = ANY(${ids}::text[]))
                   ORDER BY i.id FOR UPDATE)
    RETURNING node_id`.execute(db);
  await sql`DELETE FROM data_plane_capabilities WHERE session_id = ANY(${ids}::text[])`.execute(db);
  return rows.map(({ node_id }) => node_id);
}

/** Deletes every capability of an installation. Returns its node where there was one to delete, else an empty list. */
export async function deleteOfInstallation(db: Executor, id: InstallationId): Promise<(string | null)[]> {
  await lockInstallation(db, id);
  const { numDeletedRows } = await db
    .deleteFrom('data_plane_capabilities')
    .where('installation_id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 0n ? [] : raiseClientsRevision(db, id);
}

/** Deletes all but the newest of a session, or of a backend itself. Returns as {@link deleteOfInstallation}. */
export async function deleteOldest(
  db: Executor,
  id: InstallationId,
  { sessionId, kept }: { readonly sessionId: string | null; readonly kept: number },
): Promise<(string | null)[]> {
  await lockInstallation(db, id);
  const { rows } = await sql`
    DELETE FROM data_plane_capabilities WHERE token_hash IN (
      SELECT token_hash FROM data_plane_capabilities
       WHERE installation_id = ${id} AND session_id IS NOT DISTINCT FROM ${sessionId}::text
       ORDER BY created_at DESC, token_hash OFFSET ${kept})
    RETURNING installation_id`.execute(db);
  return rows.length === 0 ? [] : raiseClientsRevision(db, id);
}

async function lockInstallation(db: Executor, id: InstallationId): Promise<void> {
  await db.selectFrom('kept_installations').select('id').where('id', '=', id).forUpdate().execute();
}

async function raiseClientsRevision(db: Executor, id: InstallationId): Promise<(string | null)[]> {
  const { rows } = await sql<{ node_id: string | null }>`
    UPDATE installations SET clients_revision = clients_revision + 1 WHERE id = ${id} RETURNING node_id`.execute(db);
  return rows.map(({ node_id }) => node_id);
}

/** The installed app of an account; `undefined` when there is none. */
export async function findInstalled(
  db: Executor,
  accountKey: string,
  appId: string,
): Promise<InstallationId | undefined> {
  const row = await db
    .selectFrom('installed_apps')
    .select('id')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .executeTakeFirst();
  return row?.id;
}
