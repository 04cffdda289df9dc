// The page on what holds for the whole platform, for the master account: Fleet leads here, and no menu, since it is for one
// account alone.
import type { SettingsPage } from '../settings/page.ts';

export const platformPage: SettingsPage<'platform'> = {
  path: 'platform',
  load: async () => (await import('./platform-page.tsx')).PlatformPage,
};
