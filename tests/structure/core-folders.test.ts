// Promises of how core is divided: its folders import each other in one direction, what every domain stands on loads
// none of them, and outside of a domain only its face is imported, of types as well.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { circleIn, type Loading, loadedBy } from './circles.ts';
import { importsOf } from './modules.ts';

const SOURCE = path.join(import.meta.dirname, '../../packages/core/src');
const files = globSync('**/*.ts', { cwd: SOURCE, exclude: ['**/*.test.ts'] });
/** What every domain stands on. */
const FOUNDATION = [
  ...[
    'background',
    'blobs',
    'clock',
    'config',
    'credentials',
    'database',
    'events',
    'grants',
    'http',
    'identity',
    'key-material',
    'members',
    'settings',
  ],
  ...[
    'account-files.ts',
    'built-in-tool.ts',
    'context.ts',
    'domain.ts',
    'lifecycle.ts',
    'log.ts',
    'log-error.ts',
    'metrics.ts',
    'normalize.ts',
    'points.ts',
    'opened.ts',
    'policy.ts',
    'security-events.ts',
    'version.ts',
  ],
];
/** What stands on the domains: the serving of app hosts, the wiring, and what other packages import. */
const TOP = ['frontends', 'domains.ts', 'open-context.ts', 'app.ts', 'local-core.ts', 'entries'];

const imports = files.flatMap((from) => loadedBy(from, readFileSync(path.join(SOURCE, from), 'utf8')));

/** A folder, or a file that lies in none. */
const partOf = (file: string) => file.split(path.sep)[0] ?? file;

test('every import of core is found, and a file that is not there would be', () => {
  assert.ok(files.length > 200 && imports.length > 500, `${files.length} files, ${imports.length} imports`);
  assert.deepEqual(
    imports.filter(({ to }) => !to.startsWith('..') && !files.includes(to)),
    [],
  );
});

test('folders of core import each other in one direction', () => {
  assert.deepEqual(circleIn(imports, partOf), []);
});

function layerOf(part: string): number {
  if (FOUNDATION.includes(part)) return 0;
  return TOP.includes(part) ? 2 : 1;
}

test('the foundation of core imports no domain, and no domain what is wired of them', () => {
  const upwards = imports.filter(({ from, to }) => !to.startsWith('..') && layerOf(partOf(from)) < layerOf(partOf(to)));
  assert.deepEqual(upwards, []);
});

test('whatever is neither foundation nor wiring is a domain, and says so in its domain.ts', () => {
  const parts = new Set(files.map(partOf).filter((part) => layerOf(part) === 1));
  assert.ok(parts.size > 8);
  assert.deepEqual(
    [...parts].filter((part) => !files.includes(path.join(part, 'domain.ts'))),
    [],
  );
});

/** Every import of core that names a file of core, of types as well. */
const named = files.flatMap((from) =>
  importsOf(from, readFileSync(path.join(SOURCE, from), 'utf8'))
    .filter(({ name }) => name.startsWith('.'))
    .map(({ name }) => ({ from, to: path.join(path.dirname(from), name) })),
);

/** Imports of a domain's insides from outside of it. The wiring alone also takes each domain itself. */
function pastFaces(all: readonly Loading[]): Loading[] {
  return all.filter(({ from, to }) => {
    if (partOf(from) === partOf(to) || to.startsWith('..') || layerOf(partOf(to)) !== 1) return false;
    const file = to.slice(partOf(to).length + 1);
    return file !== 'face.ts' && !(file === 'domain.ts' && from === 'domains.ts');
  });
}

test('outside of a domain, only its face is imported', () => {
  assert.ok(named.length > imports.length, `${named.length} imports`);
  assert.deepEqual(pastFaces(named), []);
  const attempts = [
    { from: 'search/routes.ts', to: 'catalog/queries.ts' },
    { from: 'search/routes.ts', to: 'catalog/domain.ts' },
    { from: 'app.ts', to: 'catalog/package-file.ts' },
    { from: 'http/server/route-table.ts', to: 'catalog/routes.ts' },
  ];
  const allowed = [
    { from: 'search/routes.ts', to: 'catalog/face.ts' },
    { from: 'catalog/routes.ts', to: 'catalog/queries.ts' },
    { from: 'domains.ts', to: 'catalog/domain.ts' },
    { from: 'catalog/routes.ts', to: 'http/handlers.ts' },
  ];
  assert.deepEqual(pastFaces([...attempts, ...allowed]), attempts);
});

test('a face only passes on, and nothing that nobody outside takes', () => {
  const faces = files.filter((file) => path.basename(file) === 'face.ts');
  assert.ok(faces.length > 10, `${faces.length} faces`);
  const unused = faces.flatMap((face) => {
    const source = readFileSync(path.join(SOURCE, face), 'utf8');
    const rest = source.replace(/^\/\/.*\n/gm, '').replace(/^export (?:type )?\{[^}]*\} from '\.\/[^']+';\n/gm, '');
    assert.equal(rest, '', `${face} does more than pass on what its domain has`);
    const takers = named
      .filter(({ to }) => to === face)
      .map(({ from }) => readFileSync(path.join(SOURCE, from), 'utf8'));
    return [...source.matchAll(/\{([^}]*)\}/g)]
      .flatMap(([, names = '']) => names.split(','))
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '' && !takers.some((taker) => new RegExp(`\\b${name}\\b`).test(taker)))
      .map((name) => `${face}: ${name}`);
  });
  assert.deepEqual(unused, []);
});

/** Names that a source text exports without a docstring; those that it passes on from elsewhere are described there. */
function undescribed(source: string, names: readonly string[]): string[] {
  const definition = (name: string) =>
    new RegExp(`(\\*/\\n)?export (?:async |abstract )?(?:function\\*?|const|class|interface|type) ${name}\\b`);
  return names.filter((name) => definition(name).exec(source)?.[1] === undefined && definition(name).test(source));
}

test('what a face passes on says what it is', () => {
  const found = files
    .filter((file) => path.basename(file) === 'face.ts')
    .flatMap((face) =>
      [...readFileSync(path.join(SOURCE, face), 'utf8').matchAll(/\{([^}]*)\} from '(\.\/[^']+)'/g)].flatMap(
        ([, names = '', file = '']) => {
          const source = readFileSync(path.join(SOURCE, path.dirname(face), file), 'utf8');
          const all = names.split(',').map((name) => name.trim().replace(/^type /, ''));
          return undescribed(source, all.filter(Boolean)).map((name) => `${path.dirname(face)}: ${name}`);
        },
      ),
    );
  assert.deepEqual(found, []);
  assert.deepEqual(undescribed('/** A. */\nexport const a = 1;\nexport function b() {}\n', ['a', 'b', 'c']), ['b']);
});
