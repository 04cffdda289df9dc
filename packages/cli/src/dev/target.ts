// Where `platform dev` runs a folder: the platform on this machine, or one that this user is signed in to.
import type { Grant, Manifest, UnmetNeed } from '@platform/contract';

export interface Deployed {
  /** Why its backend does not run, in a sentence. */
  readonly problem?: string | undefined;
  /** What the manifest requests and is not granted. */
  readonly missing: readonly Grant[];
}

/** The platform as it runs at this moment. */
export interface DevTarget {
  /** Of the shell. */
  readonly origin: string;
  /** Name of the account. */
  readonly account: string;
  /**
   * Publishes the package and puts it in the place of the former version.
   *
   * @param until ends a question to the author
   * @throws RefusalError when the platform refuses it, for example because the app id belongs to another account
   */
  deploy(manifest: Manifest, file: string, until: AbortSignal): Promise<Deployed>;
  /** What of a deployed version cannot work on this platform. */
  unmet(manifest: Manifest): Promise<readonly UnmetNeed[]>;
  /** Prints what the backend logs from `since` on, until the signal aborts. */
  followLogs(appId: string, since: Date, signal: AbortSignal): Promise<void>;
}

/** The platform over its restarts. */
export interface DevPlatform {
  /** For people. */
  origin(): string;
  /** @throws StartError where none runs: nobody would wait for what was not started */
  require(): Promise<void>;
  /** Whether it can be used. @throws StartError where it never will be again */
  answers(): Promise<boolean>;
  /** Changes when it stops, and when it starts. */
  life(): string;
  use(work: (target: DevTarget) => Promise<void>): Promise<void>;
}
