// What a person decides about notifications: the surfaces they may use, and which apps and topics stay silent.
import * as z from 'zod';
import { limits } from './limits.ts';
import { notificationTopic } from './notifications.ts';
import { appId } from './primitives.ts';

/** A silent app (`topic` null) or one silent topic of it: its records arrive in the inbox and on no other surface. */
export const notificationMute = z.strictObject({ appId, topic: notificationTopic.nullable() });
export type NotificationMute = z.infer<typeof notificationMute>;

const muted = z
  .array(notificationMute)
  .max(limits.notificationMutes.value)
  .refine(
    (mutes) => new Set(mutes.map(({ appId, topic }) => `${appId} ${topic ?? ''}`)).size === mutes.length,
    'must be distinct',
  );

export const notificationSettings = z.strictObject({
  /** Mirrored by the browser while a page of the shell is open. */
  system: z.boolean(),
  /** Sent to the browsers that subscribed. */
  webPush: z.boolean(),
  /** Drawn by the shell above every app: `high` and `critical` until they are dealt with, others for a moment. */
  flashes: z.boolean(),
  muted,
});
export type NotificationSettings = z.infer<typeof notificationSettings>;

/** What is named is replaced, `muted` as a whole; the rest stays. */
export const changeNotificationSettingsBody = notificationSettings.partial();
