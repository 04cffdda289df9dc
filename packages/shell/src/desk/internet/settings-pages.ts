// The page of Settings on what an app offers to the internet.
import type { SettingsPage } from '../settings/page.ts';

export const internetPage: SettingsPage<'apps/:appId/internet'> = {
  path: 'apps/:appId/internet',
  load: async () => (await import('./internet-page.tsx')).InternetPage,
};
