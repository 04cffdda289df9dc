// Every promise of docs/promises.md names tests that exist.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url);

test('every promise names tests that exist', () => {
  const rows = readFileSync(new URL('docs/promises.md', ROOT), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .slice(1);
  assert.ok(rows.length > 0);
  for (const row of rows) {
    const files = [...row.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file]) => file ?? '');
    assert.ok(files.length > 0, `no test keeps: ${row}`);
    for (const file of files) assert.ok(existsSync(new URL(file, ROOT)), `${file} does not exist`);
  }
});
