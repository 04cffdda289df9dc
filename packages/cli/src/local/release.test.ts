// Whether the code on the disk is still the code that was started, and what it is called.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { readRelease, releaseText } from './release.ts';

function checkout(t: TestContext) {
  const root = mkdtempSync(path.join(tmpdir(), 'release-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  const sources = [
    'packages/core/src/first.ts',
    'packages/core/src/database/migrations/0001-first.sql',
    'packages/cli/src/second.ts',
  ];
  for (const file of [...sources, 'packages/core/package.json', 'node_modules/.package-lock.json', 'docs/users.md'])
    write(file, 'content');
  return { root, sources, write, mark: () => readRelease(root).mark };
}

test('every change of the program gives another mark, and nothing else does', (t) => {
  const { root, sources, write, mark } = checkout(t);
  const marks = new Set([mark()]);
  assert.ok(marks.has(mark()), 'the same code has the same mark');
  const another = (what: string) => {
    const before = marks.size;
    marks.add(mark());
    assert.equal(marks.size, before + 1, what);
  };
  for (const file of sources) {
    write(file, 'other content');
    another(file);
  }
  // As long as before.
  write('packages/core/src/first.ts', 'OTHER CONTENT');
  utimesSync(path.join(root, 'packages/core/src/first.ts'), 1, 1);
  another('a change of the same length');
  write('packages/core/src/database/migrations/0002-second.sql', '');
  another('a migration more');
  renameSync(path.join(root, 'packages/core/src/first.ts'), path.join(root, 'packages/core/src/renamed.ts'));
  another('another name');
  rmSync(path.join(root, 'packages/cli/src/second.ts'));
  another('a file less');
  write('node_modules/.package-lock.json', '{}');
  another('other dependencies');
  write('docs/users.md', 'other words');
  write('packages/core/built/shell.js', 'built');
  assert.ok(marks.has(mark()), 'documentation, and what a start builds');
});

test('the commit is read without git, on a branch, packed or detached; elsewhere there is none', (t) => {
  const { root } = checkout(t);
  assert.equal(readRelease(root).commit, null);
  assert.match(releaseText(readRelease(root)), /^\d+\.\d+\.\d+$/);
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      encoding: 'utf8',
    });
  git('init', '--quiet');
  assert.equal(readRelease(root).commit, null, 'before the first commit');
  git('commit', '--quiet', '--allow-empty', '--message=first');
  const head = git('rev-parse', 'HEAD').trim().slice(0, 12);
  assert.equal(readRelease(root).commit, head);
  git('pack-refs', '--all');
  assert.equal(readRelease(root).commit, head);
  git('checkout', '--quiet', '--detach');
  assert.equal(readRelease(root).commit, head);
  assert.equal(releaseText(readRelease(root)), `${readRelease(root).version} (${head})`);
});
