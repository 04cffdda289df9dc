// Promise of the command line: everything it prints goes through one file, which lets no escape sequence of others pass.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const SOURCE = path.join(import.meta.dirname, '../../packages/cli/src');
const PRINTS =
  /process\.(?:stdout|stderr)\s*\.\s*(?:write|end|cork)|\bconsole\s*\.|writeSync\(\s*[12]\b|pipe\(process\./;

test('nothing in the command line but terminal/terminal.ts writes to its streams', () => {
  const files = globSync('**/*.ts', { cwd: SOURCE, exclude: ['**/*.test.ts'] });
  assert.ok(files.length > 40);
  const printing = files.filter((file) => PRINTS.test(readFileSync(path.join(SOURCE, file), 'utf8')));
  assert.deepEqual(printing, ['terminal/terminal.ts']);
});

test('the rule finds what it forbids', () => {
  for (const code of ['process.stdout.write(x)', 'process.stderr\n  .write(x)', 'console.log(x)', 'writeSync(2, x)'])
    assert.match(code, PRINTS);
});
