// The route table: for every route its callers, grant, resource, body and rate limit (architecture, rule 3).
// Core enforces exactly this; openapi.json is made from it; a test walks it with every kind of caller.
import * as z from 'zod';
import { accountRuntime } from './account-runtime.ts';
import * as accounts from './accounts.ts';
import * as catalog from './catalog.ts';
import { permissionsBody, permissionsView } from './grants.ts';
import * as installations from './installations.ts';
import { limits } from './limits.ts';
import * as node from './node.ts';
import { changeNotificationSettingsBody, notificationSettings } from './notification-settings.ts';
import * as notifications from './notifications.ts';
import type { PermissionId } from './permissions.ts';
import { appId, installationId, notificationId, page, pageQuery, version, workLeaseId } from './primitives.ts';
import * as push from './push.ts';
import * as search from './search.ts';
import { systemInventory } from './system-inventory.ts';
import * as leases from './work-leases.ts';

/** Who may call: `anonymous` needs no credential; every other kind is made from exactly one credential. */
export type CallerKind = 'anonymous' | 'session' | 'frontend' | 'installation' | 'node';

export type RateLimitName = 'authentication' | 'session' | 'notification' | 'searchWrite' | 'service' | 'none';

type Shape = z.ZodType;

export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  readonly callers: readonly CallerKind[];
  /**
   * `shell`: the request's Origin must equal the configured origin. `app`: it must be the origin of an app of this
   * platform (the handler compares it with the exact one). Frontend callers are always held to their own origin.
   */
  readonly origin?: 'shell' | 'app';
  /**
   * For `frontend` and `installation` callers. `self` and `*` are taken literally; `{ body }` names a member of the
   * body; `any` asks for the grant with whatever resources, and the domain filters by them.
   */
  readonly grant?: { readonly id: PermissionId; readonly resource: 'self' | '*' | 'any' | { readonly body: string } };
  readonly params?: Shape;
  readonly query?: Shape;
  readonly body?:
    | { readonly schema: Shape; readonly limit: number }
    | { readonly mediaType: string; readonly limit: number };
  /** Success statuses and their bodies; `null` is no body, a string is the media type of a stream. */
  readonly answers: Readonly<Record<number, Shape | null | string>>;
  readonly rate: RateLimitName;
}

function json<Schema extends Shape>(schema: Schema, limit: number = limits.bodyDefault.value) {
  return { schema, limit };
}

const ofApp = z.strictObject({ appId });
const ofId = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[\w-]+$/),
});
const ofNotification = z.strictObject({ id: notificationId });
const ofInstallation = z.strictObject({ id: installationId });
const ofWorkLease = z.strictObject({ id: workLeaseId });
const items = <Item extends Shape>(item: Item) => z.strictObject({ items: z.array(item), nextCursor: z.null() });
const appsPage = page(installations.installedApp);

