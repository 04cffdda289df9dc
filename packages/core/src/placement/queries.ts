// All SQL of what runs on a node: its assignments, the credentials of its workloads, and the states it reports.
import type {
  BackendResources,
  Grant,
  InstallationId,
  InstallationStatus,
  PublicPort,
  SecretSlot,
  WorkloadManifest,
} from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { Plan } from '../accounts/face.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { grantedBackend } from '../grants/granted-backend.ts';
import type { NodeCaller } from '../nodes/face.ts';
import type { Bound } from '../policy.ts';
import { BEHIND_NAT } from '../topology/face.ts';

type Executor = Kysely<DatabaseSchema>;

/** Its data is not being deleted: until then its backend is on no node. */
const keepsData = sql`NOT EXISTS (SELECT FROM running_deletions d WHERE d.installation_id = i.id)`;

/** Installations placed on a node, to notify replicas that their address has changed. */
export async function placedInstallations(
  db: Executor,
  nodeId: string,
): Promise<{ id: InstallationId; account_key: string }[]> {
  return db.selectFrom('installed_apps').select(['id', 'account_key']).where('node_id', '=', nodeId).execute();
}

/** Increments the revision under the row lock that serialises changes of assignments. Returns the new revision. */
export async function raiseRevision(db: Executor): Promise<bigint> {
  const { rows } = await sql<{ value: string }>`
    UPDATE revisions SET value = value + 1 WHERE name = 'assignments' RETURNING value::text`.execute(db);
  const value = rows[0]?.value;
  if (value === undefined) throw new Error('the revision of assignments is missing from the database');
  return BigInt(value);
}

export interface AssignmentRow {
  readonly id: InstallationId;
  readonly app_id: string;
  readonly host_label: string;
  readonly endpoint_id: string;
  readonly generation: number;
  readonly clients_revision: number;
  /** Whether the node asks about the capabilities of clients. */
  readonly asks_capabilities: boolean;
  /** Stopped by its owner, or its account is suspended or paused. */
  readonly halted: boolean;
  readonly paused: boolean;
  /** Paused or suspended. */
  readonly barred: boolean;
  readonly version: string;
  readonly package_hash: string;
  /** As its manifest says; what holds of it is {@link AssignmentRow.resources}. */
  readonly workload: WorkloadManifest;
  readonly resources: BackendResources | null;
  readonly grants: Grant[];
  /** Revision of the grants. */
  readonly grants_revision: number;
  readonly public_ports: PublicPort[] | null;
  /** Numbers that its UDP ports had on another node, by name. */
  readonly former_ports: Readonly<Record<string, number>> | null;
  readonly secret_slots: SecretSlot[] | null;
  readonly public_endpoints: string[] | null;
  /** Of its public hostname; `null` before it has one. */
  readonly public_label: string | null;
  readonly bindings: Bound[] | null;
  readonly plan: Plan | null;
  /** Of the node. */
  readonly labels: string[];
  /** Whether it can move: its volume, if any, does not bind it to the node, and core may declare the node lost. */
  readonly movable: boolean;
  readonly volume_store: string | null;
}

/**
 * The assignments of a node: one statement, so that list and revision are one snapshot, as are whether the node still has
 * the credential of this hash, `servesPublic`: whether it takes public requests, and knows what assignments say of them, and
 * `behindNat` (`BEHIND_NAT`).
 */
