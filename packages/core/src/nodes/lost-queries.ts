// All SQL of lost nodes: which are watched, and which are declared lost.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { grantedBackend } from '../grants/granted-backend.ts';

type Executor = Kysely<DatabaseSchema>;

export interface WatchedNode {
  readonly id: string;
  readonly name: string;
  readonly beat: string;
  /** The lease that the core that handled its last heartbeat promised. */
  readonly lostAfter: number;
  readonly lost: boolean;
}

/** All nodes with leases that are not lost, and lost ones that still have something that could move. */
export async function watchedNodes(db: Executor): Promise<WatchedNode[]> {
  const { rows } = await sql<WatchedNode>`
    SELECT n.id, n.name, n.beat::text AS beat,
           n.lost_after_milliseconds::float8 AS "lostAfter", n.lost_at IS NOT NULL AS lost
      FROM nodes n
     WHERE n.leased AND (n.lost_at IS NULL OR EXISTS (
             SELECT FROM installed_apps i
               JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
              WHERE i.node_id = n.id AND ${grantedBackend}
                AND (NOT i.has_volume OR i.volume_store IS NOT NULL)))`.execute(db);
  return rows;
}

/** The node as of its last heartbeat, if it has a lease and another one is there that could take what it ran. */
export async function leavingNode(
  db: Executor,
  nodeId: string,
): Promise<Pick<WatchedNode, 'id' | 'name' | 'beat'> | undefined> {
  const { rows } = await sql<Pick<WatchedNode, 'id' | 'name' | 'beat'>>`
    SELECT n.id, n.name, n.beat::text AS beat
      FROM nodes n
     WHERE n.id = ${nodeId} AND n.leased AND n.lost_at IS NULL
       AND EXISTS (SELECT FROM nodes o
                    WHERE o.id <> n.id AND o.cordoned_at IS NULL AND o.lost_at IS NULL AND (NOT o.leased OR o.beat > 0))`.execute(
    db,
  );
  return rows[0];
}

/** Marks a node lost unless its heartbeat count has changed. */
export async function markLost(
  db: Executor,
  node: { readonly id: string; readonly beat: string; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('nodes')
    .set({ lost_at: node.now })
    .where('id', '=', node.id)
    .where('beat', '=', node.beat)
    .where('lost_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
