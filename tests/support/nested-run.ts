// Runs a test file again inside walls of its own, and judges here what it said there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { passOnSkips } from './nested-skips.ts';

export interface NestedRun {
  /** What makes the walls and then runs the command behind it. It ends with this process. */
  readonly walls: readonly string[];
  readonly node: string;
  readonly file: string;
  /** Beside the environment of this process. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Fails with all that was said when a test of the file did, or none ran. */
export async function runNested(context: TestContext, { walls, node, file, environment }: NestedRun): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...outer } = process.env;
  const limit = process.execArgv.filter((option) => option.startsWith('--test-timeout='));
  const child = spawn(
    'setpriv',
    // --test, since a file that runs by itself ends with 0 after a hook of its own failed.
    ['--pdeathsig', 'TERM', ...walls, node, '--test', ...limit, '--test-reporter=spec', file],
    { env: { ...outer, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
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
