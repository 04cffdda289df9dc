// All SQL of placement: free capacity of nodes, the best fit, and where an installation is.
import type { BackendResources, InstallationId, MachineGift, Processor, WorkloadManifest } from '@platform/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { volumeMiB } from '../disk/face.ts';
import { grantedBackend } from '../grants/granted-backend.ts';
import type { MemoryShare } from './account-shares.ts';
import { hostingLabels } from './hosting-labels.ts';
import { keptFromOwner, meetsRules, type Owner } from './placement-rule-queries.ts';

type Executor = Kysely<DatabaseSchema>;

/** Serialises placement decisions: locks the placement revision until the transaction ends, and increments it. */
export async function lockPlacementRow(db: Executor): Promise<void> {
  await sql`UPDATE revisions SET value = value + 1 WHERE name = 'placement'`.execute(db);
}

/** The requirements on a node. */
export interface Demand {
  readonly runtime: WorkloadManifest['runtime'];
  /** That an executable is compiled for, or `null`. */
  readonly processor: Processor | null;
  readonly memoryMiB: number;
  /** Whether it reserves its memory; a backend that sleeps shares memory with others. */
  readonly always: boolean;
  /** What its volume takes more than it has there already. */
  readonly diskMiB: number;
  /** A label the node must have, or `null`. */
  readonly hosting: string | null;
  /** The shared store the node must reach, or `null`. */
  readonly store: string | null;
  /** The only node allowed, or `null`. */
  readonly only: string | null;
  /** What the owner's backends that never sleep may reserve; `null` for everything. */
  readonly share: MemoryShare | null;
  /** The owner whose rules apply; `null` to ignore rules, on the node that has its volume. */
  readonly owner: Owner | null;
}

/**
 * A node available for placement: not cordoned, not lost, and with a heartbeat unless it is core's own process.
 */
const OPEN = sql<boolean>`n.cordoned_at IS NULL AND n.lost_at IS NULL AND (NOT n.leased OR n.beat > 0)`;

/**
 * Memory in MiB, and whether it never sleeps, of the backend of installation `i` with version `v`: what its manifest asks
 * for, within its snapshot (`resourcesInForce` of the contract).
 */
export const memoryInForce = sql<number>`
  least((v.manifest #>> '{workload,resources,memoryMiB}')::integer, (i.resources ->> 'memoryMiB')::integer)`;
/** Whether the backend of installation `i` with version `v` never sleeps, within its snapshot. */
export const alwaysInForce = sql<boolean>`
  (v.manifest #>> '{workload,mode}' = 'always' AND coalesce(i.resources ->> 'mode', 'always') = 'always')`;

/**
 * Memory of workloads placed on node `n`: of those that never sleep, of these the ones of one account, and of all together.
 */
const used = (except: InstallationId | null, share: MemoryShare | null) => sql`
  SELECT coalesce(sum(memory) FILTER (WHERE always), 0)::float8 AS reserved, coalesce(sum(memory), 0)::float8 AS total,
         coalesce(sum(memory) FILTER (WHERE always AND account_key = ${share?.accountKey ?? null}::text), 0)::float8 AS own
    FROM (SELECT ${memoryInForce} AS memory, ${alwaysInForce} AS always, i.account_key
            FROM installed_apps i
            JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
           WHERE i.node_id = n.id AND ${grantedBackend}
             AND i.id IS DISTINCT FROM ${except}::text) AS each`;

/** Whether the node `n` has the memory, of which `used` says what is taken. */
const hasMemory = ({ memoryMiB, always, share }: Pick<Demand, 'memoryMiB' | 'always' | 'share'>) => sql<boolean>`
  (n.memory_mib IS NULL
   OR n.memory_mib >= ${memoryMiB}
      AND (NOT ${always}::boolean
           OR used.reserved + ${memoryMiB} <= n.memory_mib AND ${isWithinShare(share, memoryMiB)}))`;

function isWithinShare(share: MemoryShare | null, memoryMiB: number): RawBuilder<boolean> {
  if (share === null) return sql<boolean>`true`;
  const { accountKey, percent, master } = share;
  return sql<boolean>`
    (used.own + ${memoryMiB} <= n.memory_mib * ${percent}::float8 / 100
     OR EXISTS (SELECT FROM account_states a
                 WHERE a.key = ${accountKey}
                   AND (a.name = ${master} OR ${master}::text IS NULL AND a.named_master_at IS NOT NULL)))`;
}

