// What the search finds besides apps and what is in them: settings pages, the pages of each app, and commands of the shell.

import type { InstalledApp } from '@platform/contract';
import { go } from '../../address/view.ts';
import { plainMessage } from '../../api/api-error.ts';
import { byName } from '../../apps/arrange.ts';
import { openApp } from '../../apps/frames/open-apps.ts';
import { installedApps } from '../../apps/installed-apps.ts';
import { chooseTheme } from '../../design/theme.ts';
import { markAllRead } from '../notifications/inbox.ts';
import { askToPause } from '../prompts/pause-review.tsx';
import { signOutOrAsk } from '../prompts/sign-out-review.tsx';
import { MENU_PAGES, SETTINGS_PAGES } from '../settings/pages.ts';
import { showToast } from '../toasts/toasts.ts';
import type { Command } from './match-commands.ts';

export interface ShellCommand extends Command {
  readonly run: () => void;
}

function orSay(title: string, work: () => Promise<unknown>): () => void {
  return () =>
    void work().catch((error: unknown) =>
      showToast({ title, body: plainMessage(error), tone: 'danger', urgent: true }),
    );
}

const COMMANDS: readonly ShellCommand[] = [
  ...MENU_PAGES.map(({ path, icon, label, words }) => ({
    id: `page ${path}`,
    icon,
    title: label,
    about: 'Settings',
    words: `${words} settings`,
    run: () => go({ kind: 'settings', path }),
  })),
  {
    id: 'dark',
    icon: 'moon',
    title: 'Dark colours',
    about: 'Colours',
    words: 'colors theme mode appearance night black',
    run: () => chooseTheme('dark'),
  },
  {
    id: 'light',
    icon: 'sun',
    title: 'Light colours',
    about: 'Colours',
    words: 'colors theme mode appearance day bright white',
    run: () => chooseTheme('light'),
  },
  {
    id: 'auto',
    icon: 'auto',
    title: 'Colours of this device',
    about: 'Colours',
    words: 'colors theme mode appearance auto automatic system',
    run: () => chooseTheme('auto'),
  },
  {
    id: 'home',
    icon: 'home',
    title: 'Home',
    about: 'Go to',
    words: 'start launcher desktop main screen',
    run: () => go({ kind: 'home' }),
  },
  {
    id: 'read',
    icon: 'check',
    title: 'Mark all notifications as read',
    about: 'Command',
    words: 'clear dismiss inbox',
    run: orSay('The notifications are still unread', markAllRead),
  },
  {
    id: 'pause',
    icon: 'pause',
    title: 'Pause everything',
    about: 'Command',
    words: 'stop all apps emergency halt freeze',
    run: orSay('Nothing was paused', () => askToPause(null)),
  },
  {
    id: 'sign-out',
    icon: 'leave',
    title: 'Sign out',
    about: 'Command',
    words: 'log out logout signout leave exit quit',
    run: orSay('You are still signed in', signOutOrAsk),
  },
];

/** The pages of Settings on an app. */
function pagesOf(app: InstalledApp): readonly ShellCommand[] {
  return SETTINGS_PAGES.flatMap(({ path, ofApp }) =>
    ofApp === undefined || ofApp.has?.(app) === false
      ? []
      : [
          {
            id: `${path} ${app.appId}`,
            icon: ofApp.icon,
            title: `${app.name}: ${ofApp.label}`,
            about: 'Settings',
            words: ofApp.words,
            run: () => go({ kind: 'settings', path: path.replace(':appId', app.appId) }),
          },
        ],
  );
}

/** All there are now. */
export function allCommands(): readonly ShellCommand[] {
  const apps = (installedApps.value ?? []).toSorted(byName);
  const ofApps = apps.flatMap(pagesOf);
  const store: readonly ShellCommand[] = apps.some(({ appId }) => appId === 'store')
    ? [
        {
          id: 'install',
          icon: 'plus',
          title: 'Install an app',
          about: 'Store',
          words: 'add get download find new apps store',
          run: () => openApp('store'),
        },
      ]
    : [];
  return [...COMMANDS, ...store, ...ofApps];
}
