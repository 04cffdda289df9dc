// Notifications (specification 2.4, 4.6; contract 4), live events, and what a person decides about them: the surfaces they
// may use, and which apps and topics stay silent.
import * as z from 'zod';
import type { Limits, Routes } from '../domain.ts';
import { notificationBody, notificationTextLimits, notificationTitle } from '../notification-text.ts';
import { PLATFORM_SENDER } from '../platform-sender.ts';
import { appId, notificationId, timestamp } from '../primitives.ts';
import { readableLine, storable, visible } from '../text.ts';
import { emptyBody, json, page, pageQuery } from './common.ts';

const limits = {
  notificationTopic: { value: 64, unit: 'characters', meaning: 'notification topic' },
  ...notificationTextLimits,
  notificationActions: { value: 3, unit: 'items', meaning: 'actions of a notification' },
  notificationActionLabel: { value: 40, unit: 'characters', meaning: 'label of a notification action' },
  notificationTarget: { value: 512, unit: 'characters', meaning: 'target of a notification action' },
  notificationExpirySeconds: {
    value: 604_800,
    unit: 'seconds',
    meaning: 'maximum `expiresInSeconds` of a presentation',
  },
  notificationDedupeKey: { value: 128, unit: 'characters', meaning: 'dedupe key' },
  notificationsKept: {
    value: 10_000,
    unit: 'items',
    meaning:
      'notifications kept for an account; beyond it the oldest of the apps with the most are removed (default of PLATFORM_NOTIFICATIONS_KEPT)',
  },
  notificationDays: {
    value: 90,
    unit: 'days',
    meaning: 'lifetime of a notification (default of PLATFORM_NOTIFICATION_DAYS)',
  },
  notificationMutes: { value: 256, unit: 'items', meaning: 'muted apps and topics of an account' },
  notificationRate: { value: 60, unit: 'per minute', meaning: 'notifications of one installation' },
  notificationBurst: { value: 120, unit: 'items', meaning: 'notifications of one installation in a burst' },
} as const satisfies Limits;

export const notificationTopic = z
  .string()
  .min(1)
  .max(limits.notificationTopic.value)
  .regex(/^[a-z0-9._-]+$/, 'must contain only lower-case letters, digits, dots, underscores and hyphens');

const action = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, underscores and hyphens'),
  label: z
    .string()
    .min(1)
    .max(limits.notificationActionLabel.value)
    .regex(...readableLine)
    .regex(...visible),
  type: z.literal('open-app'),
  style: z.enum(['primary', 'secondary', 'danger']).default('secondary'),
  /** A query string of the same app: starts with `?`, no fragment. */
  target: z
    .string()
    .max(limits.notificationTarget.value)
    .regex(/^\?[\w\-.~!$&'()*+,;=:@%/?]*$/, 'must be a query string that starts with ?')
    .optional(),
});

export const presentation = z.strictObject({
  mode: z.enum(['card', 'banner', 'flash']).default('card'),
  tone: z.enum(['neutral', 'accent', 'success', 'warning', 'danger']).default('neutral'),
  layout: z.enum(['compact', 'standard', 'hero']).default('standard'),
  /** When its flash, card and push end. The record stays in the inbox. */
  expiresInSeconds: z.int().min(1).max(limits.notificationExpirySeconds.value).optional(),
  actions: z
    .array(action)
    .max(limits.notificationActions.value)
    .refine((actions) => new Set(actions.map(({ id }) => id)).size === actions.length, 'must have distinct ids')
    .default([]),
});

export const publishNotificationBody = z.strictObject({
  topic: notificationTopic,
  title: notificationTitle,
  body: notificationBody.default(''),
  priority: z.enum(['low', 'normal', 'high', 'critical']).default('normal'),
  presentation: presentation.optional(),
  delivery: z.enum(['inbox', 'inbox-and-system', 'inbox-and-web-push']).default('inbox-and-system'),
  dedupeKey: z
    .string()
    .min(1)
    .max(limits.notificationDedupeKey.value)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .refine(...storable)
    .optional(),
});
export type PublishNotification = z.input<typeof publishNotificationBody>;

