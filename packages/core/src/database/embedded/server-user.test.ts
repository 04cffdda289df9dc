// What a root says that has no other users, as in a container with a single user id.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';

test('a root without other users reads why PostgreSQL cannot run, and what to do', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'platform-owner-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = `
    import { changeOwner } from ${JSON.stringify(new URL('./server-user.ts', import.meta.url).href)};
    try { changeOwner(process.argv[1], 0, 61_000); } catch (error) { console.log(error.code, error.message); }
  `;
  const line = ['--user', '--map-root-user', process.execPath, '--input-type=module', '-e', program, folder];
  const { stdout, stderr } = spawnSync('unshare', line, { encoding: 'utf8' });
  assert.match(
    stdout,
    /^no_postgres_user .*root may not give files to another user \(EINVAL\)\. Run the platform as/,
    stderr,
  );
});