/** MiB of disk that the volumes on the node `n` have been promised, those of removed apps too; volumes in a shared store lie elsewhere. */
export const DISK_PROMISED = sql<number>`
  (SELECT coalesce(sum(${volumeMiB}), 0)
     FROM kept_installations i LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
    WHERE i.node_id = n.id AND i.has_volume AND i.volume_store IS NULL)`;

/** Whether the disk of the node takes so much more. */
const hasDisk = (diskMiB: number) => sql<boolean>`
  (${diskMiB}::integer = 0 OR n.disk_mib IS NULL OR ${DISK_PROMISED} + ${diskMiB}::integer <= n.disk_mib)`;

/** Sleeping workloads count one sixteenth in the choice between nodes. */
const SLEEPING_SHARE = 1 / 16;

/** Preferred over machines of others, which report their own resources and could attract apps by exaggerating them. */
const PREFERRED: (typeof hostingLabels)[number] = 'platform-hosted';

/**
 * The node with the largest share of free memory, platform-hosted if one fits. A node that has not reported its memory,
 * such as core's own before its Runtime registered, counts as empty.
 */
export async function bestNode(
  db: Executor,
  demand: Demand,
): Promise<{ readonly id: string; readonly shared_store: string | null } | undefined> {
  const { rows } = await sql<{ id: string; shared_store: string | null }>`
    SELECT n.id, n.shared_store
      FROM known_nodes n, LATERAL (${used(null, demand.share)}) AS used
     WHERE ${OPEN} AND ${demand.runtime} = ANY (n.runtimes)
       AND (${demand.processor}::text IS NULL OR n.processor = ${demand.processor})
       AND (${demand.hosting}::text IS NULL OR ${demand.hosting} = ANY (n.labels))
       AND (${demand.store}::text IS NULL OR n.shared_store = ${demand.store})
       AND (${demand.only}::text IS NULL OR n.id = ${demand.only})
       AND ${demand.owner === null ? sql`true` : meetsRules(demand.owner)}
       AND (NOT n.disk_full OR ${demand.only}::text IS NOT NULL)
       AND (n.shared_store IS NOT NULL OR ${hasDisk(demand.diskMiB)})
       AND ${hasMemory(demand)}
     ORDER BY NOT ${PREFERRED} = ANY (n.labels),
              coalesce((used.reserved + (used.total - used.reserved) * ${SLEEPING_SHARE}::float8) / n.memory_mib, 0),
              n.id
     LIMIT 1`.execute(db);
  return rows[0];
}

