// docs/sdk is what the generator makes of the SDK as it is.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { writeReference } from '../../scripts/sdk-reference/write.ts';

const COMMITTED = path.join(import.meta.dirname, '../../docs/sdk');

/** It compiles the SDK and installs the generator at first. */
const LIMIT = { timeout: 300_000 };

test('the reference of the SDK is current; `npm run sdk-reference` writes it', LIMIT, async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reference-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const written = path.join(folder, 'sdk');
  await writeReference(written);
  const files = async (at: string) =>
    (await readdir(at, { recursive: true })).filter((name) => name.endsWith('.md')).sort();
  const names = await files(written);
  assert.deepEqual(await files(COMMITTED), names);
  for (const name of names) {
    const [now, committed] = await Promise.all([written, COMMITTED].map((at) => readFile(path.join(at, name), 'utf8')));
    assert.equal(committed, now, name);
  }
});

const pages = async () =>
  Promise.all(
    (await readdir(COMMITTED, { recursive: true }))
      .filter((name) => name.endsWith('.md'))
      .map(async (name) => ({ name, text: await readFile(path.join(COMMITTED, name), 'utf8') })),
  );

test('its pages are short, and nothing in them is a name that only the generator knows', async () => {
  const all = await pages();
  assert.ok(all.length > 20, `${all.length}`);
  for (const { name, text } of all) {
    assert.doesNotMatch(text, /__namedParameters|__type|\bundefined\.\w/, name);
    assert.ok(text.split('\n').length <= 700, name);
  }
});

test('its links lead somewhere', async () => {
  const names = new Set((await pages()).map(({ name }) => name));
  for (const { name, text } of await pages()) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)) {
      const at = path.join(path.dirname(name), target);
      if (!at.startsWith('..')) assert.ok(names.has(at), `${name}: ${target}`);
    }
  }
});

test('every method says what it does', async () => {
  for (const { name, text } of await pages()) {
    // A signature, and the heading of its parameters or its answer right behind it.
    const bare = [...text.matchAll(/^#+ (\w+)\(\)\n\n> [^\n]+\n\n#+ (?:Parameters|Returns)/gm)].map(
      ([, method]) => method,
    );
    assert.deepEqual(bare, [], name);
  }
});

test('its examples are programs that compile', LIMIT, async (t) => {
  const folder = await mkdtemp(path.join(import.meta.dirname, 'examples-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const examples = (await pages()).flatMap(({ text }) =>
    [...text.matchAll(/```ts\n(import .*?)```/gs)].map(([, code = '']) => code),
  );
  assert.ok(examples.length >= 5, `${examples.length}`);
  await Promise.all(examples.map((code, index) => writeFile(path.join(folder, `example-${index}.ts`), code)));
  const options = { extends: '../../../tsconfig.json', compilerOptions: { noEmit: true }, include: ['*.ts'] };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(options));
  const compiler = path.join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '--project', folder]).catch(
    (error: { readonly stdout: string }) => error,
  );
  assert.equal(stdout, '');
});
