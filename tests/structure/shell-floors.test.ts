// Promises of how the shell is divided (docs/decisions/shell-floors.md): its floors import downwards, and nothing in it,
// nor in the system apps, imports each other in a circle. What is read is what a browser loads: type-only imports are
// erased before.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { circleIn, type Loading, loadedBy } from './circles.ts';
import { ROOT } from './modules.ts';

/** From the bottom; of each floor the folders or files of `packages/shell/src` on it. */
const FLOORS: readonly (readonly string[])[] = [
  ['address', 'api', 'design'],
  ['session'],
  ['apps'],
  ['desk'],
  ['app.tsx', 'main.tsx'],
];
/** The service worker: a program of its own, which stands on the lowest floor. */
const WORKER = 'worker';

function read(folder: string) {
  const cwd = path.join(ROOT, folder);
  const files = globSync('**/*.{ts,tsx}', { cwd, exclude: ['**/*.test.ts', '**/dist/**', '**/node_modules/**'] });
  return { files, loads: files.flatMap((file) => loadedBy(file, readFileSync(path.join(cwd, file), 'utf8'))) };
}

const { files, loads } = read('packages/shell/src');

const topOf = (file: string) => file.split(path.sep)[0] ?? file;

/** A folder of a floor, such as `desk/search`; files that lie beside such folders are one part. */
const partOf = (file: string) => path.dirname(file).split(path.sep).slice(0, 2).join('/');

const floorOf = (file: string) => FLOORS.findIndex((floor) => floor.includes(topOf(file)));

/** Why an import breaks the rule; `null` when it keeps it. */
function refusal({ from, to }: Loading): string | null {
  const broken = (why: string) => `${from} imports ${to}: ${why}`;
  const [here, there] = [topOf(from), topOf(to)];
  if (here === there) return null;
  if (there === WORKER) return broken('the service worker is another program');
  if (here === WORKER) return floorOf(to) === 0 ? null : broken('the service worker stands on the lowest floor');
  if (floorOf(to) > floorOf(from)) return broken('it is on a higher floor');
  return floorOf(from) === 0 ? broken('what is on the lowest floor knows nothing but itself') : null;
}

test('every import of the shell is found, and a file that is not there would be', () => {
  assert.ok(files.length > 180 && loads.length > 700, `${files.length} files, ${loads.length} imports`);
  assert.deepEqual(
    loads.filter(({ to }) => !files.includes(to)),
    [],
  );
  const source = `import type { A } from './a.ts';
import { type B, b } from './b.ts';
import './c.ts';
export type { D } from './d.ts';
export { e } from './e.tsx';
export * from '../f/f.ts';
const G = async () => (await import('../g/g.tsx')).G;
type H = typeof import('./h.ts');
import { i } from '@platform/contract';
const j = <b>from './j.ts'</b>;
`;
  assert.deepEqual(
    loadedBy('x/x.tsx', source).map(({ to }) => to),
    ['x/b.ts', 'x/c.ts', 'x/e.tsx', 'f/f.ts', 'g/g.tsx'],
  );
});

test('every folder and file of the shell is on one floor', () => {
  const tops = new Set(files.map(topOf));
  assert.deepEqual([...tops].sort(), [...FLOORS.flat(), WORKER].sort());
});

test('floors import downwards', () => {
  assert.deepEqual(
    loads.flatMap((load) => refusal(load) ?? []),
    [],
  );
  for (const [from, to] of [
    ['design/controls.tsx', 'apps/app-icons.ts'],
    ['api/client.ts', 'session/session.ts'],
    ['api/client.ts', 'design/words.ts'],
    ['apps/frames/open-apps.ts', 'desk/bar/immersion.ts'],
    ['desk/desk.tsx', 'app.tsx'],
    ['worker/show-push.ts', 'session/session.ts'],
    ['desk/desk.tsx', 'worker/open-from-press.ts'],
  ] as const)
    assert.ok(refusal({ from, to }), `${from} imports ${to}`);
  assert.equal(refusal({ from: 'desk/bar/bar.tsx', to: 'apps/frames/open-apps.ts' }), null);
  assert.equal(refusal({ from: 'worker/show-push.ts', to: 'address/notification-address.ts' }), null);
});

test('parts of the shell import each other in one direction, and so do single files', () => {
  assert.deepEqual(circleIn(loads, partOf), []);
  assert.deepEqual(
    circleIn(loads, (file) => file),
    [],
  );
  const circle = [
    { from: 'desk/a/1.ts', to: 'desk/b/deep/1.ts' },
    { from: 'desk/b/2.ts', to: 'desk/3.ts' },
    { from: 'desk/3.ts', to: 'desk/a/2.ts' },
  ];
  assert.equal(circleIn(circle, partOf).length, 3);
  assert.deepEqual(
    circleIn(circle, (file) => file),
    [],
  );
  const within = [
    { from: 'desk/a/1.ts', to: 'desk/a/2.ts' },
    { from: 'desk/a/2.ts', to: 'desk/a/1.ts' },
  ];
  assert.deepEqual(circleIn(within, partOf), []);
  assert.equal(circleIn(within, (file) => file).length, 2);
});

test('files of the system apps import each other in one direction', () => {
  const apps = read('apps');
  assert.ok(
    apps.files.length > 50 && apps.loads.length > 100,
    `${apps.files.length} files, ${apps.loads.length} imports`,
  );
  assert.deepEqual(
    circleIn(apps.loads, (file) => file),
    [],
  );
});
