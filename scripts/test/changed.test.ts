// What `npm test -- --changed` runs, in a small checkout of its own: what leans on a change, however indirectly.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { changedSince, checkoutAt, type Selection, selectChanged } from './changed.ts';

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'packages/contract/package.json': '{ "name": "@platform/contract", "exports": { ".": "./src/contract.ts" } }',
  'packages/contract/src/contract.ts': `export * from './limits.ts';`,
  'packages/contract/src/limits.ts': 'export const LIMIT = 1;',
  'packages/contract/src/limits.test.ts': `import { LIMIT } from './limits.ts'; LIMIT;`,
  'packages/contract/test-vectors/paths.json': '[]',
  'packages/contract/test-vectors/others.json': '[]',
  'packages/core/package.json':
    '{ "name": "@platform/core", "exports": { ".": { "default": "./src/app.ts" }, "./*": "./src/*" } }',
  'packages/core/src/app.ts': `import '@platform/contract';`,
  'packages/core/src/app.test.ts': `await import('./app.ts');`,
  'packages/core/src/paths.test.ts': `read(new URL('../../contract/test-vectors/paths.json', import.meta.url));`,
  'packages/core/src/search/words.ts': '',
  'packages/core/src/search/all.test.ts':
    'const vectors = (name) => `../../../contract/test-vectors/$\u007bname}.json`;',
  'packages/cli/package.json': '{ "name": "@platform/cli", "exports": {} }',
  'packages/cli/src/main.ts': `import '@platform/core/search/words.ts';`,
  'packages/shell/src/page.tsx': '',
  'tests/support/platform.ts': `spawn(new URL('../../packages/cli/src/main.ts', import.meta.url));`,
  'tests/system/start.test.ts': `import '../support/platform.ts';`,
  'tests/browser/browser.ts': '',
  'tests/browser/home.test.ts': '',
  'tests/stories/newcomer.test.ts': `import { launchBrowser } from '../browser/browser.ts'; import '../support/platform.ts';`,
  'tests/docs/pages.test.ts': `const ROOT = new URL('../../', import.meta.url); read(new URL('docs/page.md', ROOT));`,
  'docs/page.md': '',
  'docs/nobody-reads.md': '',
};

let root: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root });
const write = (file: string, text: string) => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};

before(() => {
  root = mkdtempSync(path.join(tmpdir(), 'platform-changed-'));
  git('init', '--quiet', '--initial-branch=main');
  for (const [file, text] of Object.entries(FILES)) write(file, text);
  git('add', '.');
  git('commit', '--quiet', '--message=all');
});
beforeEach(() => {
  git('checkout', '--quiet', '--force', 'main');
  git('clean', '--quiet', '--force', '-d');
});
after(() => rmSync(root, { recursive: true }));

function select(...changed: string[]): Selection {
  const tests = Object.keys(FILES).filter((file) => file.endsWith('.test.ts'));
  return selectChanged(checkoutAt(root), { changed, tests, rotation: {} });
}

test('a changed test file is run, and everything else is named as left out', () => {
  const { tests, leftOut, untested } = select('packages/contract/src/limits.test.ts');
  assert.deepEqual(tests, ['packages/contract/src/limits.test.ts']);
  assert.equal(leftOut.length, 7);
  assert.deepEqual(untested, []);
});

test('what imports a change through packages, subpaths, programs and other files is run', () => {
  assert.deepEqual(select('packages/contract/src/limits.ts').tests, [
    'packages/contract/src/limits.test.ts',
    'packages/core/src/app.test.ts',
  ]);
  assert.deepEqual(select('packages/core/src/search/words.ts').tests, [
    'tests/system/start.test.ts',
    'tests/stories/newcomer.test.ts',
  ]);
  assert.deepEqual(select('packages/core/package.json').tests, [
    'tests/system/start.test.ts',
    'tests/stories/newcomer.test.ts',
  ]);
});

test('files that are read count like files that are imported, by name and by the folder of a template', () => {
  assert.deepEqual(select('packages/contract/test-vectors/paths.json').tests, [
    'packages/core/src/paths.test.ts',
    'packages/core/src/search/all.test.ts',
  ]);
  assert.deepEqual(select('packages/contract/test-vectors/others.json').tests, [
    'packages/core/src/search/all.test.ts',
  ]);
  assert.deepEqual(select('docs/page.md').tests, ['tests/docs/pages.test.ts']);
});

test('what browsers load is built: a change of it runs the browser tests', () => {
  assert.deepEqual(select('packages/shell/src/page.tsx').tests, [
    'tests/browser/home.test.ts',
    'tests/stories/newcomer.test.ts',
  ]);
});

test('a change of the versions of dependencies or of the runner runs everything', () => {
  for (const file of ['package-lock.json', 'scripts/test/run-files.ts', 'scripts/run-tests.ts', '.ci/run'])
    assert.equal(select(file).leftOut.length, 0, file);
  assert.equal(select('scripts/test/changed.test.ts').tests.length, 0);
});

test('a changed file that no test leans on is named', () => {
  assert.deepEqual(select('docs/nobody-reads.md', 'docs/page.md').untested, ['docs/nobody-reads.md']);
});

test('a removed file runs what still names it', () => {
  rmSync(path.join(root, 'packages/contract/src/limits.ts'));
  git('rm', '--quiet', 'packages/contract/src/limits.ts');
  assert.equal(select('packages/contract/src/limits.ts').tests.length, 2);
});

test('by default everything counts that differs from where the branch left main: committed, edited, new, removed', () => {
  git('checkout', '--quiet', '-B', 'branch', 'main');
  write('packages/core/src/app.ts', 'committed');
  git('commit', '--quiet', '--all', '--message=one');
  write('docs/page.md', 'edited');
  write('docs/new.md', 'new');
  rmSync(path.join(root, 'docs/nobody-reads.md'));
  const all = ['docs/new.md', 'docs/nobody-reads.md', 'docs/page.md', 'packages/core/src/app.ts'];
  assert.deepEqual(changedSince(root, undefined).files, all);
  assert.deepEqual(changedSince(root, 'HEAD').files, all.slice(0, 3));
  assert.throws(() => changedSince(root, 'no-such-branch'), /git diff .*no-such-branch/s);
});

test('tests of the structure are run after every change of a module, which stays untested by them', () => {
  const structure = ['tests/structure/imports.test.ts'];
  write('tests/structure/imports.test.ts', '');
  const after = (file: string) => selectChanged(checkoutAt(root), { changed: [file], tests: structure, rotation: {} });
  assert.deepEqual(after('packages/shell/src/page.tsx'), {
    tests: structure,
    leftOut: [],
    untested: ['packages/shell/src/page.tsx'],
  });
  assert.deepEqual(after('packages/cli/package.json').tests, structure);
  assert.deepEqual(after('docs/page.md').tests, []);
});

test('types that are imported are erased before a file runs, so a change of them runs nothing', () => {
  write('packages/contract/src/types.ts', 'export type One = 1;');
  write('packages/contract/src/limits.test.ts', `import type { One } from './types.ts';\nconst one: One = 1;`);
  assert.deepEqual(select('packages/contract/src/types.ts').tests, []);
});
