// What can be done with an app in the Store.
import type { InstalledApp } from '@platform/sdk/browser';

export interface StoreActions {
  /** The app something is being done with. */
  readonly busy: string | undefined;
  readonly installed: (appId: string) => InstalledApp | undefined;
  /** The newest version, or the one named: newer or older than the installed one. The shell asks. */
  readonly install: (appId: string, version?: string) => void;
  readonly open: (appId: string) => void;
  /** Of the publisher. The shell asks. */
  readonly withdraw: (appId: string, version: string) => Promise<void>;
  /** The page of the app. */
  readonly show: (appId: string) => void;
}

/** A version without its build part: the digits after `+` only tell builds of the platform's own apps apart. */
export function shortVersion(version: string): string {
  return version.split('+', 1)[0] ?? version;
}
