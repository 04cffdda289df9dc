// Notifications (specification 2.4, 4.6; contract 4).
import * as z from 'zod';
import { limits } from './limits.ts';
import { appId, notificationId, pageQuery, timestamp } from './primitives.ts';

export const notificationTopic = z
  .string()
  .min(1)
  .max(limits.notificationTopic.value)
  .regex(/^[a-z0-9._-]+$/, 'must hold only lower-case letters, digits, dots, underscores and hyphens');

const wellFormed = (value: string) => value.isWellFormed();

/** Text a person reads: no control characters besides line breaks, no bidirectional overrides, no half characters. */
export function notificationText(maximum: number) {
  return z
    .string()
    .max(maximum)
    .regex(/^[^\u0000-\u0009\u000B-\u001F\u007F\u202A-\u202E\u2066-\u2069]*$/u, 'must not hold control characters')
    .refine(wellFormed, 'must be well-formed Unicode');
}

const action = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  label: notificationText(limits.notificationActionLabel.value).min(1),
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
  expiresInSeconds: z.int().min(1).max(limits.notificationExpirySeconds.value).optional(),
  actions: z
    .array(action)
    .max(limits.notificationActions.value)
    .refine((actions) => new Set(actions.map(({ id }) => id)).size === actions.length, 'must have distinct ids')
    .default([]),
});

export const publishNotificationBody = z.strictObject({
  topic: notificationTopic,
  title: notificationText(limits.notificationTitle.value)
    .min(1)
    .regex(/^[^\n]*$/, 'must be one line'),
  body: notificationText(limits.notificationBody.value).default(''),
  priority: z.enum(['low', 'normal', 'high', 'critical']).default('normal'),
  presentation: presentation.optional(),
  delivery: z.enum(['inbox', 'inbox-and-system', 'inbox-and-web-push']).default('inbox-and-system'),
  dedupeKey: z
    .string()
    .min(1)
    .max(limits.notificationDedupeKey.value)
    .regex(/^\P{Cc}*$/u)
    .refine(wellFormed, 'must be well-formed Unicode')
    .optional(),
});
export type PublishNotification = z.input<typeof publishNotificationBody>;

export const notification = z.strictObject({
  id: notificationId,
  /** The app that published it. */
  appId,
  topic: z.string(),
  title: z.string(),
  body: z.string(),
  priority: z.enum(['low', 'normal', 'high', 'critical']),
  presentation: presentation.nullable(),
  delivery: z.enum(['inbox', 'inbox-and-system', 'inbox-and-web-push']),
  dedupeKey: z.string().nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  readAt: timestamp.nullable(),
});
export type Notification = z.infer<typeof notification>;

export const notificationAnswer = z.strictObject({ notification });
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
  /** The account was paused or resumed; for the shell only. */
  z.strictObject({ event: z.literal('runtime'), data: z.strictObject({}) }),
  /** The person changed what notifications may do; for the shell only. */
  z.strictObject({ event: z.literal('notification-settings'), data: z.strictObject({}) }),
]);
export type ShellEvent = z.infer<typeof shellEvent>;
