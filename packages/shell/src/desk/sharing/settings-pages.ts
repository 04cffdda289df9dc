// The page of Settings on what the person shares and what is shared with them.
import type { SettingsPage } from '../settings/page.ts';

export const sharingPage: SettingsPage<'sharing'> = {
  path: 'sharing',
  load: async () => (await import('./sharing-page.tsx')).SharingPage,
  menu: { icon: 'people', label: 'Sharing', words: 'invitations collections lists members leave files take back' },
};
