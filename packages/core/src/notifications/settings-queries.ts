// All SQL of the settings and mutes of notifications.
import type { NotificationMute, NotificationSettings } from '@platform/contract';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;
type Surfaces = Omit<NotificationSettings, 'muted'>;

export async function selectSettings(db: Executor, accountKey: string): Promise<Surfaces> {
  const row = await db
    .selectFrom('notification_settings')
    .select(['system', 'web_push as webPush', 'flashes'])
    .where('account_key', '=', accountKey)
    .executeTakeFirst();
  return row ?? { system: true, webPush: true, flashes: true };
}

export async function selectMutes(db: Executor, accountKey: string): Promise<NotificationMute[]> {
  return await db
    .selectFrom('notification_mutes')
    .select(['app_id as appId', 'topic'])
    .where('account_key', '=', accountKey)
    .orderBy('app_id')
    .orderBy(sql`topic NULLS FIRST`)
    .execute();
}

/** Sets what is given and leaves the rest. */
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

export async function selectSurfaces(
  db: Executor,
  accountKey: string,
  { appId, topic }: { readonly appId: string; readonly topic: string },
): Promise<{ system: boolean; webPush: boolean; flash: boolean; muted: boolean }> {
  const settings = await selectSettings(db, accountKey);
  const mute = await db
    .selectFrom('notification_mutes')
    .select('app_id')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .where((either) => either.or([either('topic', 'is', null), either('topic', '=', topic)]))
    .executeTakeFirst();
  return { system: settings.system, webPush: settings.webPush, flash: settings.flashes, muted: mute !== undefined };
}
