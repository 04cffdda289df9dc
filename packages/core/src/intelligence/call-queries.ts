// The SQL of calls: prepared statements on the bare pool, one for each step of a call.

import type { InstallationId } from '@platform/contract';
import type pg from 'pg';
import type { ProvenTime } from '../clock/clock-guard.ts';

export interface CallRequest {
  readonly installationId: InstallationId;
  readonly provider: string;
  /** Empty for none. */
  readonly model: string;
  /** Whether its grants allow it: a call that they do not counts in the rate alone. */
  readonly allowed: boolean;
  readonly hasPlatformKey: boolean;
  /** Label of the nodes where the platform's key may be used. */
  readonly hostingLabel: string;
  /** The operator's, which the owner of the app may have lowered. */
  readonly requestsPerMinute: number;
  readonly monthlyTokens: number;
  readonly estimatedInput: number;
  /** `null`: as many as `defaultOutput`, or what is left. */
  readonly outputLimit: number | null;
  readonly defaultOutput: number;
  readonly reservation: string;
  readonly now: Date;
  /** First day, `2026-11-01`. */
  readonly month: string;
  readonly dueAt: Date;
}

export interface CallDecision {
  /** Whose key counts; `null` when there is none. */
  readonly source: 'account' | 'platform' | null;
  /** The own key of the account. */
  readonly sealed: Buffer | null;
  /** The node has the hosting label. */
  readonly hosted: boolean;
  /** `false`: the rate is gone. */
  readonly taken: boolean;
  /** Calls that it may still make at once, a fraction. */
  readonly bucket: number;
  readonly perMinute: number;
  /** Tokens reserved; `null` for none. */
  readonly granted: number | null;
  /** Tokens of the month that were left before. */
  readonly left: number;
}

interface DecisionRow extends Omit<CallDecision, 'granted' | 'left' | 'perMinute' | 'taken' | 'bucket'> {
  readonly taken: boolean | null;
  readonly bucket: number | null;
  readonly per_minute: number | null;
  readonly granted: string | null;
  readonly left: string | null;
}

// The row of the installation orders its calls: what one of them takes, the next one sees. The inner selects are computed
// again on the row as it is when its lock is held.
const AUTHORIZE = `
WITH facts AS MATERIALIZED (
  SELECT i.id, k.sealed, coalesce($6::text = ANY (n.labels), false) AS hosted,
         CASE coalesce(k.source, CASE WHEN k.sealed IS NULL THEN 'platform' ELSE 'account' END)
           WHEN 'account' THEN CASE WHEN k.sealed IS NOT NULL THEN 'account' END
           ELSE CASE WHEN $5::boolean THEN 'platform' END END AS source
    FROM installed_apps i
    LEFT JOIN known_nodes n ON n.id = i.node_id
    LEFT JOIN intelligence_keys k ON k.account_key = i.account_key AND k.provider = $2
   WHERE i.id = $1
), meter AS (
  UPDATE intelligence_meters m
     SET (bucket, bucket_at, taken, month, used, reserved, requests, granted) = (
           SELECT c.bucket - c.taken::integer, greatest(m.bucket_at, $13::timestamptz), c.taken, c.month, c.used,
                  c.reserved + coalesce(g.granted, 0), c.requests, g.granted
             FROM (SELECT b.bucket, b.bucket >= 1 AS taken, greatest(m.month, $14::date) AS month,
                          CASE WHEN m.month >= $14::date THEN m.used ELSE 0 END AS used,
                          CASE WHEN m.month >= $14::date THEN m.reserved ELSE 0 END AS reserved,
                          CASE WHEN m.month >= $14::date THEN m.requests ELSE 0 END AS requests
                     FROM (SELECT least(r.per_minute, m.bucket + r.per_minute / 60
                                    * greatest(0, extract(epoch FROM $13::timestamptz - m.bucket_at)::float8)) AS bucket
                             FROM (SELECT least($7::float8, m.requests_per_minute) AS per_minute) r) b) c,
                  LATERAL (SELECT least($8::bigint, m.monthly_tokens) - c.used - c.reserved AS left) l,
                  LATERAL (SELECT CASE
                             WHEN NOT c.taken OR NOT $4::boolean OR f.source IS NULL
                               OR f.source = 'platform' AND NOT f.hosted THEN NULL
                             WHEN $10::bigint IS NULL
                               THEN CASE WHEN $9::bigint < l.left THEN $9 + least($11::bigint, l.left - $9) END
                             WHEN $9 + $10 <= greatest(l.left, 0) THEN $9 + $10
                           END AS granted) g)
    FROM facts f
   WHERE m.installation_id = f.id
  RETURNING m.taken, m.bucket, m.month, m.granted, least($7::float8, m.requests_per_minute) AS per_minute,
            least($8::bigint, m.monthly_tokens) - m.used - m.reserved + coalesce(m.granted, 0) AS left
), reservation AS (
  INSERT INTO intelligence_reservations (id, installation_id, month, provider, model, tokens, estimated_input, due_at)
  SELECT $12, $1, month, $2, $3, granted, $9, $15 FROM meter WHERE granted IS NOT NULL
)
SELECT f.source, f.sealed, f.hosted, m.taken, m.bucket, m.per_minute, m.granted::text, m.left::text
  FROM facts f LEFT JOIN meter m ON true`;

