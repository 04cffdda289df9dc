// The page of Settings on what is shared with the person, and what they handed to apps.
import type { SettingsPage } from '../settings/page.ts';

export const sharingPage: SettingsPage<'sharing'> = {
  path: 'sharing',
  load: async () => (await import('./sharing-page.tsx')).SharingPage,
  menu: { icon: 'link', label: 'Sharing', words: 'invitations collections lists files take back' },
};