export const notification = z.strictObject({
  id: notificationId,
  /** The app that published it; `platform` for the platform itself. */
  appId,
  topic: z.string(),
  title: z.string(),
  body: z.string(),
  priority: z.enum(['low', 'normal', 'high', 'critical']),
  presentation: presentation.nullable(),
  delivery: z.enum(['inbox', 'inbox-and-system', 'inbox-and-web-push']),
  dedupeKey: z.string().nullable(),
  createdAt: timestamp,
  /** The end of its presentation. */
  expiresAt: timestamp.nullable(),
  readAt: timestamp.nullable(),
});
export type Notification = z.infer<typeof notification>;

export const notificationAnswer = z.strictObject({ notification });
/**
 * `topics`: only what an app with these resources of `notifications.read` sees. Default: all, also the platform's own notices.
 * (Without the schemas of grants, which would come into the service worker with this file.)
 */
export const readAllBody = z.strictObject({
  topics: z.array(z.string().min(1).max(256)).min(1).max(256).optional(),
});
export const readAllAnswer = z.strictObject({ updated: z.int() });

export const notificationQuery = pageQuery.extend({
  topic: notificationTopic.optional(),
  unread: z.enum(['true', 'false']).optional(),
});

/** Events of `GET /v1/events` and `GET /v1/services/notifications/stream` (text/event-stream, `event:` names). */
export const shellEvent = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('notification'), data: z.strictObject({ notification }) }),
  z.strictObject({
    event: z.literal('notifications-read'),
    data: z.strictObject({ ids: z.array(z.string()).nullable() }),
  }),
  z.strictObject({ event: z.literal('apps'), data: z.strictObject({}) }),
  /** An app made an app for the person, or one is no longer there to decide on; for the shell only. */
  z.strictObject({ event: z.literal('drafts'), data: z.strictObject({}) }),
  /** An invitation to a collection waits for the person, or does no longer; for the shell only. */
  z.strictObject({ event: z.literal('content-invitations'), data: z.strictObject({}) }),
  /** What this agent may do without a question changed, or what it asks its person; for the shell only. */
  z.strictObject({ event: z.literal('agent'), data: z.strictObject({ appId }) }),
  /** The account was paused or resumed; for the shell only. */
  z.strictObject({ event: z.literal('runtime'), data: z.strictObject({}) }),
  /** The person changed what notifications may do; for the shell only. */
  z.strictObject({ event: z.literal('notification-settings'), data: z.strictObject({}) }),
  /** What apps propose changed; for the shell only. */
  z.strictObject({ event: z.literal('proposals'), data: z.strictObject({}) }),
]);
export type ShellEvent = z.infer<typeof shellEvent>;

/**
 * A silent app (`topic` null) or one silent topic of it: its records arrive in the inbox and on no other surface, except
 * that `critical` ones flash.
 */
export const notificationMute = z.strictObject({
  appId: appId.refine(
    (id) => id !== PLATFORM_SENDER,
    'cannot be muted: its notices are about the security of the account',
  ),
  topic: notificationTopic.nullable(),
});
export type NotificationMute = z.infer<typeof notificationMute>;

const nameOf = ({ appId, topic }: NotificationMute) => `${appId} ${topic ?? ''}`;

const mutes = z
  .array(notificationMute)
  .max(limits.notificationMutes.value)
  .refine((all) => new Set(all.map(nameOf)).size === all.length, 'must be distinct');

export const notificationSettings = z.strictObject({
  /** Mirrored by the browser while a page of the shell is open. */
  system: z.boolean(),
  /** Sent to the browsers that subscribed. */
  webPush: z.boolean(),
  /** Whether the shell draws `high` records above every app until they are dealt with. `critical` ones always are. */
  flashes: z.boolean(),
  muted: mutes,
});
export type NotificationSettings = z.infer<typeof notificationSettings>;

/**
 * What is named changes, the rest stays. `muted` replaces the whole list; `mute` and `unmute` add to it and take from it,
 * so that two changes at once both count.
 */
export const changeNotificationSettingsBody = notificationSettings
  .partial()
  .extend({ mute: mutes.optional(), unmute: mutes.optional() })
  .refine(({ muted, mute, unmute }) => muted === undefined || (mute === undefined && unmute === undefined), {
    path: ['muted'],
    message: 'cannot be combined with `mute` or `unmute`',
  })
  .refine(
    ({ mute = [], unmute = [] }) => new Set([...mute, ...unmute].map(nameOf)).size === mute.length + unmute.length,
    {
      path: ['unmute'],
      message: 'must not repeat an entry of `mute`',
    },
  );
export type NotificationSettingsChange = z.input<typeof changeNotificationSettingsBody>;

const ofNotification = z.strictObject({ id: notificationId });

