// The SQL of installations on hot paths: prepared statements on the bare pool, one per query.
import type { Grant, InstallationId, Manifest, SystemRole, WorkloadTrigger } from '@platform/contract';
import type pg from 'pg';
import { grantedBackendText, unreviewedBackendText } from '../grants/granted-backend.ts';
import { BEHIND_NAT } from '../topology/face.ts';
import { homeOf } from './home-queries.ts';

/** What a list shows of an app: a few members of the installed version's manifest. */
export interface SummaryRow {
  readonly app_id: string;
  readonly version: string;
  readonly name: string;
  readonly summary: string;
  readonly icon: string | null;
}

export interface InstalledRow extends SummaryRow {
  /** `null` without a frontend. */
  readonly chrome: 'auto' | 'always' | 'never' | null;
  readonly has_workload: boolean;
  readonly has_unreviewed_workload: boolean;
  readonly requests_intelligence: boolean;
  readonly searches_web: boolean;
  readonly coming_soon: boolean;
  readonly newest: string | null;
  readonly home: boolean;
  readonly former: string | null;
  readonly system: boolean;
  readonly publisher: string | null;
  readonly installed_at: Date;
}

const summary = `
  v.app_id, v.version, v.manifest ->> 'name' AS name, v.manifest ->> 'summary' AS summary,
  v.manifest ->> 'icon' AS icon`;

const installed = `
  SELECT ${summary}, v.manifest #>> '{frontend,chrome}' AS chrome, ${grantedBackendText()} AS has_workload,
         ${unreviewedBackendText()} AS has_unreviewed_workload,
         v.manifest @> '{"permissions": [{"id": "intelligence.use"}]}' AS requests_intelligence,
         v.manifest @> '{"workload": {"runtime": "agent", "agent": {"webSearch": true}}}' AS searches_web,
         p.system AND v.manifest @> '{"categories": ["soon"]}' AS coming_soon,
         n.version AS newest, i.former_version AS former, i.app_id = ${homeOf('$1')} AS home, p.system, o.name AS publisher, i.installed_at
    FROM installations i
    JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
    JOIN published_apps p ON p.app_id = i.app_id
    LEFT JOIN published_versions n
           ON n.app_id = i.app_id AND n.newest
          AND (n.manifest ->> 'visibility' IS DISTINCT FROM 'private' OR p.owner_key = i.account_key)
    LEFT JOIN account_states o ON o.key = p.owner_key
   WHERE i.account_key = $1 AND i.removed_at IS NULL`;

const LIST_INSTALLED = {
  name: 'list-installed',
  text: `${installed} AND i.app_id > $2 ORDER BY i.app_id LIMIT $3`,
};

/** Installed apps after an app id, by app id. */
export async function listInstalled(
  pool: pg.Pool,
  accountKey: string,
  page: { readonly after: string; readonly limit: number },
): Promise<InstalledRow[]> {
  const { rows } = await pool.query<InstalledRow>({ ...LIST_INSTALLED, values: [accountKey, page.after, page.limit] });
  return rows;
}

const LIST_NAMES = {
  name: 'list-app-names',
  text: `
    SELECT ${summary}
      FROM installations i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.account_key = $1 AND i.removed_at IS NULL
     ORDER BY i.app_id LIMIT $2`,
};

/** The names of installed apps, by app id. */
export async function listNames(pool: pg.Pool, accountKey: string, limit: number): Promise<SummaryRow[]> {
  const { rows } = await pool.query<SummaryRow>({ ...LIST_NAMES, values: [accountKey, limit] });
  return rows;
}

const FIND_INSTALLED = { name: 'find-installed', text: `${installed} AND i.app_id = $2` };

/** An installed app of an account; `undefined` when it is not installed. */
export async function findInstalled(
  pool: pg.Pool,
  accountKey: string,
  appId: string,
): Promise<InstalledRow | undefined> {
  const { rows } = await pool.query<InstalledRow>({ ...FIND_INSTALLED, values: [accountKey, appId] });
  return rows[0];
}

const LIST_SUMMARIES = {
  name: 'list-app-summaries',
  text: `
    SELECT * FROM (
      SELECT ${summary}, true AS installed, s.state IS NOT DISTINCT FROM 'running' AS running
        FROM installations i
        JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
        LEFT JOIN backend_states s ON s.installation_id = i.id
       WHERE i.account_key = $1 AND i.removed_at IS NULL
      UNION ALL
      SELECT ${summary}, false, false
        FROM published_apps p
        JOIN published_versions v ON v.app_id = p.app_id AND v.newest
       WHERE p.owner_key = $1
         AND NOT EXISTS (SELECT FROM installations i
                          WHERE i.account_key = $1 AND i.app_id = p.app_id AND i.removed_at IS NULL)) AS own
     WHERE app_id > $2
       AND (app_id = ANY ($4::text[])
            OR EXISTS (SELECT FROM unnest($5::text[]) AS prefix WHERE starts_with(app_id, prefix)))
     ORDER BY app_id LIMIT $3`,
};

