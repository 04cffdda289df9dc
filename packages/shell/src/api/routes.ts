// The routes this page calls. Paths are repeated as text because the contract's table carries zod; the types compare
// every one with that table, so a route that moves is an error of the compiler here.
import type { RouteId, routes } from '@platform/contract';

type RouteLine<Id extends RouteId> = `${(typeof routes)[Id]['method']} ${(typeof routes)[Id]['path']}`;

export const shellRoutes = {
  'auth.register.options': 'POST /v1/auth/register/options',
  'auth.register.verify': 'POST /v1/auth/register/verify',
  'auth.login.options': 'POST /v1/auth/login/options',
  'auth.login.verify': 'POST /v1/auth/login/verify',
  'auth.enrol.options': 'POST /v1/auth/enrol/options',
  'auth.enrol.verify': 'POST /v1/auth/enrol/verify',
  'auth.session': 'GET /v1/auth/session',
  'auth.logout': 'POST /v1/auth/logout',
  'auth.passkeys.list': 'GET /v1/auth/passkeys',
  'auth.passkeys.options': 'POST /v1/auth/passkeys/options',
  'auth.passkeys.verify': 'POST /v1/auth/passkeys/verify',
  'auth.passkeys.label': 'PATCH /v1/auth/passkeys/:id',
  'auth.passkeys.remove': 'DELETE /v1/auth/passkeys/:id',
  'auth.sessions.list': 'GET /v1/auth/sessions',
  'auth.sessions.revoke': 'DELETE /v1/auth/sessions/:id',
  'catalog.list': 'GET /v1/catalog',
  'catalog.read': 'GET /v1/catalog/:appId',
  'apps.list': 'GET /v1/apps',
  'apps.install': 'POST /v1/apps',
  'apps.uninstall': 'DELETE /v1/apps/:appId',
  'apps.launch': 'POST /v1/apps/:appId/launch',
  'apps.start': 'POST /v1/apps/:appId/start',
  'apps.stop': 'POST /v1/apps/:appId/stop',
  'apps.status': 'GET /v1/apps/:appId/status',
  'apps.logs': 'GET /v1/apps/:appId/logs',
  'apps.upgrade': 'POST /v1/apps/:appId/upgrade',
  'apps.permissions.read': 'GET /v1/apps/:appId/permissions',
  'apps.permissions.replace': 'PUT /v1/apps/:appId/permissions',
  'disk.read': 'GET /v1/account/disk',
  'volumes.delete': 'DELETE /v1/account/volumes/:appId',
  'catalog.withdraw': 'DELETE /v1/catalog/:appId/versions/:version',
  'runtime.read': 'GET /v1/runtime',
  'runtime.pause': 'POST /v1/runtime/pause',
  'runtime.resume': 'POST /v1/runtime/resume',
  'notifications.list': 'GET /v1/notifications',
  'notifications.read': 'POST /v1/notifications/:id/read',
  'notifications.readAll': 'POST /v1/notifications/read-all',
  'notificationSettings.read': 'GET /v1/account/notification-settings',
  'notificationSettings.change': 'PATCH /v1/account/notification-settings',
  'push.key': 'GET /v1/push/key',
  'push.list': 'GET /v1/push/subscriptions',
  'push.subscribe': 'POST /v1/push/subscriptions',
  'push.unsubscribe': 'DELETE /v1/push/subscriptions',
  'search.query': 'GET /v1/search',
} as const satisfies { [Id in RouteId]?: RouteLine<Id> };

export type ShellRoute = keyof typeof shellRoutes;
