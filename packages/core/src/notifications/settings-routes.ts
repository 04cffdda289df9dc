// The settings of notifications over HTTP, for the shell.
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { changeNotificationSettings, readNotificationSettings } from './settings.ts';

export type NotificationSettingsRoute = 'notificationSettings.read' | 'notificationSettings.change';

export function notificationSettingsRoutes(context: CoreContext): HandlersOf<NotificationSettingsRoute> {
  return {
    'notificationSettings.read': async ({ caller }) => ({
      status: 200,
      body: await readNotificationSettings(context.database, caller.accountKey),
    }),
    'notificationSettings.change': async ({ caller, body }) => ({
      status: 200,
      body: await changeNotificationSettings(context, caller.accountKey, body),
    }),
  };
}
