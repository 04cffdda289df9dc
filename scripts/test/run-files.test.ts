// A run of small test files: their order, the report, and skips that are not allowed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RunRequest } from './run-files.ts';
import { readAllowedSkips, skipsNotAllowed } from './skips.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'platform-run-files-'));
});
after(() => rmSync(folder, { recursive: true }));

async function run(
  files: Readonly<Record<string, string>>,
  more: Partial<RunRequest> = {},
): Promise<{ code: number; said: string }> {
  for (const [name, text] of Object.entries(files))
    writeFileSync(path.join(folder, name), `import { test } from 'node:test'; ${text}`);
  const request: RunRequest = {
    batches: Object.keys(files).map((name) => ({
      files: [path.relative(ROOT, path.join(folder, name))],
      concurrency: 1,
    })),
    options: [],
    testLimit: 10_000,
    record: [],
    leftOut: [],
    judgeSkips: true,
    again: true,
    usageFile: path.join(folder, 'usage'),
    ...more,
  };
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return new Promise((resolve) => {
    const args = [path.join(ROOT, 'scripts/test/run-files.ts'), JSON.stringify(request)];
    const child = execFile(process.execPath, args, { env }, (_error, said) =>
      resolve({ code: child.exitCode ?? -1, said }),
    );
  });
}

test('files run in the order that was asked for, and the slowest are named at the end', async () => {
  const { code, said } = await run({
    'z.test.ts': `test('first', () => {});`,
    'a.test.ts': `test('second', () => {});`,
  });
  assert.equal(code, 0, said);
  assert.match(said, /first.*second.*ℹ tests 2\n.*ℹ pass 2\n.*The slowest files.*all 2 files/s);
});

test('a failing test and a file that cannot be read fail the run', async () => {
  assert.equal((await run({ 'f.test.ts': `test('fails', () => { throw new Error('no'); });` })).code, 1);
  assert.equal((await run({ 'g.test.ts': `import './nothing.ts';` })).code, 1);
});

test('a file that fails beside others runs once more, alone; it passes the run then, and is named', async () => {
  const once = `import { existsSync, writeFileSync } from 'node:fs'; const mark = import.meta.filename + '.ran';
    test('fails once', () => { if (!existsSync(mark)) { writeFileSync(mark, ''); throw new Error('no'); } });`;
  const files = { 'o.test.ts': once, 'p.test.ts': `test('passes', () => {});` };
  const endFile = path.join(folder, 'end');
  const { code, said } = await run(files, { leftOut: ['Left out'], endFile });
  assert.equal(code, 0, said);
  assert.match(said, /Once more, alone: \S*o\.test\.ts\n.*The slowest files.*\nLeft out\n/s);
  assert.match(said, /passed alone, as no test should: \S*o\.test\.ts\n$/, 'the last line of all');
  assert.match(readFileSync(endFile, 'utf8'), /^Left out\nFailed beside others \S.*o\.test\.ts\n$/);
  assert.equal(said.match(/✔ passes/g)?.length, 1);
  const fails = Object.fromEntries(['q', 'r', 's', 't', 'u'].map((name) => [`${name}.test.ts`, once]));
  assert.equal((await run(fails)).code, 1, 'not that many');
  assert.equal((await run({ 'v.test.ts': once }, { again: false })).code, 1);
});

test('a test that never ends fails at its limit', async () => {
  const { code, said } = await run(
    { 'n.test.ts': `test('waits', () => new Promise((r) => setTimeout(r, 1_000)));` },
    { testLimit: 50 },
  );
  assert.equal(code, 1);
  assert.match(said, /timed out after 50ms/);
});

test('a skipped test fails a run where everything is there, and is named with its reason', async () => {
  const files = { 's.test.ts': `test('left out', { skip: 'for no good reason' }, () => {});` };
  const { code, said } = await run(files);
  assert.equal(code, 1);
  assert.match(said, /allowed-skips\.json.*s\.test\.ts: left out \(for no good reason\)/);
  assert.equal((await run(files, { judgeSkips: false })).code, 0);
});

test('a skip is allowed by its file, its name and its user, and every one that is allowed says why', () => {
  const allowed = [{ file: 'a.test.ts', test: 'one', reason: 'because' }];
  const skip = (file: string, name: string) => ({ file, test: name, said: true });
  assert.deepEqual(skipsNotAllowed([skip('a.test.ts', 'one')], allowed, 'root'), []);
  const ordinary = [{ file: 'a.test.ts', test: 'one', reason: 'because', as: 'ordinary user' as const }];
  assert.deepEqual(skipsNotAllowed([skip('a.test.ts', 'one')], ordinary, 'ordinary user'), []);
  assert.equal(skipsNotAllowed([skip('a.test.ts', 'one')], ordinary, 'root').length, 1);
  const others = [skip('a.test.ts', 'two'), skip('b.test.ts', 'one')];
  assert.deepEqual(skipsNotAllowed(others, allowed, 'root'), others);
  for (const { file, test: name, reason } of readAllowedSkips())
    assert.ok(file.endsWith('.test.ts') && name !== '' && reason !== '', `${file}: ${name}`);
});
