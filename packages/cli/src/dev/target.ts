// Where `platform dev` runs a folder: the platform on this machine, or one that this user is signed in to.
import type { Grant, Manifest } from '@platform/contract';

export interface DevTarget {
  /** Of the shell. */
  readonly origin: string;
  /** Name of the account. */
  readonly account: string;
  /**
   * Publishes the package and puts it in the place of the former version.
   *
   * @returns what the manifest requests and is not granted
   * @throws RefusalError when the platform refuses it, for example because the app id belongs to another account
   */
  deploy(manifest: Manifest, file: string): Promise<readonly Grant[]>;
  /** Prints what the backend logs from `since` on, until the signal aborts. */
  followLogs(appId: string, since: Date, signal: AbortSignal): Promise<void>;
}
