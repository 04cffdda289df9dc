// The settings pages that a person reaches by name: in the account menu, beside the pages themselves, and with the search.

import type { SettingsPage } from '../../address/view.ts';
import type { IconName } from '../../design/icons.tsx';

/** A page that needs no more than its name. */
export type NamedPage = Exclude<SettingsPage, { readonly appId: string }>['page'];

export interface NamedSettings {
  readonly page: NamedPage;
  readonly icon: IconName;
  readonly label: string;
  /** What else a person may call it, for the search. */
  readonly words: string;
}

export const SETTINGS_PAGES: readonly NamedSettings[] = [
  {
    page: 'apps',
    icon: 'apps',
    label: 'Apps',
    words:
      'permissions settings preferences options uninstall remove delete update upgrade grants access backend stop start',
  },
  { page: 'ai', icon: 'ai', label: 'AI', words: 'artificial intelligence models provider api key tokens budget limit' },
  {
    page: 'notifications',
    icon: 'bell',
    label: 'Notifications',
    words: 'alerts messages push mute silence quiet do not disturb banners flashes',
  },
  { page: 'secrets', icon: 'lock', label: 'Secrets', words: 'passwords api keys tokens credentials' },
  {
    page: 'passkeys',
    icon: 'key',
    label: 'Passkeys',
    words: 'password security login sign-in fingerprint face webauthn recovery lost security key',
  },
  {
    page: 'sessions',
    icon: 'devices',
    label: 'Sessions',
    words: 'where you are signed in devices browsers logged in log out everywhere',
  },
  {
    page: 'command-line',
    icon: 'log',
    label: 'Command line',
    words: 'cli terminal code token login publish developer author machine device',
  },
  { page: 'storage', icon: 'disk', label: 'Storage', words: 'disk space usage data quota volumes delete data' },
  {
    page: 'account',
    icon: 'person',
    label: 'Account',
    words: 'export download my data archive backup delete account remove close leave',
  },
];
