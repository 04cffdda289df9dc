// The notifications domain: publishing, reading, settings, live streams and retention.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { notificationFiles } from './account-files.ts';
import { countSeen, countSentBy } from './count-queries.ts';
import { notificationEmissions } from './emissions.ts';
import { type EventRoute, eventRoutes } from './events.ts';
import { notificationRetention } from './retention.ts';
import { type NotificationRoute, notificationRoutes } from './routes.ts';
import { publishingNotices, queueNotice } from './security-notices.ts';
import { type NotificationSettingsRoute, notificationSettingsRoutes } from './settings-routes.ts';
import { notificationTools } from './tools.ts';

export function notificationDomain(
  context: CoreContext,
): Domain<NotificationRoute | NotificationSettingsRoute | EventRoute> {
  return {
    handlers: {
      ...notificationRoutes(context),
      ...notificationSettingsRoutes(context),
      ...eventRoutes(context),
    },
    emits: notificationEmissions(context),
    workers: [notificationRetention(context)],
    tools: notificationTools,
    opens: {
      'notifications.publish': async ({ installationId }) => [await countSentBy(context.database, installationId)],
      'notifications.read': async ({ accountKey, resources }) => [
        await countSeen(context.database, { accountKey, topics: resources }),
      ],
    },
    jobs: [publishingNotices(context)],
    securityEvent: (trx, by, event) => queueNotice(context, trx, by, event),
    filesOf: ({ accountKey }) => notificationFiles(context, accountKey),
    gauges: [{ name: 'platform_core_live_streams', read: () => context.streams.size }],
  };
}
