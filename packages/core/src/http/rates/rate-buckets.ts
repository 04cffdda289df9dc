// The token buckets that all replicas share, one row for each caller and kind of route: all SQL of rates.

import { limits } from '@platform/contract';
import type pg from 'pg';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { Rate } from '../../config/rates.ts';

export interface BucketRequest {
  readonly kind: string;
  readonly subject: string;
  readonly rate: Rate;
  /** Whole tokens, at least one and no more than the burst. */
  readonly wanted: number;
  /** Tokens that were taken before and not used. */
  readonly returned: number;
  readonly now: Date;
}

export interface Taken {
  /** No more than wanted, and none when the bucket is empty. */
  readonly taken: number;
  /** What is left, a fraction when nothing could be taken. */
  readonly left: number;
}

// A replica whose clock is ahead fills the bucket once by the difference; one whose clock is behind fills nothing. A bucket
// that is further ahead than clocks may differ, also of PostgreSQL's, was used by a clock that has been set back since: it is full.
const IS_AHEAD = `b.at > GREATEST($7::timestamptz, clock_timestamp()) + interval '${limits.clockTolerance.value} seconds'`;
const AVAILABLE = `CASE WHEN ${IS_AHEAD} THEN $4::float8 ELSE LEAST($4::float8, b.tokens + $6::float8
  + GREATEST(0, EXTRACT(EPOCH FROM $7::timestamptz - b.at))::float8 * $3::float8 / 60) END`;
const TAKE = `
INSERT INTO rate_buckets AS b (kind, subject, tokens, taken, at)
VALUES ($1, $2, $4::float8 - $5::integer, $5::integer, $7::timestamptz)
ON CONFLICT (kind, subject) DO UPDATE SET
  tokens = ${AVAILABLE} - LEAST($5::integer, floor(${AVAILABLE})),
  taken = LEAST($5::integer, floor(${AVAILABLE})),
  at = CASE WHEN ${IS_AHEAD} THEN $7::timestamptz ELSE GREATEST(b.at, $7::timestamptz) END
RETURNING taken, tokens`;

export async function takeFromBucket(pool: pg.Pool, request: BucketRequest): Promise<Taken> {
  const { kind, subject, rate, wanted, returned, now } = request;
  const { rows } = await pool.query<{ taken: number; tokens: number }>({
    name: 'take-from-bucket',
    text: TAKE,
    values: [kind, subject, rate.perMinute, rate.burst, wanted, returned, now],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('a rate bucket was neither made nor found');
  return { taken: row.taken, left: row.tokens };
}

/**
 * Removes a bounded number of buckets that were not used since `before`; a missing bucket counts as full.
 *
 * @param slow kinds with a time of their own
 * @returns how many were removed
 */
export async function removeIdleBuckets(
  pool: pg.Pool,
  before: ProvenTime,
  most: number,
  slow: { readonly kinds: readonly string[]; readonly before: ProvenTime } = { kinds: [], before },
): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM rate_buckets WHERE (kind, subject) IN (
       SELECT kind, subject FROM rate_buckets
        WHERE at < $1 AND (kind <> ALL ($3::text[]) OR at < $4) ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [before, most, slow.kinds, slow.before],
  );
  return rowCount ?? 0;
}