/** Whether an installation fits on its node with this much memory; a node that has not said what it has fits all. */
export async function hasRoom(
  db: Executor,
  installation: { readonly id: InstallationId; readonly nodeId: string },
  demand: Pick<Demand, 'memoryMiB' | 'always' | 'share'>,
): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM known_nodes n, LATERAL (${used(installation.id, demand.share)}) AS used
     WHERE n.id = ${installation.nodeId}
       AND ${hasMemory(demand)}`.execute(db);
  return rows.length > 0;
}

/** Whether the disk of a node takes a volume that is larger by so much. */
export async function nodeHasDisk(db: Executor, nodeId: string, diskMiB: number): Promise<boolean> {
  const { rows } = await sql`SELECT FROM known_nodes n WHERE n.id = ${nodeId} AND ${hasDisk(diskMiB)}`.execute(db);
  return rows.length > 0;
}

export interface CensusRow {
  readonly id: string;
  readonly runtimes: string[];
  readonly processor: string | null;
  readonly shared_store: string | null;
  readonly open: boolean;
  readonly disk_full: boolean;
  /** Reserved for backends of others than this owner. */
  readonly kept: boolean;
}

/** Every node that ever sent a heartbeat or belongs to a core, and whether it can run this owner's backends. */
export function nodeCensus(db: Executor, owner: Owner): Promise<{ rows: CensusRow[] }> {
  return sql<CensusRow>`
    SELECT n.id, n.runtimes, n.processor, n.shared_store, ${OPEN} AS open, n.disk_full, ${keptFromOwner(owner)} AS kept
      FROM known_nodes n WHERE NOT n.leased OR n.beat > 0`.execute(db);
}

export interface CapacityRow {
  readonly runtimes: WorkloadManifest['runtime'][];
  readonly processor: Processor | null;
  readonly memory: number | null;
  readonly cpus: number | null;
  /** `null` also where volumes lie in a shared folder. */
  readonly disk: number | null;
  readonly gives: MachineGift[] | null;
  /** Takes new backends. */
  readonly open: boolean;
}

/** What each node has in all, whatever of it is taken now; the largest first. */
export async function selectCapacities(db: Executor): Promise<CapacityRow[]> {
  const { rows } = await sql<CapacityRow>`
    SELECT n.runtimes, n.processor, n.memory_mib AS memory, n.cpus,
           CASE WHEN n.shared_store IS NULL THEN n.disk_mib END AS disk, n.gives,
           ${OPEN} AS open
      FROM known_nodes n WHERE NOT n.leased OR n.beat > 0
     ORDER BY n.memory_mib DESC NULLS LAST, n.id`.execute(db);
  return rows;
}

export interface PlaceRow {
  readonly id: InstallationId;
  readonly node_id: string | null;
  readonly waiting: boolean;
  readonly held_by: string | null;
  readonly has_volume: boolean;
  readonly volume_store: string | null;
  /** Granted to its volume, 0 without one. */
  readonly volume_mib: number;
  readonly node_name: string | null;
  readonly node_labels: string[] | null;
  readonly node_lost_at: Date | null;
}

/** The placement of an account's app, also of a removed one. */
export async function findPlace(db: Executor, { accountKey, appId }: Owner): Promise<PlaceRow | undefined> {
  const { rows } = await sql<PlaceRow>`
    SELECT i.id, i.node_id, i.waiting, i.held_by, i.has_volume, i.volume_store,
           ${volumeMiB} AS volume_mib, n.name AS node_name, n.labels AS node_labels, n.lost_at AS node_lost_at
      FROM kept_installations i
      LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN known_nodes n ON n.id = i.node_id
     WHERE i.account_key = ${accountKey} AND i.app_id = ${appId}`.execute(db);
  return rows[0];
}

export interface MovableRow {
  readonly id: InstallationId;
  readonly account_key: string;
  readonly app_id: string;
}

/**
 * Takes a batch of movable installations from a node. They then wait, held by the node unless it is lost; their
 * credentials and reported states end at once.
 */
export async function takeMovable(
  db: Executor,
  nodeId: string,
  options: { readonly heldBy: string | null; readonly limit: number },
): Promise<MovableRow[]> {
  const { rows } = await sql<MovableRow>`
    WITH taken AS (
      SELECT i.id FROM installed_apps i
        JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
       WHERE i.node_id = ${nodeId} AND ${grantedBackend}
         AND (NOT i.has_volume OR i.volume_store IS NOT NULL)
       ORDER BY i.id LIMIT ${options.limit} FOR UPDATE OF i),
    credentials AS (DELETE FROM core_credentials WHERE installation_id IN (SELECT id FROM taken)),
    states AS (DELETE FROM installation_status WHERE installation_id IN (SELECT id FROM taken))
    UPDATE installations i
       SET node_id = NULL, waiting = true, held_by = ${options.heldBy},
           wanted_hosting = (SELECT label FROM unnest(n.labels) AS label WHERE label = ANY (${[...hostingLabels]}) LIMIT 1)
      FROM taken, known_nodes n
     WHERE i.id = taken.id AND n.id = ${nodeId}
    RETURNING i.id, i.account_key, i.app_id`.execute(db);
  return rows;
}

export interface WaitingRow extends MovableRow {
  /** As its manifest says; what holds of it is {@link WaitingRow.resources}. */
  readonly workload: WorkloadManifest;
  readonly resources: BackendResources | null;
  readonly has_volume: boolean;
  readonly volume_store: string | null;
  readonly wanted_hosting: string | null;
  readonly held_by: string | null;
}

const selectWaiting = sql`
    SELECT i.id, i.account_key, i.app_id, v.manifest -> 'workload' AS workload, i.resources, i.has_volume,
           i.volume_store, i.wanted_hosting, i.held_by
      FROM installed_apps i JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.waiting AND ${grantedBackend}`;

/** Installations that wait for a node, by id, after the given one. */
export async function waitingInstallations(db: Executor, after: string, limit: number): Promise<WaitingRow[]> {
  const { rows } = await sql<WaitingRow>`${selectWaiting} AND i.id > ${after} ORDER BY i.id LIMIT ${limit}`.execute(db);
  return rows;
}

/** The given installation, if it waits for a node. */
export async function waitingInstallation(db: Executor, id: InstallationId): Promise<WaitingRow | undefined> {
  const { rows } = await sql<WaitingRow>`${selectWaiting} AND i.id = ${id}`.execute(db);
  return rows[0];
}

/** Whether the backend of installation `i` with version `v` has a node or waits for one: it does neither before its first use. */
export const isBegun = sql.raw<boolean>('(i.node_id IS NOT NULL OR i.waiting OR i.held_by IS NOT NULL)');

export interface UnusedRow {
  readonly accountKey: string;
  /** Of the app. */
  readonly name: string;
  /** What its volume takes more than it has. */
  readonly volumeMiB: number;
}

/** The given installation, if it has a backend that nobody has used yet. */
export async function unusedInstallation(db: Executor, id: InstallationId): Promise<UnusedRow | undefined> {
  const { rows } = await sql<UnusedRow>`
    SELECT i.account_key AS "accountKey", v.manifest ->> 'name' AS name,
           CASE WHEN (v.manifest #>> '{workload,volume}')::boolean IS NOT TRUE OR i.has_volume THEN 0
                ELSE coalesce(i.resources ->> 'diskMiB', v.manifest #>> '{workload,resources,diskMiB}')::integer END AS "volumeMiB"
      FROM installed_apps i JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.id = ${id} AND ${grantedBackend} AND NOT ${isBegun}`.execute(db);
  return rows[0];
}

/** From now on it waits for a node. */
export async function setWaiting(db: Executor, id: InstallationId): Promise<void> {
  await sql`UPDATE installations i SET waiting = true WHERE id = ${id} AND removed_at IS NULL AND NOT ${isBegun}`.execute(
    db,
  );
}

/** Places a waiting installation. @returns whether it was still waiting and held by no node */
export async function setPlaced(
  db: Executor,
  id: InstallationId,
  place: { readonly nodeId: string; readonly hasVolume: boolean; readonly volumeStore: string | null },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE installations
       SET node_id = ${place.nodeId}, waiting = false, wanted_hosting = NULL,
           has_volume = ${place.hasVolume}, volume_store = ${place.volumeStore}
     WHERE id = ${id} AND waiting AND held_by IS NULL AND removed_at IS NULL`.execute(db);
  return numAffectedRows === 1n;
}

/** Ends a node's hold of an installation, after the node confirmed that it no longer runs it. */
export async function clearHolder(db: Executor, id: InstallationId, nodeId: string): Promise<void> {
  await sql`UPDATE installations SET held_by = NULL WHERE id = ${id} AND held_by = ${nodeId}`.execute(db);
}

/** Ends all holds of a lost node, whose lease has ended. */
export async function clearHeldBy(db: Executor, nodeId: string): Promise<void> {
  await db.updateTable('installations').set({ held_by: null }).where('held_by', '=', nodeId).execute();
}

/** Marks backends whose volume is on a lost node as failed; they stay there. */
export async function markBoundWorkloads(
  db: Executor,
  nodeId: string,
  { reason, now }: { readonly reason: string; readonly now: Date },
): Promise<void> {
  await sql`
    INSERT INTO installation_status (installation_id, node_id, state, since, reason, restarts)
    SELECT i.id, i.node_id, 'failed', ${now}, ${reason}, 0
      FROM installed_apps i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.node_id = ${nodeId} AND ${grantedBackend}
       AND i.has_volume AND i.volume_store IS NULL
    ON CONFLICT (installation_id) DO UPDATE
       SET state = EXCLUDED.state, since = EXCLUDED.since, reason = EXCLUDED.reason`.execute(db);
}

/** Moves everything off the node and gives up the volumes on it: apps start elsewhere with empty ones. */
export async function abandonNode(db: Executor, nodeId: string): Promise<void> {
  await sql`
    UPDATE installations i
       SET node_id = NULL,
           waiting = i.removed_at IS NULL
                     AND EXISTS (SELECT FROM published_versions v
                                  WHERE v.app_id = i.app_id AND v.version = i.version AND ${grantedBackend}),
           has_volume = i.has_volume AND i.volume_store IS NOT NULL
     WHERE i.node_id = ${nodeId}`.execute(db);
}
