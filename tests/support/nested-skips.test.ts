// Skips inside of a namespace are skips of the run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('a skip of a nested run is reported once by the run around it, with its reason', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-nested-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const inner = join(folder, 'inner.mjs');
  writeFileSync(
    inner,
    `import { describe, test } from 'node:test'; test('runs', () => {});
     describe('group', () => test('left (out) here', { skip: 'no such device' }, () => {}));`,
  );
  const outer = join(folder, 'outer.mjs');
  writeFileSync(
    outer,
    `import { execFileSync } from 'node:child_process'; import { test } from 'node:test';
     import { passOnSkips } from ${JSON.stringify(new URL('nested-skips.ts', import.meta.url).href)};
     test('nested', async (t) => {
       const { NODE_TEST_CONTEXT: _, ...env } = process.env;
       const args = ['--test', '--test-reporter=spec', ${JSON.stringify(inner)}];
       await passOnSkips(t, execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
     });`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', '--test-reporter=spec', outer];
  const { stdout, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /﹣ left \(out\) here \([\d.]+ms\) # no such device/);
  assert.match(stdout, /skipped 1$/m);
});
