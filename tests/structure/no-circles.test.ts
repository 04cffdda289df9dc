// Promises of how the sources hang together: no file is loaded in order to load itself, anywhere but in the shell, whose
// floors have a test of their own, and the folders of a package load each other in one direction.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { circleIn, loadedBy, readLoadings } from './circles.ts';
import { homeOf } from './layers.ts';
import { listModules, ROOT } from './modules.ts';

const files = listModules().filter((file) => homeOf(file) !== 'packages/shell');
const loadings = readLoadings(files);

/** Those whose folders may not form circles; core's are told apart by what they stand on, in core-folders.test.ts. */
const PACKAGES = ['cli', 'contract', 'gateway', 'http', 'ingress', 'link', 'runtime', 'sdk'];

test('every file that is loaded is found', () => {
  assert.ok(files.length > 1_500 && loadings.length > 3_000, `${files.length} files, ${loadings.length} loadings`);
  // What is built or copied at its use is no TypeScript.
  const missing = loadings.filter(({ to }) => to.endsWith('.ts') && !existsSync(path.join(ROOT, to)));
  assert.deepEqual(missing, []);
});

test('no file leads back to itself', () => {
  assert.deepEqual(circleIn(loadings), []);
});

for (const name of PACKAGES) {
  test(`the folders of ${name} load each other in one direction`, () => {
    const source = `packages/${name}/src/`;
    const isSource = (file: string) => file.startsWith(source) && !file.endsWith('.test.ts');
    const own = loadings.filter(({ from, to }) => isSource(from) && isSource(to));
    assert.ok(own.length > 5);
    const folderOf = (file: string) => file.slice(source.length).split('/')[0] ?? file;
    assert.deepEqual(circleIn(own, folderOf), []);
  });
}

test('a circle is found, of files and of folders, and what only names a type makes none', () => {
  const source = [
    "import type { A } from './a.ts';",
    "export type { B } from './b.ts';",
    "import { c } from './c.ts';",
    "import { type D, d } from './d.ts';",
    "export * from './e.ts';",
    "const f = await import('../f.ts');",
    "import { g } from 'g';",
  ].join('\n');
  assert.deepEqual(
    loadedBy('x/x.ts', source).map(({ to }) => to),
    ['x/c.ts', 'x/d.ts', 'x/e.ts', 'f.ts'],
  );
  const circle = [
    { from: 'a/1.ts', to: 'b/1.ts' },
    { from: 'b/1.ts', to: 'b/2.ts' },
    { from: 'b/2.ts', to: 'a/1.ts' },
  ];
  assert.equal(circleIn(circle).length, 3);
  assert.deepEqual(circleIn(circle.slice(0, 2)), []);
  const folders = [
    { from: 'a/1.ts', to: 'b/1.ts' },
    { from: 'b/2.ts', to: 'a/2.ts' },
  ];
  assert.deepEqual(circleIn(folders), []);
  assert.deepEqual(
    circleIn(folders, (file) => file.charAt(0)),
    ['a/1.ts loads b/1.ts', 'b/2.ts loads a/2.ts'],
  );
  assert.deepEqual(circleIn([{ from: 'a.ts', to: 'a.ts' }]), ['a.ts loads a.ts']);
});
