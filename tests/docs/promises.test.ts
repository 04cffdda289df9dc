// Every promise of docs/promises.md, and everything that an ordinary run leaves out (docs/testing.md), names tests that exist.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url);

test('every promise names tests that exist', () => namesTests('docs/promises.md', 'promise'));

test('everything that an ordinary run leaves out names tests that keep its promise', () =>
  namesTests('docs/testing.md', 'left out'));

/** @param head the first column of the table */
function namesTests(page: string, head: string): void {
  const [, table = ''] = readFileSync(new URL(page, ROOT), 'utf8').split(`| ${head} |`);
  const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
  assert.ok(rows.length > 0);
  for (const row of rows) {
    const files = [...row.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file]) => file ?? '');
    assert.ok(files.length > 0, `no test keeps: ${row}`);
    for (const file of files) assert.ok(existsSync(new URL(file, ROOT)), `${file} does not exist`);
  }
}
