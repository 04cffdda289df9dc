// What the cases of the suite get, in whatever runtime they run.
import type { PlatformServicesClient } from '@platform/sdk';

export interface SuiteTools {
  /** Of the app `sdk-suite` with the grants of `tests/support/sdk-suite.ts`, through its Gateway. */
  readonly client: PlatformServicesClient;
  readonly environment: { readonly PLATFORM_API_URL: string; readonly PLATFORM_GATEWAY_TOKEN: string };
  /** Another server of the test, with places that do not answer as a platform does; see `tests/support/sdk-suite.ts`. */
  readonly misbehaving: string;
  /** Moves the clock of core. */
  advance(milliseconds: number): Promise<void>;
}

export type Cases = Readonly<Record<string, (tools: SuiteTools) => Promise<void>>>;
