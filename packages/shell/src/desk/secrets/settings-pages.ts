// The page of Settings on secrets.
import type { SettingsPage } from '../settings/page.ts';

export const secretsPage: SettingsPage<'secrets'> = {
  path: 'secrets',
  load: async () => (await import('./secrets-page.tsx')).SecretsPage,
  menu: { icon: 'lock', label: 'Secrets', words: 'passwords api keys tokens credentials' },
};
