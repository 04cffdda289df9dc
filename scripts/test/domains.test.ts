// What a change of a domain runs, in a small platform whose tests start all of it, and in this one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkoutAt, selectChanged } from './changed.ts';
import { type Rotation, readRotation } from './rotation.ts';

/** Not as one string: this file would lean on that folder. */
const CORE = ['packages', 'core', 'src'].join('/');
const DOMAIN = (name: string, ...imports: string[]) => ({
  [`${CORE}/${name}/domain.ts`]: `import './work.ts';`,
  [`${CORE}/${name}/work.ts`]: imports.map((one) => `import '../${one}/face.ts';`).join('\n'),
  [`${CORE}/${name}/face.ts`]: `export { work } from './work.ts';`,
  [`${CORE}/${name}/work.test.ts`]: `import '../../../../tests/support/platform.ts';`,
});
const FILES: Readonly<Record<string, string>> = {
  'packages/contract/package.json': '{ "name": "@platform/contract", "exports": { ".": "./src/contract.ts" } }',
  'packages/contract/src/contract.ts': `export * from './domains.ts';`,
  'packages/contract/src/domains.ts': `export * from './domains/home.ts';`,
  'packages/contract/src/domains/home.ts': 'export const tile = 1;\nexport const unused = 2;',
  'packages/contract/src/routes.test.ts': `import './contract.ts';`,
  'packages/gateway/src/tiles.ts': `import { tile } from '@platform/contract';`,
  'packages/gateway/src/tiles.test.ts': `import './tiles.ts';`,
  'packages/gateway/src/others.ts': `import { something } from '@platform/contract';`,
  'packages/gateway/src/others.test.ts': `import './others.ts';`,
  'packages/core/package.json': '{ "name": "@platform/core", "exports": { ".": "./src/app.ts" } }',
  [`${CORE}/app.ts`]: `import './domains.ts'; import './http/server.ts';`,
  [`${CORE}/domains.ts`]: ['home', 'search', 'push'].map((one) => `import './${one}/domain.ts';`).join('\n'),
  [`${CORE}/http/server.ts`]: `import { tile } from '@platform/contract';`,
  [`${CORE}/app.test.ts`]: `import './app.ts';`,
  ...DOMAIN('home'),
  ...DOMAIN('search', 'home'),
  // Beside its unit tests.
  [`${CORE}/search/words.test.ts`]: `import './work.ts';`,
  ...DOMAIN('push', 'search'),
  [`${CORE}/push/vectors.test.ts`]: `import './work.ts';`,
  'tests/support/platform.ts': `import '@platform/core';`,
  'tests/attack/route-walk.test.ts': `import '../support/platform.ts';`,
  'tests/attack/tiles.test.ts': `import '../../packages/core/src/home/work.ts';`,
  'tests/stories/newcomer.test.ts': `import '../support/platform.ts'; import { launchBrowser } from '../browser/browser.ts';`,
  'tests/browser/browser.ts': '',
  'tests/browser/home.test.ts': `import '../support/platform.ts';`,
  'tests/browser/search.test.ts': `import '../support/platform.ts';`,
  'tests/system/start.test.ts': `import '../support/platform.ts';`,
  'packages/shell/src/home.tsx': '',
  'packages/shell/src/page.tsx': '',
};
const ROTATION: Rotation = {
  'tests/browser/home.test.ts': { third: 1, guards: ['home'] },
  'tests/browser/search.test.ts': { third: 2, guards: ['search'] },
};

describe('in a small platform', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(path.join(tmpdir(), 'platform-domains-'));
    for (const [file, text] of Object.entries(FILES)) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    }
    execFileSync('git', ['init', '--quiet'], { cwd: root });
  });
  after(() => rmSync(root, { recursive: true }));

  function select(...changed: string[]): readonly string[] {
    const tests = Object.keys(FILES).filter((file) => file.endsWith('.test.ts'));
    return [...selectChanged(checkoutAt(root), { changed, tests, rotation: ROTATION }).tests].sort();
  }
  const OF_ANY_DOMAIN = ['tests/attack/route-walk.test.ts', 'tests/stories/newcomer.test.ts'];

  test('a change inside a domain runs its tests, those of domains that import it, what guards it, and a smoke test', () => {
    assert.deepEqual(select(`${CORE}/home/work.ts`), [
      `${CORE}/home/work.test.ts`,
      `${CORE}/search/words.test.ts`,
      'tests/attack/route-walk.test.ts',
      'tests/attack/tiles.test.ts',
      'tests/browser/home.test.ts',
      'tests/stories/newcomer.test.ts',
    ]);
  });

  test('a domain behind two others runs the tests of the nearer one', () => {
    assert.deepEqual(select(`${CORE}/search/work.ts`), [
      `${CORE}/push/vectors.test.ts`,
      `${CORE}/search/words.test.ts`,
      `${CORE}/search/work.test.ts`,
      'tests/attack/route-walk.test.ts',
      'tests/browser/search.test.ts',
      'tests/stories/newcomer.test.ts',
    ]);
  });

  test('what all domains stand on, and what composes them, runs every test of a platform', () => {
    for (const file of [`${CORE}/http/server.ts`, `${CORE}/domains.ts`]) {
      const chosen = select(file);
      for (const test of ['tests/system/start.test.ts', `${CORE}/push/work.test.ts`, `${CORE}/app.test.ts`])
        assert.ok(chosen.includes(test), `${file}: ${test}`);
    }
  });

  test('the file of a domain in the contract runs the tests of the contract, and of what imports a name of it', () => {
    const chosen = select('packages/contract/src/domains/home.ts');
    for (const test of [
      'packages/contract/src/routes.test.ts',
      'packages/gateway/src/tiles.test.ts',
      `${CORE}/home/work.test.ts`,
      'tests/browser/home.test.ts',
      ...OF_ANY_DOMAIN,
    ])
      assert.ok(chosen.includes(test), test);
    assert.ok(!chosen.includes('packages/gateway/src/others.test.ts'));
  });

  test('a page that a browser test guards runs that and a smoke test; any other page all browser tests', () => {
    assert.deepEqual(select('packages/shell/src/home.tsx'), [
      'tests/browser/home.test.ts',
      'tests/stories/newcomer.test.ts',
    ]);
    assert.deepEqual(select('packages/shell/src/page.tsx'), [
      'tests/browser/home.test.ts',
      'tests/browser/search.test.ts',
      'tests/stories/newcomer.test.ts',
    ]);
  });

  test('a changed test runs itself and guards nothing', () => {
    assert.deepEqual(select(`${CORE}/home/work.test.ts`), [`${CORE}/home/work.test.ts`]);
  });
});

test('in this platform, a change of how tiles are arranged runs Home, the route walk, its pages and a smoke test', () => {
  const root = path.join(import.meta.dirname, '../..');
  const checkout = checkoutAt(root);
  const tests = checkout.files.filter((file) => file.endsWith('.test.ts') && !file.startsWith('tests/structure/'));
  const changed = [`${CORE}/home/arrange-tiles.ts`];
  assert.deepEqual([...selectChanged(checkout, { changed, tests, rotation: readRotation() }).tests].sort(), [
    `${CORE}/home/home.test.ts`,
    'tests/attack/route-walk.test.ts',
    'tests/browser/home.test.ts',
    'tests/browser/tiles.test.ts',
    'tests/stories/newcomer.test.ts',
  ]);
});
