// The page of Settings on notifications.
import type { SettingsPage } from '../settings/page.ts';

export const notificationsPage: SettingsPage<'notifications'> = {
  path: 'notifications',
  load: async () => (await import('./notifications-page.tsx')).NotificationsPage,
  menu: {
    icon: 'bell',
    label: 'Notifications',
    words: 'alerts messages push mute silence quiet do not disturb banners flashes',
  },
};