interface OwnRow extends SummaryRow {
  readonly installed: boolean;
  readonly running: boolean;
}

/** Apps that an account installed, or published and did not install, that match one of the ids or prefixes. */
export async function listSummariesOf(
  pool: pg.Pool,
  accountKey: string,
  page: { readonly after: string; readonly limit: number },
  visible: { readonly ids: readonly string[]; readonly prefixes: readonly string[] },
): Promise<OwnRow[]> {
  const values = [accountKey, page.after, page.limit, visible.ids, visible.prefixes];
  const { rows } = await pool.query<OwnRow>({ ...LIST_SUMMARIES, values });
  return rows;
}

export interface IdentityRow {
  readonly id: InstallationId;
  readonly account_key: string;
  readonly account_name: string;
  readonly app_id: string;
  readonly grants: Grant[];
  readonly paused: boolean;
}

/** What agents may do without a grant: a person approves each call that they propose (contract 4g). */
const OF_AGENTS: readonly Grant[] = [{ id: 'mcp.tools.propose', resources: ['*'] }];

/** Columns of an identity, and whose they are: `i` is the installation. */
export const identity = `
  i.id, i.account_key, a.name AS account_name, i.app_id,
  CASE WHEN EXISTS (SELECT FROM published_versions v
                     WHERE v.app_id = i.app_id AND v.version = i.version AND v.manifest #>> '{workload,runtime}' = 'agent')
       THEN i.grants || '${JSON.stringify(OF_AGENTS)}'::jsonb ELSE i.grants END AS grants,
  a.paused_at IS NOT NULL AS paused
    FROM installations i
    JOIN account_states a ON a.key = i.account_key AND a.suspended_at IS NULL`;

interface CoreCredentialRow extends IdentityRow {
  readonly epoch: string;
  readonly envelope_key: Buffer | null;
  readonly node_key: Buffer | null;
}

const FIND_BY_CORE_CREDENTIAL = {
  name: 'find-by-core-credential',
  text: `
    SELECT c.epoch, c.envelope_key, n.public_key AS node_key, ${identity}
      JOIN workload_credentials c ON c.installation_id = i.id AND c.node_id = i.node_id
      JOIN known_nodes n ON n.id = c.node_id
     WHERE c.token_hash = $1 AND i.removed_at IS NULL`,
};

/**
 * The installation that a core service credential belongs to, with the epoch of its start; `undefined` when the
 * credential is unknown, the app was removed or moved, or the account is suspended.
 */
export async function findByCoreCredential(pool: pg.Pool, tokenHash: Buffer): Promise<CoreCredentialRow | undefined> {
  const { rows } = await pool.query<CoreCredentialRow>({
    ...FIND_BY_CORE_CREDENTIAL,
    values: [tokenHash],
  });
  return rows[0];
}

const FIND_IDENTITY = { name: 'find-identity', text: `SELECT ${identity} WHERE i.id = $1 AND i.removed_at IS NULL` };

/** The installation, with what it was granted; `undefined` once it was removed, and while the account is suspended. */
export async function findIdentity(pool: pg.Pool, installationId: string): Promise<IdentityRow | undefined> {
  const { rows } = await pool.query<IdentityRow>({ ...FIND_IDENTITY, values: [installationId] });
  return rows[0];
}

interface FrontendRow extends IdentityRow {
  readonly session_id: string;
  readonly expires_at: Date;
  readonly host_label: string;
}

const FIND_BY_FRONTEND_CAPABILITY = {
  name: 'find-by-frontend-capability',
  text: `
    SELECT f.session_id, f.expires_at, i.host_label, ${identity}
      JOIN frontend_capabilities f ON f.installation_id = i.id
      JOIN session_terms s ON s.id = f.session_id AND s.account_key = i.account_key
     WHERE f.token_hash = $1 AND f.kind = 'frontend' AND f.expires_at > $2 AND s.expires_at > $2
       AND i.removed_at IS NULL`,
};

/**
 * The installation of a frontend capability; `undefined` when it is unknown, or it, its session or its app has ended.
 */
export async function findByFrontendCapability(
  pool: pg.Pool,
  tokenHash: Buffer,
  now: Date,
): Promise<FrontendRow | undefined> {
  const { rows } = await pool.query<FrontendRow>({ ...FIND_BY_FRONTEND_CAPABILITY, values: [tokenHash, now] });
  return rows[0];
}