const routes = {
  'notifications.list': {
    method: 'GET',
    path: '/v1/notifications',
    summary: 'Notifications of the account',
    callers: ['session'],
    query: notificationQuery,
    answers: { 200: page(notification) },
    rate: 'session',
  },
  'notifications.read': {
    method: 'POST',
    path: '/v1/notifications/:id/read',
    summary: 'Mark one read',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'marks what was read' },
    params: ofNotification,
    body: json(emptyBody.optional()),
    answers: { 200: notificationAnswer },
    rate: 'session',
  },
  'notifications.readAll': {
    method: 'POST',
    path: '/v1/notifications/read-all',
    summary: 'Mark all read',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'marks what was read' },
    body: json(readAllBody.optional()),
    answers: { 200: readAllAnswer },
    rate: 'session',
  },
  'notificationSettings.read': {
    method: 'GET',
    path: '/v1/account/notification-settings',
    summary: 'Where notifications may appear, and what is muted',
    callers: ['session'],
    answers: { 200: notificationSettings },
    rate: 'session',
  },
  'notificationSettings.change': {
    method: 'PATCH',
    path: '/v1/account/notification-settings',
    summary: 'Change some settings; `muted` replaces the list, `mute` and `unmute` change single entries',
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'chooses what is shown, and can be taken back; security notices are shown whatever is muted' },
    body: json(changeNotificationSettingsBody),
    answers: { 200: notificationSettings },
    rate: 'session',
  },
  'events.stream': {
    method: 'GET',
    path: '/v1/events',
    summary: 'Live events of the account (SSE, resumable with Last-Event-ID)',
    callers: ['session'],
    answers: { 200: 'text/event-stream' },
    refuses: ['concurrency_limited'],
    rate: 'session',
  },
  'services.notifications.publish': {
    method: 'POST',
    path: '/v1/services/notifications',
    summary: 'Publish a notification',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.publish', resource: { body: 'topic' } },
    body: json(publishNotificationBody),
    answers: { 201: notificationAnswer, 200: notificationAnswer },
    rate: 'notification',
    fillsDatabase: true,
  },
  'services.notifications.list': {
    method: 'GET',
    path: '/v1/services/notifications',
    summary: 'Notifications on the granted topics',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    query: notificationQuery,
    answers: { 200: page(notification) },
    rate: 'service',
  },
  'services.notifications.stream': {
    method: 'GET',
    path: '/v1/services/notifications/stream',
    summary: 'Live notifications on the granted topics (SSE, resumable)',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    answers: { 200: 'text/event-stream' },
    refuses: ['concurrency_limited'],
    rate: 'service',
  },
  'services.notifications.read': {
    method: 'POST',
    path: '/v1/services/notifications/:id/read',
    summary: 'Mark one visible record read',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    params: ofNotification,
    body: json(emptyBody.optional()),
    answers: { 200: notificationAnswer },
    rate: 'service',
  },
  'services.notifications.readAll': {
    method: 'POST',
    path: '/v1/services/notifications/read-all',
    summary: 'Mark all visible records read',
    callers: ['installation', 'frontend'],
    grant: { id: 'notifications.read', resource: 'any' },
    body: json(emptyBody.optional()),
    answers: { 200: readAllAnswer },
    rate: 'service',
  },
} as const satisfies Routes;

export const notifications = { limits, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** Grant `notifications.read`: records whose topic it covers, like the service routes of the same name; others are `not_found`. */
    'notifications.list': {
      params: {
        readonly topic?: string;
        readonly unread?: boolean;
        readonly limit?: number;
        readonly cursor?: string;
      };
      result: BridgePage<Notification>;
    };
    'notifications.read': { params: { readonly id: string }; result: { readonly notification: Notification } };
    'notifications.readAll': { params: undefined; result: { readonly updated: number } };
    /** These three only for the platform's own Notifications app, with `notifications.read` on `*`; for changes also in front. */
    'notifications.settings': { params: undefined; result: NotificationSettings };
    /** Without `topic` the whole app; `muted` false takes back exactly this entry. */
    'notifications.mute': {
      params: { readonly appId: string; readonly topic?: string; readonly muted: boolean };
      result: NotificationSettings;
    };
    /** What is named changes. */
    'notifications.surfaces': {
      params: { readonly flashes?: boolean; readonly system?: boolean; readonly webPush?: boolean };
      result: NotificationSettings;
    };
  }
}
