// What a person decides about notifications: the surfaces they may use, and which apps and topics stay silent.
import * as z from 'zod';
import { limits } from './limits.ts';
import { notificationTopic } from './notifications.ts';
import { appId } from './primitives.ts';

/** A silent app (`topic` null) or one silent topic of it: its records arrive in the inbox and on no other surface. */
export const notificationMute = z.strictObject({ appId, topic: notificationTopic.nullable() });
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
  /** Drawn by the shell above every app: `high` and `critical` until they are dealt with, others for a moment. */
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
    message: 'must not stand beside `mute` or `unmute`',
  })
  .refine(
    ({ mute = [], unmute = [] }) => new Set([...mute, ...unmute].map(nameOf)).size === mute.length + unmute.length,
    {
      path: ['unmute'],
      message: 'must not name what `mute` names',
    },
  );
export type NotificationSettingsChange = z.input<typeof changeNotificationSettingsBody>;
