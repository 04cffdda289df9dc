// The texts of a notification, which also travel in push messages: apart from the rest of their domain, so that the service worker
// loads no more than these.
import * as z from 'zod';
import { nothingHidden } from './readable-names.ts';
import { readableLine, readableText, visible } from './text.ts';

export const notificationTextLimits = {
  notificationTitle: { value: 120, unit: 'characters', meaning: 'notification title' },
  notificationBody: { value: 2_000, unit: 'characters', meaning: 'notification body' },
} as const;

export const notificationTitle = z
  .string()
  .min(1)
  .max(notificationTextLimits.notificationTitle.value)
  .regex(...readableLine)
  .regex(...visible)
  .refine(...nothingHidden);
export const notificationBody = readableText(notificationTextLimits.notificationBody.value);
