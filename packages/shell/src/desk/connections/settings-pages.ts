// The page of Settings on clients outside the platform.
import type { SettingsPage } from '../settings/page.ts';

export const connectionsPage: SettingsPage<'connections'> = {
  path: 'connections',
  load: async () => (await import('./connections-page.tsx')).ConnectionsPage,
  menu: {
    icon: 'link',
    label: 'Connections',
    words: 'mcp clients tools agent assistant editor oauth connect external apps access tokens',
  },
};
