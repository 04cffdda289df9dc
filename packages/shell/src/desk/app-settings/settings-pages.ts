// Pages of Settings: every installed app, one of them, and its log.
import type { SettingsPage } from '../settings/page.ts';

export const appsPage: SettingsPage<'apps'> = {
  path: 'apps',
  load: async () => (await import('./apps-page.tsx')).AppsPage,
  menu: {
    icon: 'apps',
    label: 'Apps',
    words:
      'permissions settings preferences options uninstall remove delete update upgrade grants access backend stop start',
  },
};

export const appPage: SettingsPage<'apps/:appId'> = {
  path: 'apps/:appId',
  load: async () => (await import('./app-page.tsx')).AppPage,
  ofApp: {
    icon: 'settings',
    label: 'settings',
    words: 'permissions uninstall remove delete update grants options start stop version',
  },
};

export const appLogPage: SettingsPage<'apps/:appId/log'> = {
  path: 'apps/:appId/log',
  load: async () => (await import('./app-log.tsx')).AppLogPage,
  ofApp: {
    icon: 'log',
    label: 'log',
    words: 'logs output console errors debug',
    has: ({ hasWorkload }) => hasWorkload,
  },
};