export async function selectAssignments(
  db: Executor,
  { nodeId, credentialHash }: Pick<NodeCaller, 'nodeId' | 'credentialHash'>,
): Promise<{
  revision: string;
  credentialHolds: boolean;
  servesPublic: boolean;
  behindNat: string | null;
  rows: AssignmentRow[];
}> {
  const { rows } = await sql<
    { revision: string; credential_holds: boolean; serves_public: boolean; behind_nat: string | null } & (
      | AssignmentRow
      | { readonly id: null }
    )
  >`
    SELECT r.value::text AS revision,
           EXISTS (SELECT FROM known_nodes WHERE id = ${nodeId} AND credential_hash = ${credentialHash}) AS credential_holds,
           EXISTS (SELECT FROM public_node_addresses WHERE node_id = ${nodeId} AND url IS NOT NULL) AS serves_public,
           (SELECT ${sql.raw(BEHIND_NAT)} FROM known_nodes n WHERE n.id = ${nodeId}) AS behind_nat,
           i.id, i.app_id, i.host_label, i.endpoint_id, i.generation,
           i.clients_revision::integer AS clients_revision,
           (SELECT COALESCE(asks_capabilities, control_url IS NULL) FROM known_nodes WHERE id = ${nodeId}) AS asks_capabilities,
           i.stopped OR a.suspended_at IS NOT NULL OR a.paused_at IS NOT NULL AS halted,
           a.paused_at IS NOT NULL AS paused, a.suspended_at IS NOT NULL OR a.paused_at IS NOT NULL AS barred,
           i.version, v.package_hash,
           v.manifest -> 'workload' AS workload, i.resources, i.grants, i.revision::integer AS grants_revision,
           v.manifest -> 'publicPorts' AS public_ports, v.manifest -> 'secretSlots' AS secret_slots,
           (SELECT jsonb_object_agg(p.name, p.host_port) FROM udp_ports p
             WHERE p.installation_id = i.id AND p.node_id IS DISTINCT FROM i.node_id) AS former_ports,
           v.manifest -> 'publicEndpoints' AS public_endpoints,
           (SELECT label FROM public_labels p
             WHERE p.installation_id = i.id AND p.generation = i.generation) AS public_label,
           (SELECT jsonb_agg(to_jsonb(b)) FROM bound_secrets b WHERE b.installation_id = i.id) AS bindings,
           i.volume_store, a.plan,
           (SELECT labels FROM known_nodes WHERE id = ${nodeId}) AS labels,
           (i.volume_store IS NOT NULL OR NOT i.has_volume)
             AND (SELECT leased FROM known_nodes WHERE id = ${nodeId}) AS movable
      FROM revisions r
      LEFT JOIN (installed_apps i
                 JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
                 JOIN account_states a ON a.key = i.account_key)
             ON i.node_id = ${nodeId} AND ${grantedBackend} AND ${keepsData}
     WHERE r.name = 'assignments'
     ORDER BY i.id`.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error('the revision of assignments is missing from the database');
  return {
    revision: first.revision,
    credentialHolds: first.credential_holds,
    servesPublic: first.serves_public,
    behindNat: first.behind_nat,
    rows: rows.filter((row) => row.id !== null),
  };
}

/**
 * Replaces the core service credential of an installation on this node; the lock excludes concurrent removals
 * and moves. Returns its epoch, or `undefined` when no backend of the installation may run on this node.
 */
export async function replaceCoreCredential(
  db: Executor,
  credential: {
    readonly installationId: InstallationId;
    readonly nodeId: string;
    readonly tokenHash: Buffer;
    readonly envelopeKey: Buffer | null;
    readonly now: Date;
  },
): Promise<number | undefined> {
  const { rows } = await sql<{ epoch: string }>`
    WITH target AS (
      UPDATE installations i SET epoch = epoch + 1
       WHERE id = ${credential.installationId} AND node_id = ${credential.nodeId} AND removed_at IS NULL
         AND EXISTS (SELECT FROM published_versions v
                      WHERE v.app_id = i.app_id AND v.version = i.version AND ${grantedBackend})
         AND ${keepsData}
      RETURNING id, epoch)
    INSERT INTO core_credentials (installation_id, token_hash, envelope_key, node_id, epoch, created_at)
    SELECT id, ${credential.tokenHash}, ${credential.envelopeKey}::bytea, ${credential.nodeId}, epoch, ${credential.now} FROM target
    ON CONFLICT (installation_id) DO UPDATE
       SET token_hash = EXCLUDED.token_hash, envelope_key = EXCLUDED.envelope_key, node_id = EXCLUDED.node_id,
           epoch = EXCLUDED.epoch, created_at = EXCLUDED.created_at
    RETURNING epoch`.execute(db);
  return rows[0] === undefined ? undefined : Number(rows[0].epoch);
}

const MOST_RESTARTS = 2 ** 31 - 1;

/** Stores what a node reports about its own installations; reports about others are ignored. */
export async function upsertStatus(db: Executor, nodeId: string, items: readonly InstallationStatus[]): Promise<void> {
  const reported = JSON.stringify(
    items.map(({ installationId, state, since, reason, restarts, lastExit, unenforced }) => ({
      installation_id: installationId,
      state,
      since,
      reason: reason ?? null,
      restarts: Math.min(Math.max(restarts, 0), MOST_RESTARTS),
      last_exit: lastExit,
      unenforced,
    })),
  );
  await sql`
    WITH own AS (
      SELECT id FROM installed_apps
       WHERE node_id = ${nodeId}
         AND id IN (SELECT item ->> 'installation_id' FROM jsonb_array_elements(${reported}::jsonb) item)
       ORDER BY id FOR SHARE)
    INSERT INTO installation_status
           (installation_id, node_id, state, since, reason, restarts, last_exit, unenforced)
    SELECT own.id, ${nodeId}, s.state, s.since, s.reason, s.restarts, s.last_exit, s.unenforced
      FROM jsonb_to_recordset(${reported}::jsonb)
        AS s (installation_id text, state text, since timestamptz, reason text, restarts integer,
              last_exit jsonb, unenforced text[])
      JOIN own ON own.id = s.installation_id
    ON CONFLICT (installation_id) DO UPDATE
       SET node_id = EXCLUDED.node_id, state = EXCLUDED.state, since = EXCLUDED.since, reason = EXCLUDED.reason,
           restarts = EXCLUDED.restarts, last_exit = EXCLUDED.last_exit, unenforced = EXCLUDED.unenforced`.execute(db);
}

