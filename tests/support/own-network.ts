// Runs a test file again in its own network namespace, which ends with it: its bridges, packet rules and listeners are
// isolated, and no packet leaves it. Needs root.
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runNested } from './nested-run.ts';
import { namespacesUnavailable } from './network-namespaces.ts';

/** Set inside. */
const MARK = 'PLATFORM_TEST_OWN_NETWORK';

export interface OwnNetworkOptions {
  /**
   * Why it cannot be run here, or false. `optional`: where no such network can be made, the tests run in that of the machine,
   * and packets of theirs may leave it.
   */
  readonly skip: string | false | 'optional';
  /** Milliseconds for the whole file. */
  readonly timeout: number;
}

/**
 * Declares the tests of a file inside, or outside one test that runs the file there and shows what it said if it
 * failed.
 */
export function inOwnNetwork(url: string, { skip, timeout }: OwnNetworkOptions, declare: () => void): void {
  if (process.env[MARK] === '1' || (skip === 'optional' && namespacesUnavailable() !== false)) {
    declare();
    return;
  }
  test('in a network namespace of its own', { skip: skip !== 'optional' && skip, timeout }, (context) =>
    runNested(context, {
      walls: ['unshare', '--net', '--', 'sh', '-euc', 'ip link set lo up; exec "$0" "$@"'],
      node: process.execPath,
      file: fileURLToPath(url),
      environment: { [MARK]: '1' },
    }),
  );
}
