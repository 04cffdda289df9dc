// All SQL that changes the topology: what routes are computed of, the names, and the revision.

import type { Grant, InstallationId } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { grantedBackend } from '../grants/granted-backend.ts';
import type { Touched } from './change-routes.ts';

type Executor = Kysely<DatabaseSchema>;

/** Serialises changes of the topology until the transaction ends. */
export async function lockTopology(db: Executor): Promise<void> {
  await sql`SELECT revision FROM topology_state FOR UPDATE`.execute(db);
}

/**
 * Another revision for what the transaction changes; the commit notifies the streams to Ingresses.
 *
 * @param goneNode gets the new revision, if it was just withdrawn
 */
export async function raiseTopology(db: Executor, goneNode: string | null = null): Promise<bigint> {
  const { rows } = await sql<{ revision: string }>`
    UPDATE topology_state SET revision = revision + 1 RETURNING revision::text`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the revision of the topology is missing from the database');
  if (goneNode !== null)
    await sql`UPDATE topology_nodes SET revision = ${row.revision} WHERE node_id = ${goneNode}`.execute(db);
  await notify(db, 'topology-changed', {});
  return BigInt(row.revision);
}

/** What the route of an installation is computed of, and what it is now. */
export interface RouteInput {
  readonly id: InstallationId;
  readonly app_id: string;
  readonly node_id: string | null;
  readonly generation: number;
  readonly installed: boolean;
  /** Its backend may run: reviewed, and its account neither paused nor suspended. */
  readonly open: boolean;
  readonly declared: string[];
  readonly grants: Grant[];
  /** Changes with everything that a route is computed of. */
  readonly fingerprint: string;
  readonly label: string | null;
  readonly name_generation: number | null;
  readonly routes: string[] | null;
  readonly route_node: string | null;
}

const barred = sql`(a.paused_at IS NOT NULL OR a.suspended_at IS NOT NULL)`;
const open = sql`(coalesce(${grantedBackend}, false) AND NOT ${barred})`;
const declares = sql`coalesce(jsonb_array_length(v.manifest -> 'publicEndpoints'), 0) > 0`;
/** `generation` is in it: a reinstallation by a former version raises it. */
const fingerprint = sql<string>`concat_ws('/', i.revision, i.generation, i.version, coalesce(i.node_id, '-'),
  (i.removed_at IS NULL)::text, ${open}::text)`;

const FROM = sql`
      FROM kept_installations i
      JOIN account_states a ON a.key = i.account_key
      LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN public_names n ON n.installation_id = i.id
      LEFT JOIN topology_routes r ON r.label = n.label
     WHERE (n.label IS NOT NULL OR i.removed_at IS NULL AND ${declares})`;

/** Of those of the touched installations that have, had or need a public name. */
export async function routeInputs(db: Executor, touched: Touched): Promise<RouteInput[]> {
  const { rows } = await sql<RouteInput>`
    SELECT i.id, i.app_id, i.node_id, i.generation, i.removed_at IS NULL AS installed, ${open} AS open,
           CASE WHEN ${declares} THEN v.manifest -> 'publicEndpoints' ELSE '[]' END AS declared, i.grants,
           ${fingerprint} AS fingerprint, n.label, n.generation AS name_generation, r.routes, r.node_id AS route_node
    ${FROM} AND ${condition(touched)}`.execute(db);
  return rows;
}

function condition(touched: Touched) {
  if ('installations' in touched) return sql`i.id = ANY (${[...touched.installations]}::text[])`;
  if ('accountKey' in touched) return sql`i.account_key = ${touched.accountKey}`;
  return sql`i.id IN (SELECT installation_id FROM topology_routes
                       WHERE node_id = ${touched.goneNode} AND routes IS NOT NULL)`;
}