const FIND_PAGE = {
  name: 'find-page',
  text: `
    SELECT i.host_label, ${identity}
     WHERE i.account_key = $1 AND i.app_id = $2 AND i.removed_at IS NULL`,
};

/** An installed app of an account; `undefined` for one that is not. */
export async function findPage(
  pool: pg.Pool,
  accountKey: string,
  appId: string,
): Promise<(IdentityRow & { readonly host_label: string }) | undefined> {
  const values = [accountKey, appId];
  const { rows } = await pool.query<IdentityRow & { readonly host_label: string }>({ ...FIND_PAGE, values });
  return rows[0];
}

const FIND_REQUEST = {
  name: 'find-request',
  text: `
    SELECT v.manifest ->> 'name' AS name, coalesce(v.manifest -> 'permissions', '[]') AS requested
      FROM installations i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.id = $1 AND i.removed_at IS NULL`,
};

/** The name of an installed app and what its version requests; `undefined` once it is removed. */
export async function findRequest(
  pool: pg.Pool,
  id: InstallationId,
): Promise<{ readonly name: string; readonly requested: readonly Grant[] } | undefined> {
  const { rows } = await pool.query<{ name: string; requested: Grant[] }>({ ...FIND_REQUEST, values: [id] });
  return rows[0];
}

const BEARS_SYSTEM_ROLE = {
  name: 'bears-system-role',
  text: `
    SELECT FROM installations i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      JOIN published_apps p ON p.app_id = i.app_id AND p.system
     WHERE i.id = $1 AND i.removed_at IS NULL AND v.manifest -> 'systemRoles' ? $2`,
};

/** Whether this is an app that comes with the platform, in a version that takes this role. */
export async function bearsSystemRole(pool: pg.Pool, id: InstallationId, role: SystemRole): Promise<boolean> {
  const { rowCount } = await pool.query({ ...BEARS_SYSTEM_ROLE, values: [id, role] });
  return rowCount === 1;
}

export interface TriggerRow {
  readonly id: InstallationId;
  readonly app_id: string;
  readonly name: string;
  readonly triggers: readonly WorkloadTrigger[];
}

const triggers = `
  SELECT i.id, i.app_id, v.manifest ->> 'name' AS name, coalesce(v.manifest #> '{workload,triggers}', '[]') AS triggers
    FROM installations i
    JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
   WHERE i.account_key = $1 AND i.removed_at IS NULL`;

const LIST_TRIGGERS = {
  name: 'list-triggers',
  text: `${triggers} AND jsonb_array_length(v.manifest #> '{workload,triggers}') > 0 ORDER BY name, i.app_id LIMIT $2`,
};

/** Installed apps whose version declares triggers, by name. */
export async function listTriggers(pool: pg.Pool, accountKey: string, limit: number): Promise<TriggerRow[]> {
  return (await pool.query<TriggerRow>({ ...LIST_TRIGGERS, values: [accountKey, limit] })).rows;
}

const FIND_TRIGGERS = { name: 'find-triggers', text: `${triggers} AND i.app_id = $2` };

/** What an installed app declares, which may be no trigger; `undefined` when it is not installed. */
export async function findTriggers(pool: pg.Pool, accountKey: string, appId: string): Promise<TriggerRow | undefined> {
  return (await pool.query<TriggerRow>({ ...FIND_TRIGGERS, values: [accountKey, appId] })).rows[0];
}

export interface HostRow {
  readonly id: InstallationId;
  readonly package_hash: string;
  readonly frontend: NonNullable<Manifest['frontend']>;
  readonly grants: Grant[];
  readonly has_workload: boolean;
  /** The address of its node; `null` before the node registered. */
  readonly inbound_origin: string | null;
  /** `null` without a node. */
  readonly node_local: boolean | null;
  readonly behind_nat: string | null;
}

const FIND_BY_HOST = {
  name: 'find-by-host',
  text: `
    SELECT i.id, v.package_hash, v.manifest -> 'frontend' AS frontend, i.grants,
           ${grantedBackendText()} AS has_workload, n.inbound_origin, n.local AS node_local,
           ${BEHIND_NAT} AS behind_nat
      FROM installations i
      JOIN account_states a ON a.key = i.account_key AND a.suspended_at IS NULL
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN known_nodes n ON n.id = i.node_id
     WHERE i.host_label = $1 AND i.app_id = $2 AND i.removed_at IS NULL AND v.manifest ? 'frontend'`,
};

/** The installation with a frontend whose app host this is. */
export async function findByHost(pool: pg.Pool, hostLabel: string, appId: string): Promise<HostRow | undefined> {
  const { rows } = await pool.query<HostRow>({ ...FIND_BY_HOST, values: [hostLabel, appId] });
  return rows[0];
}
