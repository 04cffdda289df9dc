// What rotates: every file has one turn, every promise is tried, and what guards a change runs whoever's turn it is.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { balance, write } from './balance.ts';
import { checkoutAt } from './changed.ts';
import { CHECKED_IN, expectedSeconds, readDurations } from './durations.ts';
import { leftOutLines } from './left-out.ts';
import {
  AS_NOBODY,
  chooseFiles,
  needsPlace,
  ROTATION,
  type Rotation,
  readRotation,
  rotates,
  THIRDS,
} from './rotation.ts';
import { guards } from './territory.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const { files } = checkoutAt(ROOT);
const tests = files.filter((file) => file.endsWith('.test.ts'));
const rotation = readRotation();

test('each test of the whole platform has its line: a third, or every run, and what it guards', () => {
  const missing = tests.filter((file) => needsPlace(file) && rotation[file] === undefined);
  assert.deepEqual(missing, [], 'add lines for them to scripts/test/rotation.json');
  for (const [file, { third }] of Object.entries(rotation)) {
    assert.ok(tests.includes(file), `${file} is not there: move or remove its line in scripts/test/rotation.json`);
    assert.ok(third === 'every' || THIRDS.includes(third), `${file}: ${third}`);
  }
});

test('what a line guards exists', () => {
  for (const [file, { guards: named }] of Object.entries(rotation)) {
    assert.ok(named.length > 0, `${file} guards nothing`);
    const idle = named.filter((guard) => !files.some((one) => !one.endsWith('.test.ts') && guards(guard, one)));
    assert.deepEqual(idle, [], `${file}: scripts/test/rotation.json names what is not there any more`);
  }
});

test('every promise is tried in every run, or in one of each three', () => {
  const thirds = THIRDS.map((third) => new Set(chooseFiles(tests, { rotation, third, changed: [] }).chosen));
  const page = readFileSync(path.join(ROOT, 'docs/promises.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.includes('.test.ts`'));
  assert.ok(rows.length > 100);
  for (const row of rows) {
    for (const [, file = ''] of row.matchAll(/`([^`]+\.test\.ts)`/g)) {
      const runs = thirds.filter((chosen) => chosen.has(file)).length;
      assert.equal(runs, rotates(rotation, file) ? 1 : THIRDS.length, `${file}: ${row}`);
    }
  }
});

test('the thirds take about the same time', () => {
  const known = readDurations(CHECKED_IN);
  const seconds = THIRDS.map((third) =>
    Object.entries(rotation)
      .filter(([, place]) => place.third === third)
      .reduce((sum, [file]) => sum + expectedSeconds(file, known), third === AS_NOBODY.third ? AS_NOBODY.seconds : 0),
  );
  assert.ok(
    Math.max(...seconds) < 1.25 * Math.min(...seconds),
    `${seconds.map(Math.round).join(', ')} s: node scripts/test/balance.ts`,
  );
});

test('balancing divides what rotates evenly, with the part as an ordinary user, and leaves the rest as it is', () => {
  const seconds = (file: string) => Number(file.split('-').at(0));
  const place = (third: 1 | 'every') => ({ third, guards: ['search'] });
  const all = {
    '500-a': place('every'),
    ...Object.fromEntries([60, 20, 30, 50, 30, 40].map((n, i) => [`${n}-${i}`, place(1)])),
  };
  const balanced = balance(all, seconds);
  assert.equal(balanced['500-a']?.third, 'every');
  const sums = THIRDS.map((third) =>
    Object.entries(balanced)
      .filter(([, one]) => one.third === third)
      .reduce((sum, [file]) => sum + seconds(file), third === AS_NOBODY.third ? AS_NOBODY.seconds : 0),
  );
  assert.ok(Math.max(...sums) - Math.min(...sums) <= 20, sums.join(', '));
  const built = Object.entries(rotation).filter(([, { guards: named }]) => named.includes('sdk-rust'));
  assert.ok(
    built.length > 1 && new Set(built.map(([, { third }]) => third)).size === 1,
    'Rust is built in one of three runs',
  );
  assert.deepEqual(JSON.parse(write(balanced)), balanced);
  assert.equal(write(rotation), readFileSync(ROTATION, 'utf8'));
});

const SMALL: Rotation = {
  'tests/one.test.ts': { third: 1, guards: ['search', 'docs/page.md'] },
  'tests/two.test.ts': { third: 2, guards: ['packages/runtime/src'] },
  'tests/always.test.ts': { third: 'every', guards: ['search'] },
};
const choose = (...changed: string[]) =>
  chooseFiles([...Object.keys(SMALL), 'packages/unit.test.ts'], { rotation: SMALL, third: 3, changed });

test('a run tries what does not rotate and its third, and names the rest', () => {
  assert.deepEqual(choose(), {
    chosen: ['tests/always.test.ts', 'packages/unit.test.ts'],
    guarding: [],
    leftOut: ['tests/one.test.ts', 'tests/two.test.ts'],
  });
});

test('a file of another third runs when what it guards changes, or itself; tests of that are no such change', () => {
  for (const [changed, guarding] of [
    ['packages/core/src/search/words.ts', 'tests/one.test.ts'],
    ['packages/contract/src/domains/search.ts', 'tests/one.test.ts'],
    ['packages/shell/src/settings/search-page.tsx', 'tests/one.test.ts'],
    ['docs/page.md', 'tests/one.test.ts'],
    ['packages/runtime/src/lifecycle/awake.ts', 'tests/two.test.ts'],
    ['tests/two.test.ts', 'tests/two.test.ts'],
  ] as const)
    assert.deepEqual(choose(changed).guarding, [guarding], changed);
  for (const other of [
    'packages/core/src/search/words.test.ts',
    'packages/core/src/research/words.ts',
    'docs/search.md',
  ])
    assert.deepEqual(choose(other).guarding, [], other);
});

test('what a run left out is named by folder at its end, with the command that runs it', () => {
  const lines = leftOutLines(['tests/chaos/a.test.ts', 'tests/cli/c.test.ts', 'tests/chaos/b.test.ts'], {
    third: 2,
    device: 'phone',
  });
  assert.deepEqual(lines.slice(1, 3), ['  tests/chaos (2): a, b', '  tests/cli (1): c']);
  const said = lines.join('\n');
  for (const words of ['third 2 on a phone: 3 test files', 'pages on a desktop', 'npm test -- --all', 'test:release'])
    assert.ok(said.includes(words), said);
  const many = Array.from({ length: 40 }, (_, index) => `tests/chaos/a-long-name-${index}.test.ts`);
  for (const line of leftOutLines(many, { third: 1, device: 'phone' })) assert.ok(line.length <= 120, line);
});

test('the command for everything before a release exists', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  assert.equal(scripts['test:release'], 'exec .ci/run --release');
  assert.ok(existsSync(path.join(ROOT, '.ci/run')));
});
