// Sizes of bytes are written by one function, `sizeText` of the contract: in powers of 1,024, with the same words everywhere.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { test } from 'node:test';
import { ROOT } from './modules.ts';

const THE_ONE = 'packages/contract/src/sizes.ts';
const FAULTS = [
  // A unit after a value in a template, or in a list of units.
  /\} ?(?:[KMGT]i?B|kB|bytes)\b/,
  /(['"`]) ?[KMGT]i?B\1, (['"`]) ?[KMGT]i?B\2/,
  /unit: '(?:kilo|mega|giga)byte'/,
  // Decimal units; the settings of PostgreSQL (`32MB`) have no space.
  /\d (?:kB|[KMGT]B)\b/,
];

const faultOf = (line: string) => !/^\s*(?:\/\/|\/?\*)/.test(line) && FAULTS.some((fault) => fault.test(line));

test('no other source writes a size', async () => {
  const files: string[] = [];
  for await (const file of glob('{packages/*/src,apps/*}/**/*.{ts,tsx}', { cwd: ROOT }))
    if (!/\.test\.tsx?$|\/(?:dist|test-support|node_modules)\//.test(file) && file !== THE_ONE) files.push(file);
  assert.ok(files.length > 800, `${files.length} files`);
  const found = files.flatMap((file) =>
    readFileSync(`${ROOT}/${file}`, 'utf8')
      .split('\n')
      .flatMap((line, at) => (faultOf(line) ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
  );
  assert.deepEqual(found, []);
});

test('every such line would be found', () => {
  for (const line of [
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: lines of source
    'return `${(bytes / MiB).toFixed(1)} MiB`;',
    'return `${bytes / 1000}kB`;',
    'throw refuse(code, `The body may have at most ${limit} bytes.`);',
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: lines of source
    "const UNITS = ['KiB', 'MiB'];",
    "new Intl.NumberFormat('en', { style: 'unit', unit: 'megabyte' });",
    "  return 'At most 64 MB.';",
  ])
    assert.ok(faultOf(line), line);
});
