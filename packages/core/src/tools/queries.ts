// All SQL of tools.
import type { Grant, InstallationId } from '@platform/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';
import type { Offer } from './served/offer.ts';

export interface ServingRow {
  readonly id: InstallationId;
  readonly app_id: string;
  /** Of the app. */
  readonly name: string;
  readonly version: string;
  /** Of the endpoint of its backend. */
  readonly path: string;
  /** What it said last in this version; `null` when it was not asked. */
  readonly offer: Offer | null;
}

/** The installed apps that serve tools: they declare an endpoint and were granted it. By app id. */
export async function selectServing(db: Executor, accountKey: string, appId?: string): Promise<ServingRow[]> {
  const { rows } = await sql<ServingRow>`
    SELECT i.id, i.app_id, v.manifest ->> 'name' AS name, i.version, v.manifest #>> '{workload,mcp,path}' AS path,
           s.offer
      FROM installed_apps i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN served_tools s ON s.installation_id = i.id AND s.version = i.version
     WHERE i.account_key = ${accountKey} AND v.manifest #> '{workload,mcp}' IS NOT NULL
       AND i.grants @> ${JSON.stringify([{ id: 'mcp.tools.serve' }])}::jsonb
       AND (${appId ?? null}::text IS NULL OR i.app_id = ${appId ?? null})
     ORDER BY i.app_id`.execute(db);
  return rows;
}

export interface ToolAppRow {
  readonly app_id: string;
  readonly name: string;
  readonly grants: Grant[];
  /** May propose every tool without a grant. */
  readonly agent: boolean;
  /** `null` where it serves none, or was not asked in this version. */
  readonly offer: Offer | null;
}

/** The installed apps that request tools or to serve some, and agents, by app id. */
export async function selectToolApps(db: Executor, accountKey: string): Promise<ToolAppRow[]> {
  const { rows } = await sql<ToolAppRow>`
    SELECT i.app_id, v.manifest ->> 'name' AS name, i.grants, v.manifest @> '{"workload": {"runtime": "agent"}}' AS agent,
           CASE WHEN i.grants @> ${JSON.stringify([{ id: 'mcp.tools.serve' }])}::jsonb THEN s.offer END AS offer
      FROM installed_apps i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN served_tools s ON s.installation_id = i.id AND s.version = i.version
     WHERE i.account_key = ${accountKey} AND (v.manifest @@ '$.permissions[*].id starts with "mcp.tools."' OR v.manifest @> '{"workload": {"runtime": "agent"}}')
     ORDER BY i.app_id`.execute(db);
  return rows;
}

/** @returns whether it is another one than before */
export async function storeOffer(
  db: Executor,
  { id, version }: Pick<ServingRow, 'id' | 'version'>,
  offer: Offer,
  at: Date,
): Promise<boolean> {
  const text = JSON.stringify(offer);
  const { rows } = await sql`
    INSERT INTO served_tools (installation_id, version, offer, listed_at) VALUES (${id}, ${version}, ${text}, ${at})
    ON CONFLICT (installation_id) DO UPDATE
       SET version = excluded.version, offer = excluded.offer, listed_at = excluded.listed_at
     WHERE (served_tools.version, served_tools.offer) IS DISTINCT FROM (excluded.version, excluded.offer)
    RETURNING installation_id`.execute(db);
  return rows.length > 0;
}

export async function insertToolCall(db: Executor, row: Insertable<DatabaseSchema['tool_calls']>): Promise<void> {
  await db.insertInto('tool_calls').values(row).execute();
}

export type ToolCallRow = Selectable<DatabaseSchema['tool_calls']>;

/** The newest ones first, of before the call of this id. */
export async function selectToolCalls(
  db: Executor,
  accountKey: string,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<ToolCallRow[]> {
  let query = db.selectFrom('tool_calls').selectAll().where('account_key', '=', accountKey);
  if (before !== null) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** @returns how many it removed */
export async function removeOldToolCalls(db: Executor, until: ProvenTime, most: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM tool_calls WHERE id IN (SELECT id FROM tool_calls WHERE at < ${until} ORDER BY at LIMIT ${most})
  `.execute(db);
  return Number(numAffectedRows);
}

/**
 * Of the next account after `after` that has more calls than are kept: the oldest ones of the caller that has the most, so that nobody
 * washes the calls of others out of the record. @returns `null` when no account follows
 */
export async function removeSurplusToolCalls(
  db: Executor,
  { after, kept, most }: { readonly after: string; readonly kept: number; readonly most: number },
): Promise<{ readonly accountKey: string; readonly removed: number } | null> {
  const { rows } = await sql<{ readonly account_key: string | null; readonly removed: number }>`
    WITH next AS (SELECT min(account_key) AS account_key FROM tool_calls WHERE account_key > ${after}),
    callers AS (
      SELECT t.caller, count(*) AS calls FROM tool_calls t, next n WHERE t.account_key = n.account_key GROUP BY t.caller),
    surplus AS (SELECT least(${most}::bigint, greatest(sum(calls) - ${kept}::bigint, 0)) AS calls FROM callers),
    gone AS (
      DELETE FROM tool_calls WHERE id IN (
        SELECT t.id FROM tool_calls t, next n
         WHERE t.account_key = n.account_key AND t.caller = (SELECT caller FROM callers ORDER BY calls DESC, caller LIMIT 1)
         ORDER BY t.id LIMIT (SELECT calls FROM surplus)) RETURNING id)
    SELECT n.account_key, (SELECT count(*)::integer FROM gone) AS removed FROM next n`.execute(db);
  const [row] = rows;
  return row === undefined || row.account_key === null ? null : { accountKey: row.account_key, removed: row.removed };
}
