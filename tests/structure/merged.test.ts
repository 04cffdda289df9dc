// No file has both sides of a merge in it: documents would read so, and no compiler reads them.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './modules.ts';

const MARK = /^(?:<{7}|>{7}|\|{7}) /m;

test('nothing is half merged', () => {
  const files = globSync('**/*.{md,ts,tsx,mjs,js,json,css,html,sql,rs,toml,py,sh,yml}', {
    cwd: ROOT,
    exclude: (entry) => /^(?:node_modules|dist|target|\..+)$/.test(basename(entry)),
  });
  assert.ok(files.length > 1_500, `${files.length} files`);
  assert.deepEqual(
    files.filter((file) => MARK.test(readFileSync(`${ROOT}/${file}`, 'utf8'))),
    [],
  );
});

test('a mark would be found', () => {
  const side = '<'.repeat(7);
  assert.match(`before\n${side} HEAD\nafter`, MARK);
});
