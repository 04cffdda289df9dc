// The SQL that counts installations, for the operator's inventory: by the state of their backends, and by app.
import { limits, type SystemInventory } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { grantedBackend } from '../grants/granted-backend.ts';
import { isBegun } from '../placement/face.ts';

type Executor = Kysely<DatabaseSchema>;

/** Counts before joining, so that a manifest is read once per version, not once per installation. */
export async function countInstallations(db: Executor): Promise<SystemInventory['installations']> {
  const states = await sql<{ state: string | null; installations: number }>`
    SELECT CASE WHEN ${grantedBackend} AND i.begun THEN coalesce(i.state, 'unknown') END AS state,
           sum(i.installations)::integer AS installations
      FROM (SELECT i.app_id, i.version, i.resources, s.state, ${isBegun} AS begun, count(*) AS installations
              FROM installations i LEFT JOIN backend_states s ON s.installation_id = i.id
             WHERE i.removed_at IS NULL GROUP BY i.app_id, i.version, i.resources, s.state, begun) i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     GROUP BY 1`.execute(db);
  const of = (state: string) => states.rows.find((row) => row.state === state)?.installations ?? 0;
  const { rows } = await sql<SystemInventory['installations']['largest'][number] & { apps: number }>`
    WITH counted AS (
      SELECT i.app_id, count(*)::integer AS installations,
             (count(*) FILTER (WHERE s.state = 'running'))::integer AS running,
             (count(*) FILTER (WHERE s.state = 'failed'))::integer AS failed
        FROM installations i LEFT JOIN backend_states s ON s.installation_id = i.id
       WHERE i.removed_at IS NULL GROUP BY i.app_id),
    largest AS (
      SELECT *, (SELECT count(*)::integer FROM counted) AS apps FROM counted
       ORDER BY installations DESC, app_id LIMIT ${limits.inventoryApps.value})
    SELECT l.app_id AS "appId", v.manifest ->> 'name' AS name, l.installations, l.running, l.failed, l.apps
      FROM largest l JOIN published_versions v ON v.app_id = l.app_id AND v.newest
     ORDER BY l.installations DESC, l.app_id`.execute(db);
  return {
    total: states.rows.reduce((sum, row) => sum + row.installations, 0),
    states: {
      running: of('running'),
      starting: of('starting'),
      stopped: of('stopped'),
      failed: of('failed'),
      unknown: of('unknown'),
    },
    apps: rows[0]?.apps ?? 0,
    largest: rows.map(({ apps: _all, ...app }) => app),
  };
}

/** Number of installations that wait for a node, and of existing volumes, including those of removed apps. */
export async function countPlaces(db: Executor): Promise<{ readonly waiting: number; readonly volumes: number }> {
  const { rows } = await sql<{ waiting: number; volumes: number }>`
    SELECT (count(*) FILTER (WHERE waiting AND removed_at IS NULL))::integer AS waiting,
           (count(*) FILTER (WHERE has_volume))::integer AS volumes
      FROM installations WHERE waiting OR has_volume`.execute(db);
  return rows[0] ?? { waiting: 0, volumes: 0 };
}
