// All SQL of followers. Time is the database's, so that the clocks of replicas and commands do not matter.

import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { notifyStatement, type SignalMap } from '../database/signals.ts';

type Executor = Kysely<DatabaseSchema>;

/** Stores how far a follower is, and notifies every replica. */
export async function upsertFollower(db: Executor, confirmed: SignalMap['carried-out']): Promise<void> {
  const { follows, followerId, revision } = confirmed;
  // Of one that is being removed meanwhile, nothing is stored.
  const members = sql.table(follows === 'topology' ? 'known_ingresses' : 'known_nodes');
  const [channel, payload] = notifyStatement('carried-out', confirmed).values;
  await sql`
    WITH stored AS (
      INSERT INTO followers (follows, follower_id, revision, at)
      SELECT ${follows}, id, ${revision}, clock_timestamp() FROM ${members} WHERE id = ${followerId} FOR KEY SHARE
      ON CONFLICT (follows, follower_id) DO UPDATE SET revision = EXCLUDED.revision, at = EXCLUDED.at)
    SELECT pg_notify(${channel}, ${payload})`.execute(db);
}

/** It is still there, and where it was. */
export async function touchFollower(db: Executor, follows: string, followerId: string): Promise<void> {
  await sql`
    UPDATE followers SET at = clock_timestamp() WHERE follows = ${follows} AND follower_id = ${followerId}`.execute(db);
}

/** Those of some followers, or of all, that are there and have not reached the revision. */
export async function pendingFollowers(
  db: Executor,
  waited: {
    readonly follows: string;
    readonly revision: bigint;
    /** `null` for all. */
    readonly followerIds: readonly string[] | null;
    readonly silentMilliseconds: number;
  },
): Promise<string[]> {
  const { follows, revision, followerIds, silentMilliseconds } = waited;
  const ids = followerIds === null ? null : [...followerIds];
  const { rows } = await sql<{ follower_id: string }>`
    SELECT follower_id FROM followers
     WHERE follows = ${follows} AND revision < ${revision}
       AND at > clock_timestamp() - make_interval(secs => ${silentMilliseconds / 1_000})
       AND (${ids}::text[] IS NULL OR follower_id = ANY (${ids}::text[]))`.execute(db);
  return rows.map(({ follower_id }) => follower_id);
}

/** Forgets followers that were silent for so long, by PostgreSQL's clock and by core's time. */
export async function deleteSilentFollowers(
  db: Executor,
  { silentMilliseconds, proven }: { readonly silentMilliseconds: number; readonly proven: ProvenTime },
): Promise<void> {
  await sql`
    DELETE FROM followers
     WHERE at < least(clock_timestamp(), ${proven}::timestamptz) - make_interval(secs => ${silentMilliseconds / 1_000})`.execute(
    db,
  );
}

export async function deleteFollower(db: Executor, follows: string, followerId: string): Promise<void> {
  await sql`DELETE FROM followers WHERE follows = ${follows} AND follower_id = ${followerId}`.execute(db);
}