export const routes = {
  'health.read': {
    method: 'GET',
    path: '/v1/health',
    summary: 'Whether this replica can answer',
    callers: ['anonymous'],
    answers: { 200: z.strictObject({ status: z.literal('ok'), version: z.string() }) },
    rate: 'none',
  },

  // Accounts, passkeys, sessions (specification 4.10)
  'auth.register.options': {
    method: 'POST',
    path: '/v1/auth/register/options',
    summary: 'Begin to register an account',
    callers: ['anonymous'],
    origin: 'shell',
    body: json(accounts.registerOptionsBody),
    answers: { 200: accounts.ceremonyOptions },
    rate: 'authentication',
  },
  'auth.register.verify': {
    method: 'POST',
    path: '/v1/auth/register/verify',
    summary: 'Create the account with its first passkey',
    callers: ['anonymous'],
    origin: 'shell',
    body: json(accounts.registerVerifyBody),
    answers: { 201: accounts.accountAnswer },
    rate: 'authentication',
  },
  'auth.login.options': {
    method: 'POST',
    path: '/v1/auth/login/options',
    summary: 'Begin to sign in with a discoverable passkey',
    callers: ['anonymous'],
    origin: 'shell',
    body: json(accounts.emptyBody),
    answers: { 200: accounts.ceremonyOptions },
    rate: 'authentication',
  },
  'auth.login.verify': {
    method: 'POST',
    path: '/v1/auth/login/verify',
    summary: 'Sign in',
    callers: ['anonymous'],
    origin: 'shell',
    body: json(accounts.loginVerifyBody),
    answers: { 200: accounts.accountAnswer },
    rate: 'authentication',
  },
  'auth.enrol.options': {
    method: 'POST',
    path: '/v1/auth/enrol/options',
    summary: 'Begin to add a passkey with a one-time link of the operator',
    callers: ['anonymous'],
    origin: 'shell',
    body: json(accounts.enrolOptionsBody),
    answers: { 200: accounts.ceremonyOptions },
    rate: 'authentication',
  },
  'auth.enrol.verify': {
    method: 'POST',
    path: '/v1/auth/enrol/verify',
    summary: 'Add the passkey, use up the link and sign in',
    callers: ['anonymous'],
    origin: 'shell',
    body: json(accounts.registerVerifyBody),
    answers: { 200: accounts.accountAnswer },
    rate: 'authentication',
  },
  'auth.session': {
    method: 'GET',
    path: '/v1/auth/session',
    summary: 'The current session',
    callers: ['session'],
    answers: { 200: accounts.sessionAnswer },
    rate: 'session',
  },
  'auth.logout': {
    method: 'POST',
    path: '/v1/auth/logout',
    summary: 'End the session',
    callers: ['session'],
    origin: 'shell',
    body: json(accounts.emptyBody.optional()),
    answers: { 204: null },
    rate: 'session',
  },
  'auth.passkeys.list': {
    method: 'GET',
    path: '/v1/auth/passkeys',
    summary: 'Passkeys of the account',
    callers: ['session'],
    answers: { 200: items(accounts.passkeyView) },
    rate: 'session',
  },
  'auth.passkeys.options': {
    method: 'POST',
    path: '/v1/auth/passkeys/options',
    summary: 'Begin to add a passkey',
    callers: ['session'],
    origin: 'shell',
    body: json(accounts.emptyBody),
    answers: { 200: accounts.ceremonyOptions },
    rate: 'authentication',
  },
  'auth.passkeys.verify': {
    method: 'POST',
    path: '/v1/auth/passkeys/verify',
    summary: 'Add the passkey',
    callers: ['session'],
    origin: 'shell',
    body: json(accounts.registerVerifyBody),
    answers: { 201: z.strictObject({ passkey: accounts.passkeyView }) },
    rate: 'authentication',
  },
  'auth.passkeys.label': {
    method: 'PATCH',
    path: '/v1/auth/passkeys/:id',
    summary: 'Rename a passkey',
    callers: ['session'],
    origin: 'shell',
    params: ofId,
    body: json(accounts.passkeyLabelBody),
    answers: { 200: z.strictObject({ passkey: accounts.passkeyView }) },
    rate: 'session',
  },
  'auth.passkeys.remove': {
    method: 'DELETE',
    path: '/v1/auth/passkeys/:id',
    summary: 'Remove a passkey, never the last',
    callers: ['session'],
    origin: 'shell',
    params: ofId,
    answers: { 204: null },
    rate: 'session',
  },
  'auth.sessions.list': {
    method: 'GET',
    path: '/v1/auth/sessions',
    summary: 'Sessions of the account',
    callers: ['session'],
    answers: { 200: items(accounts.sessionView) },
    rate: 'session',
  },
  'auth.sessions.revoke': {
    method: 'DELETE',
    path: '/v1/auth/sessions/:id',
    summary: 'End a session',
    callers: ['session'],
    origin: 'shell',
    params: ofId,
    answers: { 204: null },
    rate: 'session',
  },

  // Catalog (contract 3)
  'catalog.list': {
    method: 'GET',
    path: '/v1/catalog',
    summary: 'Published apps',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: page(catalog.catalogEntry) },
    rate: 'session',
  },
  'catalog.read': {
    method: 'GET',
    path: '/v1/catalog/:appId',
    summary: 'One published app',
    callers: ['session'],
    params: ofApp,
    answers: { 200: catalog.catalogDetail },
    rate: 'session',
  },
  'catalog.icon': {
    method: 'GET',
    path: '/v1/catalog/:appId/icon',
    summary: 'Icon of the newest version',
    callers: ['session'],
    params: ofApp,
    answers: { 200: 'image/*' },
    rate: 'session',
  },
  'catalog.publish': {
    method: 'PUT',
    path: '/v1/catalog/:appId/versions/:version',
    summary: 'Publish a version',
    callers: ['session'],
    origin: 'shell',
    params: z.strictObject({ appId, version }),
    body: { mediaType: 'application/gzip', limit: limits.packagePacked.value },
    answers: { 201: catalog.publishAnswer },
    rate: 'session',
  },

  // Installations and grants (contract 3, specification 4.1)
  'apps.list': {
    method: 'GET',
    path: '/v1/apps',
    summary: 'Installed apps',
    callers: ['session'],
    query: pageQuery,
    answers: { 200: appsPage },
    rate: 'session',
  },
  'apps.install': {
    method: 'POST',
    path: '/v1/apps',
    summary: 'Install an app',
    callers: ['session'],
    origin: 'shell',
    body: json(installations.installBody),
    answers: { 201: z.strictObject({ app: installations.installedApp }) },
    rate: 'session',
  },
  'apps.uninstall': {
    method: 'DELETE',
    path: '/v1/apps/:appId',
    summary: 'Remove an app; its volume stays',
    callers: ['session'],
    origin: 'shell',
    params: ofApp,
    answers: { 204: null },
    rate: 'session',
  },
  'apps.launch': {
    method: 'POST',
    path: '/v1/apps/:appId/launch',
    summary: 'Open an app',
    callers: ['session'],
    origin: 'shell',
    params: ofApp,
    body: json(accounts.emptyBody.optional()),
    answers: { 200: installations.launchDescriptor },
    rate: 'session',
  },
  'apps.start': {
    method: 'POST',
    path: '/v1/apps/:appId/start',
    summary: 'Start the backend',
    callers: ['session'],
    origin: 'shell',
    params: ofApp,
    body: json(accounts.emptyBody.optional()),
    answers: { 200: installations.workloadDetail },
    rate: 'session',
  },
  'apps.stop': {
    method: 'POST',
    path: '/v1/apps/:appId/stop',
    summary: 'Stop the backend',
    callers: ['session'],
    origin: 'shell',
    params: ofApp,
    body: json(accounts.emptyBody.optional()),
    answers: { 200: installations.workloadDetail },
    rate: 'session',
  },
  'apps.status': {
    method: 'GET',
    path: '/v1/apps/:appId/status',
    summary: 'State of the backend',
    callers: ['session'],
    params: ofApp,
    answers: { 200: installations.workloadDetail },
    rate: 'session',
  },
  'apps.logs': {
    method: 'GET',
    path: '/v1/apps/:appId/logs',
    summary: 'Log of the backend, newest first',
    callers: ['session'],
    params: ofApp,
    query: installations.logQuery,
    answers: { 200: page(installations.logEntry) },
    rate: 'session',
  },
  'apps.logs.stream': {
    method: 'GET',
    path: '/v1/apps/:appId/logs/stream',
    summary: 'Log of the backend as it grows (SSE, resumable with Last-Event-ID)',
    callers: ['session'],
    params: ofApp,
    query: installations.logStreamQuery,
    answers: { 200: 'text/event-stream' },
    rate: 'session',
  },
  'apps.upgrade': {
    method: 'POST',
    path: '/v1/apps/:appId/upgrade',
    summary: 'Change the version; grants never grow',
    callers: ['session'],
    origin: 'shell',
    params: ofApp,
    body: json(installations.upgradeBody),
    answers: { 200: z.strictObject({ app: installations.installedApp }) },
    rate: 'session',
  },
  'apps.permissions.read': {
    method: 'GET',
    path: '/v1/apps/:appId/permissions',
    summary: 'Grants of an installed app',
    callers: ['session'],
    params: ofApp,
    answers: { 200: permissionsView },
    rate: 'session',
  },
  'apps.permissions.replace': {
    method: 'PUT',
    path: '/v1/apps/:appId/permissions',
    summary: 'Replace the grants within the published request',
    callers: ['session'],
    origin: 'shell',
    params: ofApp,
    body: json(permissionsBody),
    answers: { 200: permissionsView },
    rate: 'session',
  },
  'frontend.exchange': {
    method: 'POST',
    path: '/v1/frontend/exchange',
    summary: 'Exchange the single-use capability of a launch',
    callers: ['anonymous'],
    origin: 'app',
    body: json(installations.exchangeBody),
    answers: { 200: installations.exchangeAnswer },
    rate: 'authentication',
  },

  // Everything of the account at once (specification 5.4)
  'runtime.read': {
    method: 'GET',
    path: '/v1/runtime',
    summary: 'Whether the account is paused',
    callers: ['session'],
    answers: { 200: accountRuntime },
    rate: 'session',
  },
  'runtime.pause': {
    method: 'POST',
    path: '/v1/runtime/pause',
    summary: 'Stop everything that the account runs, and let nothing start',
    callers: ['session'],
    origin: 'shell',
    body: json(accounts.emptyBody.optional()),
    answers: { 200: accountRuntime },
    rate: 'session',
  },
  'runtime.resume': {
    method: 'POST',
    path: '/v1/runtime/resume',
    summary: 'End the pause',
    callers: ['session'],
    origin: 'shell',
    body: json(accounts.emptyBody.optional()),
    answers: { 200: accountRuntime },
    rate: 'session',
  },

  // The shell's own view of the services
  'notifications.list': {
    method: 'GET',
    path: '/v1/notifications',
    summary: 'Notifications of the account',
    callers: ['session'],
    query: notifications.notificationQuery,
    answers: { 200: page(notifications.notification) },
    rate: 'session',
  },
  'notifications.read': {
    method: 'POST',
    path: '/v1/notifications/:id/read',
    summary: 'Mark one read',
    callers: ['session'],
    origin: 'shell',
    params: ofNotification,
    body: json(accounts.emptyBody.optional()),
    answers: { 200: notifications.notificationAnswer },
    rate: 'session',
  },
  'notifications.readAll': {
    method: 'POST',
    path: '/v1/notifications/read-all',
    summary: 'Mark all read',
    callers: ['session'],
    origin: 'shell',
    body: json(accounts.emptyBody.optional()),
    answers: { 200: notifications.readAllAnswer },
    rate: 'session',
  },
  'notificationSettings.read': {
    method: 'GET',
    path: '/v1/account/notification-settings',
    summary: 'Which surfaces notifications may use, and what is muted',
    callers: ['session'],
    answers: { 200: notificationSettings },
    rate: 'session',
  },
  'notificationSettings.change': {
    method: 'PATCH',
    path: '/v1/account/notification-settings',
    summary: 'Change some of them; `muted` is replaced as a whole, `mute` and `unmute` change single entries',
    callers: ['session'],
    origin: 'shell',
    body: json(changeNotificationSettingsBody),
    answers: { 200: notificationSettings },
    rate: 'session',
  },
  'push.key': {
    method: 'GET',
    path: '/v1/push/key',
    summary: 'The key with which a browser subscribes to web push',
    callers: ['session'],
    answers: { 200: push.pushKeyAnswer },
    rate: 'session',
  },
  'push.list': {
    method: 'GET',
    path: '/v1/push/subscriptions',
    summary: 'The browsers of the account that get web push',
    callers: ['session'],
    answers: { 200: push.pushSubscriptionList },
    rate: 'session',
  },
  'push.subscribe': {
    method: 'POST',
    path: '/v1/push/subscriptions',
    summary: 'Send web push to this browser while the session lasts; the same endpoint again replaces it',
    callers: ['session'],
    origin: 'shell',
    body: json(push.pushSubscribeBody),
    answers: { 201: push.pushSubscriptionAnswer },
    rate: 'session',
  },
  'push.unsubscribe': {
    method: 'DELETE',
    path: '/v1/push/subscriptions',
    summary: 'Send no more web push to an endpoint',
    callers: ['session'],
    origin: 'shell',
    body: json(push.pushUnsubscribeBody),
    answers: { 204: null },
    rate: 'session',
  },
  'events.stream': {
    method: 'GET',
    path: '/v1/events',
    summary: 'Live events of the account (SSE, resumable with Last-Event-ID)',
    callers: ['session'],
    answers: { 200: 'text/event-stream' },
    rate: 'session',
  },
  'search.query': {
    method: 'GET',
    path: '/v1/search',
    summary: 'Search installed apps and what they indexed',
    callers: ['session'],
    query: search.searchQuery,
    answers: { 200: search.searchResult },
    rate: 'session',
  },

  // Gateway services (specification 4.2, 4.6, 4.7)
  'services.apps.list': {
    method: 'GET',
    path: '/v1/services/apps',
    summary: 'Apps of the account',
    callers: ['installation', 'frontend'],
    grant: { id: 'apps.catalog.read', resource: 'any' },
    query: pageQuery,
    answers: { 200: page(installations.servicesApp) },
    rate: 'service',
  },
  'services.system.read': {
    method: 'GET',
    path: '/v1/services/system',
    summary: 'The whole platform in figures, for an app of the master account',
    callers: ['installation', 'frontend'],
    grant: { id: 'system.inventory.read', resource: '*' },
    answers: { 200: systemInventory },
    rate: 'service',
  },
  'services.notifications.publish': {
    method: 'POST',
    path: '/v1/services/notifications',
    summary: 'Publish a notification',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.publish', resource: { body: 'topic' } },
    body: json(notifications.publishNotificationBody),
    answers: { 201: notifications.notificationAnswer, 200: notifications.notificationAnswer },
    rate: 'notification',
  },
  'services.notifications.list': {
    method: 'GET',
    path: '/v1/services/notifications',
    summary: 'Notifications on the topics granted',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    query: notifications.notificationQuery,
    answers: { 200: page(notifications.notification) },
    rate: 'service',
  },
  'services.notifications.stream': {
    method: 'GET',
    path: '/v1/services/notifications/stream',
    summary: 'Live notifications on the topics granted (SSE, resumable)',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    answers: { 200: 'text/event-stream' },
    rate: 'service',
  },
  'services.notifications.read': {
    method: 'POST',
    path: '/v1/services/notifications/:id/read',
    summary: 'Mark one visible record read',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    params: ofNotification,
    body: json(accounts.emptyBody.optional()),
    answers: { 200: notifications.notificationAnswer },
    rate: 'service',
  },
  'services.notifications.readAll': {
    method: 'POST',
    path: '/v1/services/notifications/read-all',
    summary: 'Mark all visible records read',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    body: json(accounts.emptyBody.optional()),
    answers: { 200: notifications.readAllAnswer },
    rate: 'service',
  },
  'services.search.replace': {
    method: 'PUT',
    path: '/v1/services/search/index',
    summary: "Replace the installation's whole index",
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    body: json(search.searchReplaceBody, limits.searchBody.value),
    answers: { 200: search.indexedAnswer },
    rate: 'searchWrite',
  },
  'services.search.upsert': {
    method: 'POST',
    path: '/v1/services/search/index',
    summary: 'Add or change entries',
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    body: json(search.searchUpsertBody, limits.searchBody.value),
    answers: { 200: search.indexedAnswer },
    rate: 'searchWrite',
  },
  'services.search.clear': {
    method: 'DELETE',
    path: '/v1/services/search/index',
    summary: 'Clear the index',
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    answers: { 204: null },
    rate: 'searchWrite',
  },
  'services.search.remove': {
    method: 'DELETE',
    path: '/v1/services/search/index/:entryId',
    summary: 'Remove one entry',
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    params: z.strictObject({ entryId: search.searchEntryId }),
    answers: { 204: null },
    rate: 'searchWrite',
  },
  'services.workLeases.create': {
    method: 'POST',
    path: '/v1/services/runtime/work-leases',
    summary: 'Keep the workload awake for a while',
    callers: ['installation'],
    body: json(leases.createWorkLeaseBody),
    answers: { 201: leases.workLeaseAnswer },
    rate: 'service',
  },
  'services.workLeases.renew': {
    method: 'POST',
    path: '/v1/services/runtime/work-leases/:id/renew',
    summary: 'Let a work lease run its duration again, from now on',
    callers: ['installation'],
    params: ofWorkLease,
    body: json(leases.renewWorkLeaseBody.optional()),
    answers: { 200: leases.workLeaseAnswer },
    rate: 'service',
  },
  'services.workLeases.release': {
    method: 'DELETE',
    path: '/v1/services/runtime/work-leases/:id',
    summary: 'End a work lease',
    callers: ['installation'],
    params: ofWorkLease,
    answers: { 204: null },
    rate: 'service',
  },

  // Between core and the Runtime of a node
  'node.join': {
    method: 'POST',
    path: '/v1/node/join',
    summary: 'Become a node, with an enrolment token of the operator',
    callers: ['anonymous'],
    body: json(node.joinNodeBody),
    answers: { 201: node.nodeCredential },
    rate: 'authentication',
  },
  'node.challenge': {
    method: 'POST',
    path: '/v1/node/challenge',
    summary: 'A nonce for a node to sign, once and within a minute',
    callers: ['anonymous'],
    body: json(node.challengeNodeBody),
    answers: { 200: node.nodeChallenge },
    rate: 'authentication',
  },
  'node.credential': {
    method: 'POST',
    path: '/v1/node/credential',
    summary: 'The next credential of a node, for a proof with its key; the former one ends',
    callers: ['anonymous'],
    body: json(node.proveNodeBody),
    answers: { 200: node.nodeCredential },
    rate: 'authentication',
  },
  'node.heartbeat': {
    method: 'POST',
    path: '/v1/node/heartbeat',
    summary: 'A node lives; its lease begins anew',
    callers: ['node'],
    body: json(node.nodeHeartbeatBody.optional()),
    answers: { 200: node.nodeLease },
    rate: 'none',
  },
  'node.register': {
    method: 'POST',
    path: '/v1/node/register',
    summary: 'Tell core where this node is reached',
    callers: ['node'],
    body: json(node.registerNodeBody),
    answers: { 204: null },
    rate: 'none',
  },
  'node.assignments': {
    method: 'GET',
    path: '/v1/node/assignments',
    summary: 'What should run on this node (long poll)',
    callers: ['node'],
    query: node.assignmentsQuery,
    answers: { 200: node.assignments },
    rate: 'none',
  },
  'node.starts': {
    method: 'POST',
    path: '/v1/node/installations/:id/starts',
    summary: 'New credentials for one workload start',
    callers: ['node'],
    params: ofInstallation,
    body: json(accounts.emptyBody.optional()),
    answers: { 200: node.workloadStart },
    rate: 'none',
  },
  'node.leases': {
    method: 'GET',
    path: '/v1/node/installations/:id/leases',
    summary: 'How long work leases keep a workload awake',
    callers: ['node'],
    params: ofInstallation,
    answers: { 200: node.workloadLeases },
    rate: 'none',
  },
  'node.status': {
    method: 'POST',
    path: '/v1/node/status',
    summary: 'Report the state of workloads',
    callers: ['node'],
    body: json(node.nodeStatusBody, 4 * 1024 * 1024),
    answers: { 204: null },
    rate: 'none',
  },
  'node.package': {
    method: 'GET',
    path: '/v1/node/packages/:hash',
    summary: 'A package assigned to this node',
    callers: ['node'],
    params: z.strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/) }),
    answers: { 200: 'application/gzip' },
    rate: 'none',
  },
} as const satisfies Record<string, RouteSpec>;

