// Pages of Settings on the account: what signs in to it, where it is signed in, and the account itself.
import type { SettingsPage } from '../settings/page.ts';

export const passkeysPage: SettingsPage<'passkeys'> = {
  path: 'passkeys',
  load: async () => (await import('./passkeys-page.tsx')).PasskeysPage,
  menu: {
    icon: 'key',
    label: 'Passkeys',
    words: 'password security login sign-in fingerprint face webauthn recovery lost security key',
  },
};

export const sessionsPage: SettingsPage<'sessions'> = {
  path: 'sessions',
  load: async () => (await import('./sessions-page.tsx')).SessionsPage,
  menu: {
    icon: 'devices',
    label: 'Sessions',
    words: 'where you are signed in devices browsers logged in log out everywhere',
  },
};

/** Reached from the end of a recovery, and from its notice. */
export const recoveredPage: SettingsPage<'recovered'> = {
  path: 'recovered',
  load: async () => (await import('./recovered-page.tsx')).RecoveredPage,
};

export const commandLinePage: SettingsPage<'command-line'> = {
  path: 'command-line',
  load: async () => (await import('./command-line-page.tsx')).CommandLinePage,
  menu: {
    icon: 'log',
    label: 'Command line',
    words: 'cli terminal code token login publish developer author machine device',
  },
};

export const accountPage: SettingsPage<'account'> = {
  path: 'account',
  load: async () => (await import('./account-page.tsx')).AccountPage,
  menu: {
    icon: 'person',
    label: 'Account',
    words: 'export download my data archive backup delete account remove close leave',
  },
};
