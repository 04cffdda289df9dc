// All SQL of managing nodes: the list for the operator, cordons, what remains on a node, and its removal.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { grantedBackend } from '../grants/granted-backend.ts';
import { alwaysInForce, DISK_PROMISED, memoryInForce } from '../placement/face.ts';

type Executor = Kysely<DatabaseSchema>;

export interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly labels: string[];
  /** Its reserved labels, which exclude backends that do not require them. */
  readonly reserved: string[];
  readonly state: 'ready' | 'cordoned' | 'lost' | 'joining';
  readonly local: boolean;
  readonly seen_at: Date | null;
  readonly version: string | null;
  readonly driver: string | null;
  readonly mechanism: string | null;
  /** What carries core's connections to it; `null` for the machine of core itself, and before it has registered. */
  readonly carrier: 'tls' | 'iroh' | null;
  readonly cpus: number | null;
  readonly memory_mib: number | null;
  /** Memory of workloads that never sleep, and of all that are placed there. */
  readonly reserved_mib: number;
  readonly placed_mib: number;
  /** Disk for volumes, `null` where the node does not say; what they were promised of it; whether only the reserve is left. */
  readonly disk_mib: number | null;
  readonly disk_promised_mib: number;
  readonly disk_full: boolean;
  readonly apps: number;
  readonly running: number;
  readonly shared_store: string | null;
}

/** All nodes with their load of workloads, by name; memory in MiB. */
export async function listNodeRows(db: Executor): Promise<NodeRow[]> {
  const { rows } = await sql<NodeRow>`
    SELECT n.id, n.name, n.labels, n.local, n.seen_at, n.version, n.driver, n.mechanism,
           CASE split_part(n.control_url, ':', 1) WHEN 'https' THEN 'tls' WHEN 'iroh' THEN 'iroh' END AS carrier, n.cpus, n.memory_mib,
           n.disk_mib, n.disk_full, ${DISK_PROMISED}::float8 AS disk_promised_mib,
           n.shared_store, ARRAY(SELECT l.label FROM reserved_node_labels l WHERE l.label = ANY (n.labels)) AS reserved,
           CASE WHEN n.lost_at IS NOT NULL THEN 'lost'
                WHEN n.cordoned_at IS NOT NULL THEN 'cordoned'
                WHEN n.leased AND n.beat = 0 THEN 'joining' ELSE 'ready' END AS state,
           coalesce(sum(w.memory) FILTER (WHERE w.always), 0)::integer AS reserved_mib,
           coalesce(sum(w.memory), 0)::integer AS placed_mib,
           count(w.id)::integer AS apps,
           (count(w.id) FILTER (WHERE w.state = 'running'))::integer AS running
      FROM nodes n
      LEFT JOIN (SELECT i.id, i.node_id, s.state,
                        ${memoryInForce} AS memory, ${alwaysInForce} AS always
                   FROM installed_apps i
                   JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
                   LEFT JOIN backend_states s ON s.installation_id = i.id
                  WHERE ${grantedBackend}) w ON w.node_id = n.id
     GROUP BY n.id ORDER BY n.name`.execute(db);
  return rows;
}

export interface NamedNode {
  readonly id: string;
  readonly local: boolean;
  readonly leased: boolean;
  readonly lost_at: Date | null;
}

/** The node with this name; `undefined` when there is none. */
export async function findNodeNamed(db: Executor, name: string): Promise<NamedNode | undefined> {
  return db
    .selectFrom('nodes')
    .select(['id', 'local', 'leased', 'lost_at'])
    .where('name', '=', name)
    .executeTakeFirst();
}

/** Cordons the node since `at`; `null` uncordons it. */
export async function setCordoned(db: Executor, nodeId: string, at: Date | null): Promise<void> {
  await db.updateTable('nodes').set({ cordoned_at: at }).where('id', '=', nodeId).execute();
}

/** Installed apps with a volume on the node. */
export async function boundApps(db: Executor, nodeId: string): Promise<{ appId: string; account: string }[]> {
  const { rows } = await sql<{ appId: string; account: string }>`
    SELECT i.app_id AS "appId", a.name AS account
      FROM installed_apps i
      JOIN account_states a ON a.key = i.account_key
     WHERE i.node_id = ${nodeId} AND i.has_volume AND i.volume_store IS NULL
     ORDER BY a.name, i.app_id`.execute(db);
  return rows;
}

export interface Remaining {
  readonly held: number;
  readonly movable: number;
  readonly bound: number;
}

/** How many installations the node still holds, and how many placed there can move or are bound by their volume. */
export async function remainingOn(db: Executor, nodeId: string): Promise<Remaining> {
  const { rows } = await sql<Remaining>`
    SELECT (count(*) FILTER (WHERE held_by = ${nodeId}))::integer AS held,
           (count(*) FILTER (WHERE placed AND (NOT has_volume OR volume_store IS NOT NULL)))::integer AS movable,
           (count(*) FILTER (WHERE placed AND has_volume AND volume_store IS NULL))::integer AS bound
      FROM (SELECT i.*, i.node_id = ${nodeId} AND i.removed_at IS NULL AND ${grantedBackend} AS placed
              FROM kept_installations i LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
             WHERE i.node_id = ${nodeId} OR i.held_by = ${nodeId}) AS each`.execute(db);
  return rows[0] ?? { held: 0, movable: 0, bound: 0 };
}

/** Deletes the node's row. */
export async function deleteNode(db: Executor, nodeId: string): Promise<void> {
  await db.deleteFrom('nodes').where('id', '=', nodeId).execute();
}

/** Adds and removes labels. Returns the labels after the change, or `undefined` for an unknown node. */
export async function updateLabels(
  db: Executor,
  name: string,
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): Promise<string[] | undefined> {
  const { rows } = await sql<{ labels: string[] }>`
    UPDATE nodes
       SET labels = ARRAY(SELECT DISTINCT label FROM unnest(labels || ${[...add]}::text[]) AS label
                           WHERE NOT label = ANY (${[...remove]}::text[]) ORDER BY label)
     WHERE name = ${name} RETURNING labels`.execute(db);
  return rows[0]?.labels;
}
