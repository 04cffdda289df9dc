// Promises of backends that import packages: their script holds all of it, the same bytes each time, or says what is missing.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { PackageProblem } from './package-problem.ts';
import { planPackage } from './plan-package.ts';

const FILES = {
  'manifest.json': JSON.stringify({
    ...{ schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'Sample', summary: 'A package for tests' },
    workload: { runtime: 'node', entry: 'server.mjs' },
  }),
  'package.json': '{ "dependencies": { "greets": "1.0.0" } }',
  'node_modules/greets/package.json': '{ "name": "greets", "version": "1.0.0", "main": "main.js" }',
  'node_modules/greets/main.js':
    '/*! @license of greets */\nconst { sep } = require("node:path"); exports.greet = (name) => "Hello " + name + sep; // why',
  'workload/server.mjs':
    "import { greet } from 'greets';\nimport { sdk } from './platform-sdk.mjs';\nimport { own } from './lib/own.mjs';\n" +
    'console.log(greet(own + sdk));',
  'workload/lib/own.mjs': "import { sdk } from '../platform-sdk.mjs';\nexport const own = 'own ' + sdk + ' ';",
  // Stands in for the SDK.
  'sdk.js': "export const sdk = 'sdk';",
};

async function folderOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bundling-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

async function plan(folder: string) {
  const sdk = { browser: path.join(folder, 'sdk.js'), workload: path.join(folder, 'sdk.js') };
  const planned = await planPackage({ folder, sdk });
  const source = planned.files.find(({ name }) => name === 'workload/server.mjs')?.source;
  return { ...planned, script: source !== undefined && 'bytes' in source ? source.bytes.toString() : null };
}

test('the script holds the packages it imports, and the SDK, and runs alone', async (t) => {
  const { script, leftOut } = await plan(await folderOf(t, FILES));
  assert.deepEqual(leftOut, ['sdk.js']);
  assert.match(script ?? '', /@license of greets/);
  const alone = path.join(await folderOf(t, { 'server.mjs': script ?? '' }), 'server.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [alone]);
  assert.equal(stdout, `Hello own sdk sdk${path.sep}\n`);
});

test('the same folder gives the same script wherever it is', async (t) => {
  const [one, other] = [await plan(await folderOf(t, FILES)), await plan(await folderOf(t, FILES))];
  assert.ok(one.script);
  assert.equal(one.script, other.script);
});

test('nothing is bundled without dependencies, nor where node_modules is in the package', async (t) => {
  const { 'package.json': _, ...without } = FILES;
  assert.equal((await plan(await folderOf(t, without))).script, null);
  const packed = { ...FILES, 'workload/node_modules/greets/index.js': '' };
  assert.equal((await plan(await folderOf(t, packed))).script, null);
});

for (const [what, change, expected] of [
  [
    'a package that is not installed',
    { 'workload/server.mjs': "import 'none';\nimport './gone.mjs';" },
    [
      'workload/server.mjs imports none, which is not installed. Run npm install in the folder of the app.',
      'workload/server.mjs imports ./gone.mjs, which is not there.',
    ],
  ],
  [
    'a script with a typing error',
    { 'workload/server.mjs': 'import {' },
    [/^workload\/server\.mjs cannot be bundled: /],
  ],
  ['a package.json with one', { 'package.json': '{' }, [/^package\.json is not valid JSON: /]],
] as const) {
  test(`${what} is said`, async (t) => {
    await assert.rejects(plan(await folderOf(t, { ...FILES, ...change })), (error) => {
      assert.ok(error instanceof PackageProblem, String(error));
      assert.equal(error.problems.length, expected.length, error.problems.join('\n'));
      for (const [index, words] of expected.entries())
        if (typeof words === 'string') assert.equal(error.problems.toSorted().toReversed()[index], words);
        else assert.match(error.problems[index] ?? '', words);
      return true;
    });
  });
}
