// What a page of Settings declares, in the `settings-pages.ts` of its domain. The list is pages.ts.
import type { InstalledApp } from '@platform/contract';
import type { VNode } from 'preact';
import type { PathParams } from '../../address/view.ts';
import type { IconName } from '../../design/icons.tsx';

/** What a person reads of a page, and by which other words they find it. */
export interface PageName {
  readonly icon: IconName;
  readonly label: string;
  /** What else a person may call it, for the search. */
  readonly words: string;
}

/** The one name of a page that belongs to an app: in the search it stands behind the name of the app. */
export interface AppPageName extends PageName {
  /** Which apps have it. Default: all. */
  readonly has?: (app: InstalledApp) => boolean;
}

/** The component that draws a page. */
export type DrawPage<Params> = (params: Params) => VNode | null;

/** `Params` follow from the path. */
export interface SettingsPage<Path extends string, Params = PathParams<Path>> {
  /** Behind `#/settings/`; `:appId` stands for any app id, another `:name` for what `where` says. */
  readonly path: Path;
  readonly where?: Readonly<Record<string, RegExp>>;
  /** Imports what draws the page, with the parameters of its path. Called once the page is idle, and when it is opened. */
  readonly load: () => Promise<DrawPage<Params>>;
  /** Reached by name: beside the pages themselves, in the account menu and with the search. */
  readonly menu?: PageName;
  /** Reached with the search, for each app. A page with neither is reached from other pages alone. */
  readonly ofApp?: AppPageName;
}

/** One of which only the list knows which it is. */
export type AnyPage = SettingsPage<string, never>;
