// `npm run docs`: writes the tables of docs/errors.md, limits.md, permissions.md and configuration.md from the code.
// What stands around the tables is written by hand and kept.
import { readFileSync, writeFileSync } from 'node:fs';
import { documentedTables, replaceTable } from './documented-tables.ts';

for (const { file, table } of documentedTables()) {
  const url = new URL(`../../../docs/${file}`, import.meta.url);
  writeFileSync(url, replaceTable(readFileSync(url, 'utf8'), table));
  process.stdout.write(`docs/${file}\n`);
}
