// All SQL of the settings and mutes of notifications.
import type { NotificationMute, NotificationSettings } from '@platform/contract';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;
type Surfaces = Omit<NotificationSettings, 'muted'>;

/** The surfaces that an account allows. Default: all of them. */
export async function selectSettings(db: Executor, accountKey: string): Promise<Surfaces> {
  const row = await db
    .selectFrom('notification_settings')
    .select(['system', 'web_push as webPush', 'flashes'])
    .where('account_key', '=', accountKey)
    .executeTakeFirst();
  return row ?? { system: true, webPush: true, flashes: true };
}

/** The mutes of an account by app and topic; a `null` topic mutes the whole app. */
export async function selectMutes(db: Executor, accountKey: string): Promise<NotificationMute[]> {
  return await db
    .selectFrom('notification_mutes')
    .select(['app_id as appId', 'topic'])
    .where('account_key', '=', accountKey)
    .orderBy('app_id')
    .orderBy(sql`topic NULLS FIRST`)
    .execute();
}

/** Changes the given settings and leaves the others. */
export async function upsertSettings(
  trx: Transaction<DatabaseSchema>,
  accountKey: string,
  { system, webPush, flashes }: { readonly [Name in keyof Surfaces]?: boolean | undefined },
): Promise<void> {
  await sql`
    INSERT INTO notification_settings AS former (account_key, system, web_push, flashes)
    VALUES (${accountKey}, ${system ?? true}, ${webPush ?? true}, ${flashes ?? true})
    ON CONFLICT (account_key) DO UPDATE SET
      system = coalesce(${system ?? null}::boolean, former.system),
      web_push = coalesce(${webPush ?? null}::boolean, former.web_push),
      flashes = coalesce(${flashes ?? null}::boolean, former.flashes)`.execute(trx);
}

/** Replaces all mutes of the account with `mutes`. */
export async function replaceMutes(
  trx: Transaction<DatabaseSchema>,
  accountKey: string,
  mutes: readonly NotificationMute[],
): Promise<void> {
  await trx.deleteFrom('notification_mutes').where('account_key', '=', accountKey).execute();
  if (mutes.length === 0) return;
  const rows = mutes.map(({ appId, topic }) => ({ account_key: accountKey, app_id: appId, topic }));
  await trx.insertInto('notification_mutes').values(rows).execute();
}

/** Adds and removes single mutes in one statement; adding an existing or removing a missing one has no effect. */
export async function changeMutes(
  trx: Transaction<DatabaseSchema>,
  accountKey: string,
  { mute, unmute }: { readonly mute: readonly NotificationMute[]; readonly unmute: readonly NotificationMute[] },
): Promise<void> {
  const [apps, topics] = columnsOf(mute);
  const [otherApps, otherTopics] = columnsOf(unmute);
  await sql`
    WITH gone AS (
      DELETE FROM notification_mutes m USING unnest(${otherApps}::text[], ${otherTopics}::text[]) AS u (app_id, topic)
       WHERE m.account_key = ${accountKey} AND m.app_id = u.app_id AND m.topic IS NOT DISTINCT FROM u.topic)
    INSERT INTO notification_mutes (account_key, app_id, topic)
    SELECT ${accountKey}, app_id, topic FROM unnest(${apps}::text[], ${topics}::text[]) AS m (app_id, topic)
    ON CONFLICT DO NOTHING`.execute(trx);
}

function columnsOf(mutes: readonly NotificationMute[]): [appIds: string[], topics: (string | null)[]] {
  return [mutes.map(({ appId }) => appId), mutes.map(({ topic }) => topic)];
}

export interface Source {
  readonly accountKey: string;
  readonly appId: string;
  readonly topic: string;
}

/** One row for each source, in their order. */
export async function selectSurfaces(
  db: Executor,
  sources: readonly Source[],
): Promise<{ system: boolean; webPush: boolean; flash: boolean; muted: boolean }[]> {
  const { rows } = await sql<{ system: boolean; webPush: boolean; flash: boolean; muted: boolean }>`
    SELECT coalesce(s.system, true) AS system, coalesce(s.web_push, true) AS "webPush",
           coalesce(s.flashes, true) AS flash,
           EXISTS (SELECT FROM notification_mutes m
                    WHERE m.account_key = n.account_key AND m.app_id = n.app_id
                      AND (m.topic IS NULL OR m.topic = n.topic)) AS muted
      FROM unnest(${sources.map(({ accountKey }) => accountKey)}::text[],
                  ${sources.map(({ appId }) => appId)}::text[],
                  ${sources.map(({ topic }) => topic)}::text[]) WITH ORDINALITY AS n (account_key, app_id, topic, place)
      LEFT JOIN notification_settings s ON s.account_key = n.account_key
     ORDER BY n.place`.execute(db);
  return rows;
}
