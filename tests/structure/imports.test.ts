// The import rule (layers.ts): every import of the checkout keeps it, and each one that it forbids is refused, here and by
// the linter, in whatever form it is written.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { homeOf, MAY_IMPORT, refusal, WHOLE } from './layers.ts';
import { importsOf, listModules, ROOT, readImports } from './modules.ts';

const packages = globSync('packages/*/package.json', { cwd: ROOT }).map((file) => path.dirname(file));

/** Every form in which a module may be named. */
const FORMS: readonly ((name: string) => string)[] = [
  (name) => `import { a } from '${name}';`,
  (name) => `import '${name}';`,
  (name) => `import type { A } from '${name}';`,
  (name) => `export { a } from '${name}';`,
  (name) => `export * from '${name}';`,
  (name) => `export type { A } from '${name}';`,
  (name) => `export const a = await import('${name}');`,
];
/** Known to layers.ts alone. */
const MORE_FORMS: typeof FORMS = [
  (name) => `export type A = import('${name}').A;`,
  (name) => `export const a = new URL('${name}', import.meta.url);`,
];

interface Attempt {
  readonly file: string;
  readonly name: string;
}

/** From a file in `folder` of `home`: the package by its name, by a file behind its name, and by two paths. */
function attempts(home: string, folder: string, target: string): Attempt[] {
  const file = `${home}/${folder}/attempt.ts`;
  const to = (place: string) => path.relative(path.dirname(file), place);
  return [
    `@platform/${target}`,
    `@platform/${target}/src/app.ts`,
    `@platform/${target}/app.ts`,
    to(`packages/${target}/src/app.ts`),
    `${'../'.repeat(path.dirname(file).split('/').length)}packages/${target}/src/deep/app.ts`,
    to(`packages/${target}/test-support/app.ts`),
  ].map((name) => ({ file, name }));
}

const forbidden = Object.entries(MAY_IMPORT).flatMap(([home, may]) =>
  packages
    .map((folder) => path.basename(folder))
    .filter((target) => `packages/${target}` !== home && !may.includes(target))
    .flatMap((target) => ['src', 'src/deep', 'test-support'].flatMap((folder) => attempts(home, folder, target))),
);
/** Insides of a package, which nobody outside of it imports. */
const insides = [...Object.keys(MAY_IMPORT), ...WHOLE].flatMap((home) =>
  packages
    .filter((folder) => folder !== home)
    .flatMap((folder) => attempts(home, 'src', path.basename(folder)))
    .filter(({ name }) => /\.\.\/.*\/src\//.test(name)),
);

test('every import keeps the rule', () => {
  const all = readImports();
  assert.ok(all.length > 3_000, `${all.length} imports`);
  const broken = all.flatMap((one) => {
    const why = refusal(one);
    return why === null ? [] : [`${one.from}: ${one.name}: ${why}`];
  });
  assert.deepEqual(broken, []);
});

test('every package and every other home of modules has a rule', () => {
  const homes = new Set([...packages, ...listModules().map(homeOf)]);
  assert.deepEqual([...homes].sort(), [...Object.keys(MAY_IMPORT), ...WHOLE].sort());
});

test('every forbidden import is refused, in each of its forms', () => {
  assert.ok(forbidden.length > 500 && insides.length > 100, `${forbidden.length}, ${insides.length}`);
  for (const { file, name } of [...forbidden, ...insides]) {
    for (const form of [...FORMS, ...(/\.ts$/.test(name) && name.startsWith('.') ? MORE_FORMS : [])]) {
      const [found] = importsOf(file, form(name));
      assert.deepEqual(found, { from: file, name }, form(name));
      assert.notEqual(refusal(found), null, `${file}: ${form(name)}`);
    }
  }
});

test('a test takes test support from packages below, and sources take none', () => {
  const support = '../../http/test-support/fetch-through-socket.ts';
  assert.equal(refusal({ from: 'packages/core/src/a.test.ts', name: support }), null);
  assert.equal(refusal({ from: 'packages/core/test-support/a.ts', name: '../../../tests/support/wait.ts' }), null);
  assert.notEqual(refusal({ from: 'packages/core/src/a.ts', name: support }), null);
  assert.notEqual(refusal({ from: 'packages/core/src/a.ts', name: '../test-support/apps.ts' }), null);
  assert.notEqual(refusal({ from: 'packages/core/src/a.ts', name: '../../../tests/support/wait.ts' }), null);
  assert.notEqual(refusal({ from: 'packages/http/src/a.test.ts', name: '../../core/test-support/apps.ts' }), null);
});

test('the linter refuses every forbidden import, and none that is allowed', () => {
  const allowed = Object.entries(MAY_IMPORT).flatMap(([home, may]) =>
    may.map((target) => ({ file: `${home}/src/allowed.ts`, name: `@platform/${target}` })),
  );
  const lines = Map.groupBy(
    [...forbidden, ...insides, ...allowed].flatMap(({ file, name }) =>
      FORMS.map((form) => ({ file, line: form(name) })),
    ),
    ({ file }) => file,
  );
  const refused = lint(new Map([...lines].map(([file, all]) => [file, all.map(({ line }) => line)])));
  const passed = [...lines].flatMap(([file, all]) =>
    all.filter((_, index) => !refused.has(`${file}:${index + 1}`)).map(({ line }) => `${file}: ${line}`),
  );
  const expected = allowed.flatMap(({ file, name }) => FORMS.map((form) => `${file}: ${form(name)}`));
  assert.deepEqual(passed.sort(), expected.sort());
});

/** `<file>:<line>` of every import that the linter refuses. */
function lint(files: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'imports-'));
  try {
    cpSync(path.join(ROOT, 'biome.json'), path.join(folder, 'biome.json'));
    for (const [file, lines] of files) {
      mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(folder, file), lines.join('\n'));
    }
    const biome = path.join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
    const rule = [
      '--only=style/noRestrictedImports',
      '--vcs-enabled=false',
      '--max-diagnostics=none',
      '--reporter=github',
    ];
    const { stdout, stderr } = spawnSync(process.execPath, [biome, 'lint', ...rule], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
    const found = [...stdout.matchAll(/^::error title=lint\/style\/noRestrictedImports,file=([^,]+),line=(\d+)/gm)];
    assert.ok(found.length > 0, `Biome found nothing: ${stdout.slice(0, 2_000)}${stderr.slice(0, 2_000)}`);
    return new Set(found.map(([, file = '', line]) => `${path.relative(folder, path.resolve(folder, file))}:${line}`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
