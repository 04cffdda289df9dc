// All style sheets of the shell apply to the whole page, so a class belongs to one of them.
import { strict as assert } from 'node:assert';
import { globSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

/** Classes that have a rule of their own in a style sheet: `.name {`, alone or in a list. */
function ownClasses(css: string): Set<string> {
  const rules = css.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(/([^{}]+)\{/g);
  const selectors = [...rules].flatMap(([, selector = '']) => selector.split(',').map((one) => one.trim()));
  return new Set(selectors.filter((one) => /^\.[\w-]+$/.test(one)));
}

test('no two style sheets give the same class its looks', () => {
  const cwd = path.join(import.meta.dirname, '..');
  const sheets = globSync('**/*.css', { cwd });
  assert.ok(sheets.length > 10);
  const owners = new Map<string, string>();
  for (const sheet of sheets)
    for (const name of ownClasses(readFileSync(path.join(cwd, sheet), 'utf8'))) {
      assert.equal(owners.get(name), undefined, `${name} is in ${owners.get(name)} and in ${sheet}`);
      owners.set(name, sheet);
    }
});
