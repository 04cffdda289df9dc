// Promises of every package.json: it declares what its package imports, and nothing of ours or of others beyond it.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import * as path from 'node:path';
import { test } from 'node:test';
import { homeOf, isTest } from './layers.ts';
import { type Import, ROOT, readImports, readManifest } from './modules.ts';

/** Their sources end in bundles, which need nothing at run time. */
const BUNDLED = ['packages/sdk', 'packages/shell'];

const packages = globSync('packages/*/package.json', { cwd: ROOT }).map((file) => path.dirname(file));
const imports = readImports();
const ofAll = namesIn('devDependencies', '.');

/** The package that an import names, `null` for a file or a module of Node. */
function packageOf({ name }: Import): string | null {
  if (/^[./]/.test(name) || isBuiltin(name)) return null;
  return /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? null;
}

function namesIn(list: 'dependencies' | 'devDependencies', folder: string): string[] {
  return Object.keys(readManifest(folder)[list] ?? {});
}

for (const folder of packages) {
  test(`${folder} declares what it imports, and nothing else`, () => {
    const dependencies = namesIn('dependencies', folder);
    const forDevelopment = namesIn('devDependencies', folder);
    const own = imports.filter(({ from }) => homeOf(from) === folder);
    const undeclared = own.filter((one) => {
      const name = packageOf(one);
      if (name === null || dependencies.includes(name)) return false;
      const more = isTest(one.from) ? [...forDevelopment, ...ofAll] : BUNDLED.includes(folder) ? forDevelopment : [];
      return !more.includes(name);
    });
    assert.deepEqual(undeclared, []);
    const used = new Set(own.map(packageOf));
    assert.deepEqual(
      [...dependencies, ...forDevelopment].filter((name) => !used.has(name)),
      [],
    );
    const sources = new Set(own.filter(({ from }) => !isTest(from)).map(packageOf));
    assert.deepEqual(
      dependencies.filter((name) => !sources.has(name)),
      [],
      'only tests import these: devDependencies',
    );
  });
}

test('the checkout declares what its tests, benches and scripts import, and no package that they do not', () => {
  const others = imports.filter(({ from }) => !packages.includes(homeOf(from)));
  const used = new Set(others.map(packageOf));
  assert.deepEqual(
    others.filter((one) => !ofAll.includes(packageOf(one) ?? ofAll[0] ?? '')),
    [],
  );
  assert.deepEqual(
    ofAll.filter((name) => name.startsWith('@platform/') && !used.has(name)),
    [],
  );
});

test('an example names the versions of its packages that the checkout has', () => {
  const wanted = readManifest('.').devDependencies ?? {};
  for (const file of globSync('examples/*/package.json', { cwd: ROOT })) {
    const { dependencies = {} } = readManifest(path.dirname(file));
    assert.deepEqual(
      Object.entries(dependencies).filter(([name, version]) => wanted[name] !== version),
      [],
      file,
    );
  }
});