/** Decides about one call and reserves its tokens, in one statement; `undefined` when the app was removed. */
export async function authorizeCall(pool: pg.Pool, request: CallRequest): Promise<CallDecision | undefined> {
  const row = (await decide(pool, request)) ?? undefined;
  if (row === undefined || row.taken !== null) return row === undefined ? undefined : decisionOf(row);
  // Its first call.
  await pool.query(
    `INSERT INTO intelligence_meters (installation_id, bucket, bucket_at, month) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [request.installationId, request.requestsPerMinute, request.now, request.month],
  );
  const again = await decide(pool, request);
  return again === undefined ? undefined : decisionOf(again);
}

async function decide(pool: pg.Pool, request: CallRequest): Promise<DecisionRow | undefined> {
  const { rows } = await pool.query<DecisionRow>({
    name: 'authorize-intelligence',
    text: AUTHORIZE,
    values: [
      request.installationId,
      request.provider,
      request.model,
      request.allowed,
      request.hasPlatformKey,
      request.hostingLabel,
      request.requestsPerMinute,
      request.monthlyTokens,
      request.estimatedInput,
      request.outputLimit,
      request.defaultOutput,
      request.reservation,
      request.now,
      request.month,
      request.dueAt,
    ],
  });
  return rows[0];
}

function decisionOf({ source, sealed, hosted, taken, bucket, per_minute, granted, left }: DecisionRow): CallDecision {
  return {
    source,
    sealed,
    hosted,
    taken: taken === true,
    bucket: bucket ?? 0,
    perMinute: per_minute ?? 1,
    granted: granted === null ? null : Number(granted),
    left: Number(left ?? 0),
  };
}

/** What is added to the month of a reservation that is over. */
const BOOK = `
, meter AS (
  UPDATE intelligence_meters m
     SET used = m.used + g.input + g.output, requests = m.requests + g.requests, reserved = m.reserved - g.held
    FROM gone g WHERE m.installation_id = g.installation_id AND m.month = g.month
), counted AS (
  INSERT INTO intelligence_usage AS u (installation_id, month, provider, model, requests, input_tokens, output_tokens)
  SELECT g.installation_id, g.month, g.provider,
         CASE WHEN k.models < $1::integer OR k.known THEN g.model ELSE '(other)' END, g.requests, g.input, g.output
    FROM gone g,
         LATERAL (SELECT count(*) AS models, coalesce(bool_or(e.provider = g.provider AND e.model = g.model), false) AS known
                    FROM intelligence_usage e WHERE e.installation_id = g.installation_id AND e.month = g.month) k
   WHERE g.requests <> 0 OR g.input <> 0 OR g.output <> 0
  ON CONFLICT (installation_id, month, provider, model) DO UPDATE
     SET requests = u.requests + EXCLUDED.requests, input_tokens = u.input_tokens + EXCLUDED.input_tokens,
         output_tokens = u.output_tokens + EXCLUDED.output_tokens
)
SELECT count(*)::integer AS settled`;

// Its commit does not wait for the disk: the next call of the app waits for the row of the meter.
const SETTLE = `
WITH ended AS (
  DELETE FROM intelligence_reservations WHERE id = $2 AND installation_id = $3 RETURNING *
), gone AS (
  SELECT installation_id, month, provider, model,
         CASE WHEN charged THEN 0 ELSE tokens END AS held,
         $4::bigint - CASE WHEN charged THEN estimated_input ELSE 0 END AS input,
         $5::bigint - CASE WHEN charged THEN tokens - estimated_input ELSE 0 END AS output,
         $6::boolean::integer - charged::integer AS requests
    FROM ended
)${BOOK}, set_config('synchronous_commit', 'off', true) FROM gone`;

/**
 * Ends a reservation with what was used, also one that was charged already. Nothing for an unknown one. It is durable
 * after the next flush.
 */
export async function settleCall(
  pool: pg.Pool,
  call: {
    readonly reservation: string;
    readonly installationId: InstallationId;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly reached: boolean;
    readonly mostModels: number;
  },
): Promise<void> {
  const { mostModels, reservation, installationId, inputTokens, outputTokens, reached } = call;
  await pool.query({
    name: 'settle-intelligence',
    text: SETTLE,
    values: [mostModels, reservation, installationId, inputTokens, outputTokens, reached],
  });
}

/** Calls that are still under way. One that was charged in full is corrected when it ends. */
export async function renewCalls(
  pool: pg.Pool,
  installationId: InstallationId,
  reservations: readonly string[],
  dueAt: Date,
): Promise<void> {
  await pool.query(
    `UPDATE intelligence_reservations SET due_at = $3
      WHERE installation_id = $1 AND id = ANY ($2::text[]) AND NOT charged`,
    [installationId, reservations, dueAt],
  );
}

const CHARGE = `
WITH due AS (
  SELECT id FROM intelligence_reservations
   WHERE NOT charged AND due_at <= $2 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
), ended AS (
  UPDATE intelligence_reservations r SET charged = true, due_at = $3 FROM due WHERE r.id = due.id RETURNING r.*
), gone AS (
  SELECT installation_id, month, provider, model, tokens AS held, estimated_input AS input,
         tokens - estimated_input AS output, 1 AS requests
    FROM ended
)${BOOK} FROM gone`;

/**
 * Charges one reservation in full whose time is over. One at a time, so that two replicas never wait for each other.
 *
 * @returns false when there was none
 */
export async function chargeOverdue(
  pool: pg.Pool,
  {
    proven,
    forgottenAt,
    mostModels,
  }: { readonly proven: ProvenTime; readonly forgottenAt: Date; readonly mostModels: number },
): Promise<boolean> {
  const { rows } = await pool.query<{ settled: number }>({
    name: 'charge-intelligence',
    text: CHARGE,
    values: [mostModels, proven, forgottenAt],
  });
  return (rows[0]?.settled ?? 0) > 0;
}

/** @returns how many were removed */
export async function forgetCharged(pool: pg.Pool, proven: ProvenTime, most: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM intelligence_reservations WHERE id IN (
       SELECT id FROM intelligence_reservations WHERE charged AND due_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [proven, most],
  );
  return rowCount ?? 0;
}
