// All SQL of lost nodes: who has been silent, and what that means for what cannot move.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

export interface WatchedNode {
  readonly id: string;
  readonly name: string;
  readonly beat: string;
  /** What the core that took its last heartbeat promised it. */
  readonly lostAfter: number;
  readonly lost: boolean;
}

/** The nodes that hold leases; `lost` ones with something left that could move, the others all. */
export async function watchedNodes(db: Executor): Promise<WatchedNode[]> {
  const { rows } = await sql<WatchedNode>`
    SELECT n.id, n.name, n.beat::text AS beat,
           n.lost_after_milliseconds::float8 AS "lostAfter", n.lost_at IS NOT NULL AS lost
      FROM nodes n
     WHERE n.leased AND (n.lost_at IS NULL OR EXISTS (
             SELECT FROM installations i
               JOIN app_versions v ON v.app_id = i.app_id AND v.version = i.version
              WHERE i.node_id = n.id AND i.removed_at IS NULL AND v.manifest ? 'workload'
                AND (NOT i.has_volume OR i.volume_store IS NOT NULL)))`.execute(db);
  return rows;
}

/** Guarded by the heartbeat: of a node that is heard of in the same moment this finds nothing. */
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

/** What has its volume on a lost node stays there; its state says so. */
export async function markBoundWorkloads(db: Executor, nodeId: string, now: Date): Promise<void> {
  await sql`
    INSERT INTO installation_status (installation_id, node_id, state, since, reason, restarts)
    SELECT i.id, n.id, 'failed', ${now}, ${boundReason(sql`n.name`)}, 0
      FROM installations i
      JOIN nodes n ON n.id = i.node_id
      JOIN app_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE n.id = ${nodeId} AND i.removed_at IS NULL AND v.manifest ? 'workload'
       AND i.has_volume AND i.volume_store IS NULL
    ON CONFLICT (installation_id) DO UPDATE
       SET state = EXCLUDED.state, since = EXCLUDED.since, reason = EXCLUDED.reason`.execute(db);
}

function boundReason(name: ReturnType<typeof sql>): ReturnType<typeof sql<string>> {
  return sql<string>`format(${BOUND_TO_LOST}, ${name})`;
}

const BOUND_TO_LOST =
  'The machine %s does not answer, and the data of this app lies there: it comes back together with the machine.';

/** In one sentence for its owner: why an installation does not run although another node is there. */
export function boundToLost(nodeName: string): string {
  return BOUND_TO_LOST.replace('%s', nodeName);
}
