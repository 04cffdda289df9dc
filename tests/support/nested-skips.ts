// A test file that runs itself again, in a namespace of its own, hides which of its tests were skipped there.
import type { TestContext } from 'node:test';

/** Skips the same tests here, as subtests, so that the run counts and judges them. `output` is that of node's spec reporter. */
export async function passOnSkips(context: TestContext, output: string): Promise<void> {
  for (const [, name, reason] of output.matchAll(/^ *﹣ (.+) \([\d.]+ms\)(?: # (.*))?$/gm))
    await context.test(name ?? '', { skip: reason ?? true });
}
