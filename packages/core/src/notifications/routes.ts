// Notifications over HTTP: for the shell by session, for apps by their grants.
import type { DomainRoute, RouteQuery } from '@platform/contract';
import type { SessionCaller } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { HandlersOf } from '../http/handlers.ts';
import type { FrontendCaller, InstallationCaller } from '../installations/face.ts';
import type { EventRoute } from './events.ts';
import { markAllRead, markOneRead } from './mark-read.ts';
import { notificationPublisher } from './publish-notification.ts';
import { listNotifications, notificationOf, type Visibility } from './queries.ts';
import type { NotificationSettingsRoute } from './settings-routes.ts';

export type NotificationReader = SessionCaller | FrontendCaller | InstallationCaller;

/** The shell sees all of its account, an app the topics of its grant. */
export function visibilityOf(caller: NotificationReader): Visibility {
  const { accountKey } = caller;
  return { accountKey, topics: caller.kind === 'session' ? null : resourcesOf(caller.grants, 'notifications.read') };
}

export type NotificationRoute = Exclude<DomainRoute<'notifications'>, EventRoute | NotificationSettingsRoute>;

export function notificationRoutes(context: CoreContext): HandlersOf<NotificationRoute> {
  const publish = notificationPublisher(context);

  async function list(caller: NotificationReader, query: RouteQuery<'notifications.list'>) {
    const { topic, unread, limit, cursor } = query;
    const owner = caller.kind === 'session' ? caller.accountKey : caller.installationId;
    const name = `notifications:${owner}:${topic ?? ''}:${unread === 'true'}`;
    const before = cursor === undefined ? undefined : String(context.cursors.decode(name, cursor));
    const selection = { topic, unread: unread === 'true', before, limit: limit + 1 };
    const rows = await listNotifications(context.database, visibilityOf(caller), selection);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const nextCursor = rows.length > limit && last !== undefined ? context.cursors.encode(name, last.sequence) : null;
    return { status: 200, body: { items: page.map(notificationOf), nextCursor } };
  }

  async function read(caller: NotificationReader, id: Parameters<typeof markOneRead>[2]) {
    const record = await markOneRead(context, visibilityOf(caller), id);
    return { status: 200, body: { notification: notificationOf(record) } };
  }

  async function readAll(visibility: Visibility) {
    return { status: 200, body: { updated: await markAllRead(context, visibility) } };
  }

  return {
    'notifications.list': ({ caller, query }) => list(caller, query),
    'notifications.read': ({ caller, params }) => read(caller, params.id),
    'notifications.readAll': ({ caller, body }) =>
      readAll({ accountKey: caller.accountKey, topics: body?.topics ?? null }),
    'services.notifications.publish': async ({ caller, body }) => {
      const { record, created } = await publish(caller, body);
      return { status: created ? 201 : 200, body: { notification: notificationOf(record) } };
    },
    'services.notifications.list': ({ caller, query }) => list(caller, query),
    'services.notifications.read': ({ caller, params }) => read(caller, params.id),
    'services.notifications.readAll': ({ caller }) => readAll(visibilityOf(caller)),
  };
}
