// The SQL of launch and frontend capabilities: issued by a launch, used up by an exchange, each in one statement.

import type { Grant, InstallationId, Manifest } from '@platform/contract';
import type pg from 'pg';
import type { ProvenTime } from '../clock/clock-guard.ts';
import { grantedBackendText } from '../grants/granted-backend.ts';
import { BEHIND_NAT } from '../topology/face.ts';

export interface LaunchRow {
  readonly id: InstallationId;
  readonly host_label: string;
  readonly endpoint_id: string;
  readonly generation: number;
  readonly grants: Grant[];
  readonly frontend: Manifest['frontend'] | null;
  readonly has_workload: boolean;
  readonly inbound_origin: string | null;
  /** `null` without a node. */
  readonly node_local: boolean | null;
  readonly behind_nat: string | null;
  /** Whether its node asks about the capabilities of clients; nodes of former versions compare them with one. */
  readonly node_asks: boolean;
  readonly paused: boolean;
  /** False when the session has ended, and while the account is paused. */
  readonly live: boolean;
}

const ISSUE_LAUNCH = {
  name: 'issue-launch',
  text: `
    WITH target AS (
      SELECT id, app_id, version, host_label, endpoint_id, generation, grants, resources, node_id FROM installations
       WHERE account_key = $1 AND app_id = $2 AND removed_at IS NULL FOR SHARE),
    opened AS (
      SELECT t.*, v.manifest FROM target t
        JOIN published_versions v ON v.app_id = t.app_id AND v.version = t.version),
    expired AS (
      DELETE FROM frontend_capabilities f USING target t WHERE f.installation_id = t.id AND f.expires_at <= $8),
    surplus AS (
      DELETE FROM frontend_capabilities WHERE token_hash IN (
        SELECT f.token_hash FROM frontend_capabilities f JOIN target t ON t.id = f.installation_id
         WHERE f.session_id = $4 AND f.kind = 'frontend' AND f.expires_at > $5
         ORDER BY f.expires_at DESC OFFSET $7)),
    opener AS (
      SELECT s.id, s.expires_at FROM session_terms s JOIN account_states a ON a.key = s.account_key AND a.paused_at IS NULL
       WHERE s.id = $4 AND s.account_key = $1 AND s.expires_at > $5),
    issued AS (
      INSERT INTO frontend_capabilities (token_hash, kind, installation_id, session_id, expires_at)
      SELECT $3, 'launch', o.id, s.id, LEAST($6::timestamptz, s.expires_at)
        FROM opened o CROSS JOIN opener s WHERE o.manifest ? 'frontend')
    SELECT o.id, o.host_label, o.endpoint_id, o.generation, o.grants, o.manifest -> 'frontend' AS frontend,
           ${grantedBackendText('o', 'o')} AS has_workload, n.inbound_origin, n.local AS node_local, ${BEHIND_NAT} AS behind_nat,
           COALESCE(n.asks_capabilities, n.control_url IS NULL) AS node_asks, EXISTS (SELECT FROM opener) AS live,
           a.paused_at IS NOT NULL AS paused
      FROM opened o JOIN account_states a ON a.key = $1 LEFT JOIN known_nodes n ON n.id = o.node_id`,
};

/**
 * Stores a launch capability for an installed app with a frontend, and returns what its descriptor needs. Locks the installation against
 * concurrent removal, and deletes its expired capabilities and the oldest of too many of this session.
 */
export async function issueLaunch(
  pool: pg.Pool,
  launch: {
    readonly accountKey: string;
    readonly appId: string;
    readonly sessionId: string;
    readonly tokenHash: Buffer;
    readonly now: Date;
    /** The latest expiry; the session may end sooner. */
    readonly expiresAt: Date;
    /** How many frontend capabilities of this session and installation stay. */
    readonly kept: number;
    readonly proven: ProvenTime;
  },
): Promise<LaunchRow | undefined> {
  const { accountKey, appId, tokenHash, sessionId, now, expiresAt, kept, proven } = launch;
  const values = [accountKey, appId, tokenHash, sessionId, now, expiresAt, kept, proven];
  const { rows } = await pool.query<LaunchRow>({ ...ISSUE_LAUNCH, values });
  return rows[0];
}

/** Launch capabilities of current installations and sessions. */
const live = `
  SELECT f.token_hash, f.session_id, s.expires_at AS session_expires_at, i.id AS installation_id, i.app_id, i.host_label
    FROM frontend_capabilities f
    JOIN installations i ON i.id = f.installation_id AND i.removed_at IS NULL
    JOIN account_states a ON a.key = i.account_key AND a.suspended_at IS NULL
    JOIN session_terms s ON s.id = f.session_id AND s.expires_at > $2
   WHERE f.token_hash = $1 AND f.kind = 'launch' AND f.expires_at > $2`;

const USE_LAUNCH = {
  name: 'use-launch',
  text: `
    WITH live AS (${live} AND i.app_id = $5 AND i.host_label = $6 FOR SHARE OF i),
    used AS (DELETE FROM frontend_capabilities f USING live WHERE f.token_hash = live.token_hash RETURNING live.*)
    INSERT INTO frontend_capabilities (token_hash, kind, installation_id, session_id, expires_at)
    SELECT $3, 'frontend', installation_id, session_id, LEAST($4::timestamptz, session_expires_at) FROM used
    RETURNING expires_at`,
};

/**
 * Replaces a launch capability with a frontend capability, for the app whose host requests it. Deleting consumes it: of
 * concurrent exchanges one finds the row. Returns when the new one expires, or `undefined` when nothing was changed.
 */
export async function useLaunch(
  pool: pg.Pool,
  exchange: {
    readonly launchHash: Buffer;
    readonly frontendHash: Buffer;
    readonly appId: string;
    readonly hostLabel: string;
    readonly now: Date;
    /** The latest expiry; the session may end sooner. */
    readonly expiresAt: Date;
  },
): Promise<Date | undefined> {
  const { launchHash, now, frontendHash, expiresAt, appId, hostLabel } = exchange;
  const values = [launchHash, now, frontendHash, expiresAt, appId, hostLabel];
  const { rows } = await pool.query<{ readonly expires_at: Date }>({ ...USE_LAUNCH, values });
  return rows[0]?.expires_at;
}

const FIND_LAUNCH = { name: 'find-launch', text: live };

/** The owner of a launch capability that has not expired, or `undefined`. */
export async function findLaunch(
  pool: pg.Pool,
  launchHash: Buffer,
  now: Date,
): Promise<{ readonly app_id: string; readonly host_label: string } | undefined> {
  const { rows } = await pool.query<{ readonly app_id: string; readonly host_label: string }>({
    ...FIND_LAUNCH,
    values: [launchHash, now],
  });
  return rows[0];
}