/** Deletes what only a placed installation has: its credential and its reported state. */
export async function deleteWorkloadState(db: Executor, installationId: InstallationId): Promise<void> {
  await db.deleteFrom('core_credentials').where('installation_id', '=', installationId).execute();
  await db.deleteFrom('installation_status').where('installation_id', '=', installationId).execute();
}

/** Deletes credential and reported state of those of these installations whose version has no backend that may run. */
export async function deleteEndedStates(db: Executor, installationIds: readonly InstallationId[]): Promise<void> {
  const ended = sql`
    SELECT i.id FROM kept_installations i JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.id = ANY(${[...installationIds]}::text[]) AND NOT ${grantedBackend}`;
  await sql`DELETE FROM core_credentials WHERE installation_id IN (${ended})`.execute(db);
  await sql`DELETE FROM installation_status WHERE installation_id IN (${ended})`.execute(db);
}

/** Whether the installation is placed on this node; `false` for removed apps. */
export async function isPlaced(db: Executor, nodeId: string, installationId: InstallationId): Promise<boolean> {
  const row = await db
    .selectFrom('installed_apps')
    .select('id')
    .where('id', '=', installationId)
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether an installation on this node runs the package. */
export async function isPackagePlaced(db: Executor, nodeId: string, hash: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM installed_apps i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.node_id = ${nodeId} AND v.package_hash = ${hash} AND ${grantedBackend}
     LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** Whether the installation waits for a node; `false` for an unknown one. */
export async function isWaiting(db: Executor, installationId: InstallationId): Promise<boolean> {
  const row = await db
    .selectFrom('kept_installations')
    .select('waiting')
    .where('id', '=', installationId)
    .executeTakeFirst();
  return row?.waiting === true;
}

/** Why the account of the installation has no backend running; `null` otherwise, and for an unknown one. */
export async function haltOfOwner(
  db: Executor,
  installationId: InstallationId,
): Promise<'paused' | 'suspended' | null> {
  const row = await db
    .selectFrom('kept_installations')
    .innerJoin('account_states', 'account_states.key', 'kept_installations.account_key')
    .select(['account_states.paused_at', 'account_states.suspended_at'])
    .where('kept_installations.id', '=', installationId)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.suspended_at !== null) return 'suspended';
  return row.paused_at === null ? null : 'paused';
}

/** The node an installation is placed on, or was before it was removed; `null` for one that is on none. */
export async function nodeOf(db: Executor, installationId: InstallationId): Promise<string | null> {
  const row = await db
    .selectFrom('kept_installations')
    .select('node_id')
    .where('id', '=', installationId)
    .executeTakeFirst();
  return row?.node_id ?? null;
}

/** Whether any of these installations is placed on a node. */
export async function isAnyPlaced(db: Executor, installationIds: readonly InstallationId[]): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM kept_installations WHERE id = ANY(${[...installationIds]}::text[]) AND node_id IS NOT NULL LIMIT 1`.execute(
    db,
  );
  return rows.length > 0;
}

/** The nodes on which something of an account is placed. */
/** Those with a placed installation. */
export async function nodesInUse(db: Executor): Promise<string[]> {
  const rows = await db
    .selectFrom('installed_apps')
    .select('node_id')
    .distinct()
    .where('node_id', 'is not', null)
    .execute();
  return rows.flatMap(({ node_id }) => node_id ?? []);
}

export async function nodesOfAccount(db: Executor, accountKey: string): Promise<string[]> {
  const rows = await db
    .selectFrom('installed_apps')
    .select('node_id')
    .distinct()
    .where('account_key', '=', accountKey)
    .where('node_id', 'is not', null)
    .execute();
  return rows.flatMap(({ node_id }) => node_id ?? []);
}

export interface IngressLink {
  readonly public_key: Buffer;
  /** Where nodes behind NAT connect to it; `null` for nowhere. */
  readonly link: string | null;
}

export async function selectIngressLinks(db: Executor): Promise<IngressLink[]> {
  return db.selectFrom('known_ingresses').select(['public_key', 'link']).orderBy('id').execute();
}

/** Keeps what nodes know of the settings. @returns whether that is something new */
export async function keepAnnounced(db: Executor, settings: string): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO announced_settings AS a (name, settings) VALUES ('settings', ${settings})
    ON CONFLICT (name) DO UPDATE SET settings = EXCLUDED.settings WHERE a.settings <> EXCLUDED.settings
    RETURNING name`.execute(db);
  return rows.length > 0;
}
