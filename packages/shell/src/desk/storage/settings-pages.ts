// The page of Settings on storage.
import type { SettingsPage } from '../settings/page.ts';

export const storagePage: SettingsPage<'storage'> = {
  path: 'storage',
  load: async () => (await import('./storage-page.tsx')).StoragePage,
  menu: { icon: 'disk', label: 'Storage', words: 'disk space usage data quota volumes delete data' },
};
