// Runs a test file again in its own network namespace, which ends with it: its bridges, packet rules and listeners are
// isolated, and no packet leaves it. Needs root.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { passOnSkips } from './nested-skips.ts';

/** Set inside. */
const MARK = 'PLATFORM_TEST_OWN_NETWORK';

export interface OwnNetworkOptions {
  /** Why it cannot be run here, or false. */
  readonly skip: string | false;
  /** Milliseconds for the whole file. */
  readonly timeout: number;
}

/**
 * Declares the tests of a file inside, or outside one test that runs the file there and shows what it said if it
 * failed.
 */
export function inOwnNetwork(url: string, { skip, timeout }: OwnNetworkOptions, declare: () => void): void {
  if (process.env[MARK] === '1') {
    declare();
    return;
  }
  test('in a network namespace of its own', { skip, timeout }, (context) => runInside(context, fileURLToPath(url)));
}

async function runInside(context: TestContext, file: string): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'TERM', 'unshare', '--net', '--', 'sh', '-euc', 'ip link set lo up; exec "$0" "$@"'],
      // --test, since a file that runs by itself ends with 0 after a hook of its own failed.
      ...[process.execPath, '--test', '--test-reporter=spec', file],
    ],
    { env: { ...environment, [MARK]: '1' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  context.after(() => child.kill('SIGTERM'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  }
  const [code] = await once(child, 'close');
  for (const [, said] of output.matchAll(/^ℹ (PLATFORM_TEST_.*)$/gm)) context.diagnostic(String(said));
  assert.equal(code, 0, output);
  assert.match(output, /pass [1-9]/);
  await passOnSkips(context, output);
}
