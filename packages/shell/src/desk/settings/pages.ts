// The pages of Settings, in the order of the menus. A page that is missing here has no address: no link to it compiles.
import { accountPage, commandLinePage, passkeysPage, recoveredPage, sessionsPage } from '../account/settings-pages.ts';
import { aiPage } from '../ai/settings-pages.ts';
import { appLogPage, appPage, appsPage } from '../app-settings/settings-pages.ts';
import { connectionsPage } from '../connections/settings-pages.ts';
import { internetPage } from '../internet/settings-pages.ts';
import { notificationsPage } from '../notifications/settings-pages.ts';
import { platformPage } from '../platform/settings-pages.ts';
import { secretsPage } from '../secrets/settings-pages.ts';
import { sharingPage } from '../sharing/settings-pages.ts';
import { storagePage } from '../storage/settings-pages.ts';
import { toolsPage } from '../tools/settings-pages.ts';
import { runPage, runsPage } from '../workflows/settings-pages.ts';
import type { AnyPage, PageName } from './page.ts';

const PAGES = [
  appsPage,
  aiPage,
  notificationsPage,
  secretsPage,
  passkeysPage,
  sessionsPage,
  recoveredPage,
  commandLinePage,
  toolsPage,
  connectionsPage,
  sharingPage,
  storagePage,
  accountPage,
  appPage,
  appLogPage,
  internetPage,
  runsPage,
  runPage,
  platformPage,
] as const;

export type SettingsPath = (typeof PAGES)[number]['path'];

export const SETTINGS_PAGES: readonly [AnyPage, ...AnyPage[]] = PAGES;

export interface NamedPage extends PageName {
  readonly path: string;
}

/** Those that the menus list. */
export const MENU_PAGES: readonly NamedPage[] = SETTINGS_PAGES.flatMap(({ path, menu }) =>
  menu === undefined ? [] : [{ path, ...menu }],
);