/** Installations whose route is not computed of what is there now, by id, after the given one. */
export async function outdatedInstallations(db: Executor, after: string, limit: number): Promise<InstallationId[]> {
  const { rows } = await sql<{ id: InstallationId }>`
    SELECT i.id ${FROM} AND n.computed_of IS DISTINCT FROM ${fingerprint} AND i.id > ${after}
     ORDER BY i.id LIMIT ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

export async function deleteNames(db: Executor, ids: readonly InstallationId[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .deleteFrom('public_names')
    .where('installation_id', 'in', [...ids])
    .execute();
}

export async function storeNames(
  db: Executor,
  names: readonly { readonly installationId: InstallationId; readonly generation: number; readonly label: string }[],
): Promise<void> {
  if (names.length === 0) return;
  await sql`
    INSERT INTO public_names (installation_id, generation, label)
    SELECT installation_id, generation, label
      FROM unnest(${names.map(({ installationId }) => installationId)}::text[],
                  ${names.map(({ generation }) => generation)}::integer[],
                  ${names.map(({ label }) => label)}::text[]) AS made (installation_id, generation, label)`.execute(db);
}

/** Remembers of what the routes were computed. */
export async function storeComputed(db: Executor, inputs: readonly RouteInput[]): Promise<void> {
  if (inputs.length === 0) return;
  await sql`
    UPDATE public_names n SET computed_of = c.fingerprint
      FROM unnest(${inputs.map(({ id }) => id)}::text[],
                  ${inputs.map((input) => input.fingerprint)}::text[]) AS c (id, fingerprint)
     WHERE n.installation_id = c.id`.execute(db);
}

/** One name with what passes; without `routes` it is gone. */
export interface NamedRoute {
  readonly label: string;
  readonly appId: string;
  readonly installationId: InstallationId;
  readonly nodeId: string | null;
  readonly routes: readonly string[] | null;
}

export async function storeRoutes(
  db: Executor,
  routes: readonly NamedRoute[],
  { revision, now }: { readonly revision: bigint; readonly now: Date },
): Promise<void> {
  if (routes.length === 0) return;
  const changed = JSON.stringify(
    routes.map((route) => ({
      label: route.label,
      app_id: route.appId,
      installation_id: route.installationId,
      node_id: route.nodeId,
      routes: route.routes,
    })),
  );
  await sql`
    INSERT INTO topology_routes (label, app_id, installation_id, node_id, routes, revision, changed_at)
    SELECT label, app_id, installation_id, node_id, routes, ${revision}, ${now}
      FROM jsonb_to_recordset(${changed}::jsonb)
        AS c (label text, app_id text, installation_id text, node_id text, routes text[])
    ON CONFLICT (label) DO UPDATE
       SET node_id = EXCLUDED.node_id, routes = EXCLUDED.routes, revision = EXCLUDED.revision,
           changed_at = EXCLUDED.changed_at`.execute(db);
}

/** Takes the address of a node from the topology. Returns whether it was there. */
export async function withdrawNode(db: Executor, nodeId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('topology_nodes')
    .set({ url: null, key: null, credential: null, changed_at: now })
    .where('node_id', '=', nodeId)
    .where('url', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export interface NodeAddress {
  readonly url: string;
  readonly key: Buffer | null;
  /** Sealed. */
  readonly credential: Buffer;
}

/** What the topology says of a node; `undefined` for one that serves no public requests. */
export async function nodeAddress(db: Executor, nodeId: string): Promise<NodeAddress | undefined> {
  const row = await db
    .selectFrom('topology_nodes')
    .select(['url', 'key', 'credential'])
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
  return row?.url == null || row.credential === null ? undefined : { ...row, url: row.url, credential: row.credential };
}

export async function storeNodeAddress(
  db: Executor,
  node: NodeAddress & { readonly nodeId: string; readonly name: string; readonly revision: bigint; readonly now: Date },
): Promise<void> {
  const { url, key, credential, name, now } = node;
  const values = { name, url, key, credential, revision: String(node.revision), changed_at: now };
  await db
    .insertInto('topology_nodes')
    .values({ node_id: node.nodeId, ...values })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(values))
    .execute();
}

/** Whether the host names are below this domain already. */
export async function isDomain(db: Executor, domain: string): Promise<boolean> {
  const row = await db.selectFrom('topology_state').select('domain').executeTakeFirst();
  return row?.domain === domain;
}

/** Makes this the domain of all host names. Every Ingress then gets the whole topology. */
export async function adoptDomain(db: Executor, domain: string): Promise<void> {
  await sql`
    UPDATE topology_state SET domain = ${domain}, revision = revision + 1, floor = revision + 1
     WHERE domain IS DISTINCT FROM ${domain}`.execute(db);
}

/**
 * Forgets deletions from before `until`, and remembers how far.
 *
 * @returns whether there may be more
 */
export async function forgetDeletions(db: Executor, until: ProvenTime, limit: number): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    WITH gone_routes AS (
      DELETE FROM topology_routes WHERE label IN (
        SELECT label FROM topology_routes WHERE routes IS NULL AND changed_at < ${until} LIMIT ${limit})
      RETURNING revision),
    gone_nodes AS (DELETE FROM topology_nodes WHERE url IS NULL AND changed_at < ${until} RETURNING revision),
    gone AS (SELECT revision FROM gone_routes UNION ALL SELECT revision FROM gone_nodes)
    UPDATE topology_state
       SET floor = greatest(floor, coalesce((SELECT max(revision) FROM gone), 0))
    RETURNING (SELECT count(*) FROM gone_routes)::integer AS count`.execute(db);
  return (rows[0]?.count ?? 0) === limit;
}