export type RouteId = keyof typeof routes;

type MemberOutput<Spec, Key extends string> = Spec extends { readonly [K in Key]: infer S extends Shape }
  ? z.output<S>
  : undefined;
type BodyOutput<Spec> = Spec extends { readonly body: { readonly schema: infer S extends Shape } }
  ? z.output<S>
  : undefined;
type BodyInput<Spec> = Spec extends { readonly body: { readonly schema: infer S extends Shape } }
  ? z.input<S>
  : undefined;
type AnswerOutput<Shapes> = {
  [Status in keyof Shapes]: Shapes[Status] extends Shape ? z.output<Shapes[Status]> : undefined;
}[keyof Shapes];
type AnswerInput<Shapes> = {
  [Status in keyof Shapes]: Shapes[Status] extends Shape ? z.input<Shapes[Status]> : undefined;
}[keyof Shapes];

export type RouteParams<Id extends RouteId> = MemberOutput<(typeof routes)[Id], 'params'>;
export type RouteQuery<Id extends RouteId> = MemberOutput<(typeof routes)[Id], 'query'>;
/** The body as a handler sees it, defaults filled in. */
export type RouteBody<Id extends RouteId> = BodyOutput<(typeof routes)[Id]>;
/** The body as a caller may send it. */
export type RouteBodyInput<Id extends RouteId> = BodyInput<(typeof routes)[Id]>;
/** The answer as a caller receives it. */
export type RouteAnswer<Id extends RouteId> = AnswerOutput<(typeof routes)[Id]['answers']>;
/** The answer as a handler may give it: ids and times as plain strings. */
export type RouteAnswerInput<Id extends RouteId> = AnswerInput<(typeof routes)[Id]['answers']>;
