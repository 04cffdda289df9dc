// All SQL of the operator's placement rules and of reserved labels.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { grantedBackend } from '../grants/granted-backend.ts';

type Executor = Kysely<DatabaseSchema>;

/** The account and app whose backend is to be placed. */
export interface Owner {
  readonly accountKey: string;
  readonly appId: string;
}

interface Subject {
  readonly accountKey: string | null;
  readonly appId: string | null;
}

/** The rules that apply to this owner's backends, as rows `r`. */
function rulesFor({ accountKey, appId }: Owner | typeof ownerOfRow): RawBuilder<unknown> {
  return sql`placement_rules r
     WHERE (r.account_key IS NULL OR r.account_key = ${accountKey}) AND (r.app_id IS NULL OR r.app_id = ${appId})`;
}

/** Of an installation `i` of the statement. */
const ownerOfRow = { accountKey: sql.ref('i.account_key'), appId: sql.ref('i.app_id') } as const;

/** Whether the node `n` has every label required for the owner, and is not reserved for others. */
export function meetsRules(owner: Owner): RawBuilder<boolean> {
  return sql<boolean>`
    NOT EXISTS (SELECT 1 FROM ${rulesFor(owner)} AND NOT r.label = ANY (n.labels)) AND NOT ${keptFromOwner(owner)}`;
}

/** Whether the node `n` has a reserved label that is not required for the owner. */
export function keptFromOwner(owner: Owner): RawBuilder<boolean> {
  return sql<boolean>`
    EXISTS (SELECT 1 FROM reserved_labels l
             WHERE l.label = ANY (n.labels) AND NOT EXISTS (SELECT 1 FROM ${rulesFor(owner)} AND r.label = l.label))`;
}

/** The labels that rules require for the owner's backends, sorted. */
export async function demandedLabels(db: Executor, owner: Owner): Promise<string[]> {
  const { rows } = await sql<{ label: string }>`
    SELECT DISTINCT r.label FROM ${rulesFor(owner)} ORDER BY r.label`.execute(db);
  return rows.map(({ label }) => label);
}

export interface RuleRow {
  readonly label: string;
  readonly account: string | null;
  readonly appId: string | null;
  /** Nodes that have the label. */
  readonly nodes: number;
}

/** All placement rules by label; `null` as account or app means all of them. */
export async function selectRules(db: Executor): Promise<RuleRow[]> {
  const { rows } = await sql<RuleRow>`
    SELECT r.label, a.name AS account, r.app_id AS "appId",
           (SELECT count(*)::integer FROM known_nodes n WHERE r.label = ANY (n.labels)) AS nodes
      FROM placement_rules r LEFT JOIN account_states a ON a.key = r.account_key
     ORDER BY r.label, a.name NULLS FIRST, r.app_id NULLS FIRST`.execute(db);
  return rows;
}

/** Adds a rule, unless it exists. */
export async function insertRule(db: Executor, label: string, { accountKey, appId }: Subject): Promise<void> {
  await sql`
    INSERT INTO placement_rules (label, account_key, app_id) VALUES (${label}, ${accountKey}, ${appId})
    ON CONFLICT DO NOTHING`.execute(db);
}

/** Deletes exactly this rule. @returns whether it existed */
export async function deleteRule(db: Executor, label: string, { accountKey, appId }: Subject): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM placement_rules
     WHERE label = ${label} AND account_key IS NOT DISTINCT FROM ${accountKey} AND app_id IS NOT DISTINCT FROM ${appId}
  `.execute(db);
  return numAffectedRows === 1n;
}

export interface ReservedLabelRow {
  readonly label: string;
  /** Nodes that have the label. */
  readonly nodes: number;
  /** Backends on those nodes that do not require it, placed before the reservation. */
  readonly strangers: number;
}

/** All reserved labels, sorted. */
export async function selectReservedLabels(db: Executor): Promise<ReservedLabelRow[]> {
  const { rows } = await sql<ReservedLabelRow>`
    SELECT l.label, (SELECT count(*)::integer FROM known_nodes n WHERE l.label = ANY (n.labels)) AS nodes,
           (SELECT count(*)::integer
              FROM installed_apps i
              JOIN known_nodes n ON n.id = i.node_id
              JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
             WHERE l.label = ANY (n.labels) AND ${grantedBackend}
               AND NOT EXISTS (SELECT 1 FROM ${rulesFor(ownerOfRow)} AND r.label = l.label)) AS strangers
      FROM reserved_labels l ORDER BY l.label`.execute(db);
  return rows;
}

/** Reserves a label, unless it is reserved. */
export async function insertReservedLabel(db: Executor, label: string): Promise<void> {
  await sql`INSERT INTO reserved_labels (label) VALUES (${label}) ON CONFLICT DO NOTHING`.execute(db);
}

/** Ends the reservation of a label. @returns whether it was reserved */
export async function deleteReservedLabel(db: Executor, label: string): Promise<boolean> {
  const { numAffectedRows } = await sql`DELETE FROM reserved_labels WHERE label = ${label}`.execute(db);
  return numAffectedRows === 1n;
}
