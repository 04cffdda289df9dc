// The documentation's tables of errors, limits, permissions and configuration equal the code, in both directions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { documentedTables, tableIn } from './documented-tables.ts';

for (const { file, table } of documentedTables()) {
  test(`docs/${file} says what the code does`, () => {
    const text = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8');
    assert.equal(tableIn(text), table, 'run `npm run docs`');
  });
}
