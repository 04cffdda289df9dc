// What runs an executable in the place of a script forwards SIGTERM from the executable's first moment on.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** Node's `spawn` returns only when the file named by SIGNALLED is there: the executable is that far ahead. */
const SLOW_SPAWN = `
  import childProcess from 'node:child_process';
  import { existsSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { spawn } = childProcess;
  const word = new Int32Array(new SharedArrayBuffer(4));
  childProcess.spawn = (...request) => {
    const child = spawn(...request);
    while (!existsSync(process.env.SIGNALLED)) Atomics.wait(word, 0, 0, 5);
    return child;
  };
  syncBuiltinESMExports();`;

test('an executable receives SIGTERM, even if it is sent before its start is over', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'run-executable-'));
  const script = `trap 'exit 3' TERM; kill -TERM $PPID; : >"$SIGNALLED"; while :; do sleep 1 & wait; done`;
  const runner = spawn(
    process.execPath,
    [
      `--import=data:text/javascript,${encodeURIComponent(SLOW_SPAWN)}`,
      ...[join(import.meta.dirname, 'run-executable.mjs'), '/bin/sh', '-c', script],
    ],
    { env: { PATH: process.env.PATH, SIGNALLED: join(folder, 'signalled') }, stdio: 'inherit', detached: true },
  );
  t.after(() => {
    try {
      process.kill(-(runner.pid ?? 0), 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
    rmSync(folder, { recursive: true });
  });
  assert.deepEqual(await once(runner, 'exit'), [3, null]);
});
