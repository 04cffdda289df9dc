// All SQL of the public UDP ports that nodes report. Core assigns no numbers: it remembers those of the nodes.
import type { InstallationId, InstallationStatus } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import type { Granted } from '../policy.ts';

type Executor = Kysely<DatabaseSchema>;

/**
 * Keeps what a node reports of the ports of its own installations; reports about others are ignored, and so are ports
 * that the installed version does not declare. A port that is not in a report keeps its number.
 */
export async function upsertPorts(db: Executor, nodeId: string, items: readonly InstallationStatus[]): Promise<void> {
  const ports = items.flatMap(({ installationId, publicPorts = [] }) =>
    publicPorts.map(({ name, host, hostPort, containerPort, closed = null }) => {
      return {
        installation_id: installationId,
        name,
        host,
        host_port: hostPort,
        container_port: containerPort,
        closed,
      };
    }),
  );
  await closeUnreported(db, nodeId, items);
  if (ports.length === 0) return;
  await sql`
    WITH reported AS (
      SELECT DISTINCT ON (i.id, r.name) i.id, r.name, r.host, r.host_port, r.container_port, r.closed
        FROM jsonb_to_recordset(${JSON.stringify(ports)}::jsonb)
          AS r (installation_id text, name text, host text, host_port integer, container_port integer, closed text)
        JOIN installed_apps i ON i.id = r.installation_id AND i.node_id = ${nodeId}
        JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
       WHERE v.manifest -> 'publicPorts' @> jsonb_build_array(jsonb_build_object('name', r.name))
         AND r.host_port BETWEEN 1 AND 65535 AND r.container_port BETWEEN 1 AND 65535
       ORDER BY i.id, r.name)
    INSERT INTO udp_ports AS p (installation_id, name, node_id, host, host_port, container_port, closed)
    SELECT id, name, ${nodeId}, host, host_port, container_port, closed FROM reported
    ON CONFLICT (installation_id, name) DO UPDATE
       SET node_id = EXCLUDED.node_id, host = EXCLUDED.host, host_port = EXCLUDED.host_port,
           container_port = EXCLUDED.container_port, closed = EXCLUDED.closed
     WHERE (p.node_id, p.host, p.host_port, p.container_port, p.closed)
           IS DISTINCT FROM (EXCLUDED.node_id, EXCLUDED.host, EXCLUDED.host_port, EXCLUDED.container_port, EXCLUDED.closed)`.execute(
    db,
  );
}

/** What a node does not report any more it does not serve, such as after its operator took the range away. */
async function closeUnreported(db: Executor, nodeId: string, items: readonly InstallationStatus[]): Promise<void> {
  const reported = items.flatMap(({ installationId, publicPorts = [] }) =>
    publicPorts.map(({ name }) => `${installationId} ${name}`),
  );
  await sql`
    UPDATE udp_ports SET closed = 'Its machine does not publish it now.'
     WHERE node_id = ${nodeId} AND closed IS NULL
       AND installation_id = ANY(${items.map(({ installationId }) => installationId)}::text[])
       AND NOT installation_id || ' ' || name = ANY(${reported}::text[])`.execute(db);
}

/** A UDP port of a backend, where its node publishes it. */
export interface UdpPortRow {
  readonly name: string;
  readonly host: string;
  readonly host_port: number;
  readonly container_port: number;
  /** Why nothing is received on it; `null` while it is open. */
  readonly closed: string | null;
}

/** The ports of an installation on the node where it is now, as that node reported them last. */
export async function selectPorts(db: Executor, id: InstallationId): Promise<UdpPortRow[]> {
  return db
    .selectFrom('udp_ports as p')
    .innerJoin('kept_installations as i', (join) =>
      join.onRef('i.id', '=', 'p.installation_id').onRef('i.node_id', '=', 'p.node_id'),
    )
    .select(['p.name', 'p.host', 'p.host_port', 'p.container_port', 'p.closed'])
    .where('p.installation_id', '=', id)
    .orderBy('p.name')
    .execute();
}

/** What the installed apps of an account declare of ports, and what they are granted. */
export async function selectDeclaredPorts(
  db: Executor,
  accountKey: string,
): Promise<readonly Pick<Granted, 'grants' | 'manifest'>[]> {
  const { rows } = await sql<Pick<Granted, 'grants' | 'manifest'>>`
    SELECT i.grants, jsonb_build_object('publicPorts', v.manifest -> 'publicPorts') AS manifest
      FROM installed_apps i JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.account_key = ${accountKey} AND v.manifest ? 'publicPorts'`.execute(db);
  return rows;
}

/** Gives the numbers of an installation up: nothing of it is left that they would be kept for. */
export async function deletePorts(db: Executor, id: InstallationId): Promise<void> {
  await db.deleteFrom('udp_ports').where('installation_id', '=', id).execute();
}

/** Forgets the ports of a removed installation, unless its volume stays. */
export async function deletePortsWithoutVolume(db: Executor, id: InstallationId): Promise<void> {
  await sql`
    DELETE FROM udp_ports p USING kept_installations i
     WHERE p.installation_id = ${id} AND i.id = p.installation_id AND NOT i.has_volume`.execute(db);
}

/** Forgets the ports that the installed versions of these installations do not declare. */
export async function deleteUndeclaredPorts(db: Executor, ids: readonly InstallationId[]): Promise<void> {
  await sql`
    DELETE FROM udp_ports p USING kept_installations i, published_versions v
     WHERE p.installation_id = ANY(${[...ids]}::text[]) AND i.id = p.installation_id
       AND v.app_id = i.app_id AND v.version = i.version
       AND NOT coalesce(v.manifest -> 'publicPorts', '[]') @> jsonb_build_array(jsonb_build_object('name', p.name))`.execute(
    db,
  );
}
