// Notifications of the account as far as an app may read them, and the person's settings for the one app that draws them.
import type { MethodsOf } from '../method.ts';
import { appIdText, cursorText, notificationIdText, optional, topicText, truth, wholeNumber } from '../params.ts';
import { BridgeRefusal } from '../refusal.ts';
import { findVisible, listVisible } from '../visible-notifications.ts';

/** What silences other apps is for the platform's own Notifications app alone, while it may read everything. */
const settingsRule = { grant: 'notifications.read', target: '*', only: ['notifications'] } as const;

export const notificationMethods: MethodsOf<'notifications'> = {
  'notifications.list': {
    params: {
      topic: optional(topicText),
      unread: optional(truth()),
      limit: optional(wholeNumber(1, 200)),
      cursor: optional(cursorText),
    },
    grant: 'notifications.read',
    target: ({ topic }) => topic,
    run: ({ shell, params, resources }) => listVisible(shell, resources, { limit: 50, ...params }),
  },
  'notifications.read': {
    params: { id: notificationIdText },
    grant: 'notifications.read',
    target: 'any',
    run: async ({ shell, params, resources }) => {
      if (!(await findVisible(shell, resources, params.id))) {
        throw new BridgeRefusal('not_found', 'No such notification among those this app may read.');
      }
      return { notification: await shell.markRead(params.id) };
    },
  },
  'notifications.readAll': {
    params: {},
    grant: 'notifications.read',
    target: 'any',
    run: async ({ shell, resources }) => ({ updated: await shell.markAllRead(resources) }),
  },
  'notifications.settings': {
    params: {},
    ...settingsRule,
    run: ({ shell }) => shell.notificationSettings(),
  },
  'notifications.mute': {
    params: { appId: appIdText, topic: optional(topicText), muted: truth() },
    ...settingsRule,
    front: true,
    run: ({ shell, params: { appId, topic, muted } }) => {
      const mute = { appId, topic: topic ?? null };
      // Only this entry, so that two mutes at once both count.
      return shell.changeNotificationSettings(muted ? { mute: [mute] } : { unmute: [mute] });
    },
  },
  'notifications.surfaces': {
    params: { flashes: optional(truth()), system: optional(truth()), webPush: optional(truth()) },
    ...settingsRule,
    front: true,
    run: ({ shell, params }) => shell.changeNotificationSettings(params),
  },
};
