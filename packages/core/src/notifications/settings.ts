// A person's settings for the surfaces of notifications, and their effect on one record.
import { limits, type NotificationSettings, type RouteBody, refuse } from '@platform/contract';
import type { Kysely } from 'kysely';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import {
  changeMutes,
  replaceMutes,
  type Source,
  selectMutes,
  selectSettings,
  selectSurfaces,
  upsertSettings,
} from './settings-queries.ts';

type Executor = Kysely<DatabaseSchema>;

/** The surfaces that a record may use besides the inbox, where it always arrives. */
export interface AllowedSurfaces {
  readonly system: boolean;
  readonly webPush: boolean;
  /** Of a `high` record; `critical` ones always flash. */
  readonly flash: boolean;
}

export async function readNotificationSettings(db: Executor, accountKey: string): Promise<NotificationSettings> {
  // One after the other: `db` may be a transaction, which is one connection.
  const surfaces = await selectSettings(db, accountKey);
  return { ...surfaces, muted: await selectMutes(db, accountKey) };
}

export async function changeNotificationSettings(
  context: CoreContext,
  accountKey: string,
  { muted, mute = [], unmute = [], ...surfaces }: RouteBody<'notificationSettings.change'>,
): Promise<NotificationSettings> {
  return await context.database.transaction().execute(async (trx) => {
    // Holds the row until the end, so that two changes at once do not mix their mutes and each counts those before it.
    await upsertSettings(trx, accountKey, surfaces);
    if (muted !== undefined) await replaceMutes(trx, accountKey, muted);
    if (mute.length + unmute.length > 0) await changeMutes(trx, accountKey, { mute, unmute });
    const settings = await readNotificationSettings(trx, accountKey);
    const most = limits.notificationMutes.value;
    if (settings.muted.length > most) throw refuse('invalid_request', `At most ${most} apps and topics can be muted.`);
    await notify(trx, 'notification-settings-changed', { accountKey });
    return settings;
  });
}

/**
 * What each person allows for records of an app and topic, in the order of `sources`. The permission of the browser,
 * and how a record asks to be delivered, come on top. `db` may be the transaction in which the records are written.
 */
export async function allowedSurfaces(db: Executor, sources: readonly Source[]): Promise<AllowedSurfaces[]> {
  const all = await selectSurfaces(db, sources);
  return all.map(({ muted, ...surfaces }) => (muted ? { system: false, webPush: false, flash: false } : surfaces));
}
