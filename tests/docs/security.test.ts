// What the threat model and the list of ASVS requirements say is held is held by tests that exist under those names.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url);
const THREATS = 'docs/security/threat-model.md';
const ASVS = 'docs/security/asvs.md';
const MESSAGES = 'docs/security/messaging.md';

/** OWASP ASVS 5.0, level 1: chapter and section, and the requirements of it. */
const REQUIREMENTS: readonly (readonly [section: string, numbers: readonly number[]])[] = [
  ['V1.2', [1, 2, 3, 4, 5]],
  ['V1.3', [1, 2]],
  ['V1.5', [1]],
  ['V2.1', [1]],
  ['V2.2', [1, 2]],
  ['V2.3', [1]],
  ['V3.2', [1, 2]],
  ['V3.3', [1]],
  ['V3.4', [1, 2]],
  ['V3.5', [1, 2, 3]],
  ['V4.1', [1]],
  ['V4.4', [1]],
  ['V5.2', [1, 2]],
  ['V5.3', [1, 2]],
  ['V6.1', [1]],
  ['V6.2', [1, 2, 3, 4, 5, 6, 7, 8]],
  ['V6.3', [1, 2]],
  ['V6.4', [1, 2]],
  ['V7.2', [1, 2, 3, 4]],
  ['V7.4', [1, 2]],
  ['V8.1', [1]],
  ['V8.2', [1, 2]],
  ['V8.3', [1]],
  ['V9.1', [1, 2, 3]],
  ['V9.2', [1]],
  ['V10.4', [1, 2, 3, 4, 5]],
  ['V11.3', [1, 2]],
  ['V11.4', [1]],
  ['V12.1', [1]],
  ['V12.2', [1, 2]],
  ['V13.4', [1]],
  ['V14.2', [1]],
  ['V14.3', [1]],
  ['V15.1', [1]],
  ['V15.2', [1]],
  ['V15.3', [1]],
];

/** What may stand in the column "fulfilled". */
const ANSWERS = ['yes', 'in part', 'no', 'does not apply'];

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** Cells of the rows of all tables of a page, heads left out. */
function rowsOf(page: string): string[][] {
  const lines = read(page).split('\n');
  return lines
    .filter(
      (line, place) => line.startsWith('| ') && !/^\|\s*---/.test(lines[place + 1] ?? '') && !/^\| ---/.test(line),
    )
    .map((line) =>
      line
        .slice(2, line.lastIndexOf('|'))
        .split(' | ')
        .map((cell) => cell.trim()),
    );
}

interface Reference {
  readonly file: string;
  /** Absent: the whole file. */
  readonly name: string | undefined;
}

/** Tests as a page names them: `path/to/a.test.ts` “name of the test”. */
function referencesOf(text: string): Reference[] {
  return [...text.matchAll(/`([^`\s]+\.ts)`(?: “([^”]+)”)?/g)].map(([, file = '', name]) => ({ file, name }));
}

/** The titles of the tests in a file, as patterns: what a template puts in may be anything. */
function titlesOf(source: string): RegExp[] {
  const title =
    /\b(?:test|it|describe)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\$]|\\.|\$\{(?:[^{}`]|\{[^{}]*\}|`[^`]*`)*\})*)`)/g;
  return [...source.matchAll(title)].map(([, single, double, template]) => {
    const fixed = (single ?? double)?.replace(/\\(.)/g, '$1');
    const parts = fixed === undefined ? (template ?? '').split(/\$\{(?:[^{}`]|\{[^{}]*\}|`[^`]*`)*\}/) : [fixed];
    return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.+')}$`);
  });
}

function faultsOf(page: string): string[] {
  return referencesOf(read(page)).flatMap(({ file, name }) => {
    if (!existsSync(new URL(file, ROOT))) return [`${file} does not exist`];
    if (name === undefined || titlesOf(read(file)).some((title) => title.test(name))) return [];
    return [`${file} has no test “${name}”`];
  });
}

for (const [page, least] of [
  [THREATS, 50],
  [ASVS, 50],
  [MESSAGES, 5],
] as const) {
  test(`every test that ${page} names exists`, () => {
    assert.ok(referencesOf(read(page)).length > least);
    assert.deepEqual(faultsOf(page), []);
  });

  test(`every page that ${page} links to exists`, () => {
    const links = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
    const broken = links.filter(
      (link) => !link.startsWith('https:') && !existsSync(new URL(link, new URL(page, ROOT))),
    );
    assert.deepEqual(broken, []);
  });
}

test('what an attacker tries and the platform stops is held by a test', () => {
  const held = rowsOf(THREATS).filter((cells) => cells.length === 3 && cells[0] !== 'not held');
  assert.ok(held.length > 30);
  for (const [tries = '', , by = ''] of held) assert.ok(referencesOf(by).length > 0, `no test holds: ${tries}`);
});

test('each ASVS requirement of level 1 has its row, once', () => {
  const expected = REQUIREMENTS.flatMap(([section, numbers]) => numbers.map((number) => `${section}.${number}`));
  assert.equal(expected.length, 70);
  assert.deepEqual(
    rowsOf(ASVS).map(([id]) => id),
    expected,
  );
});

test('each ASVS requirement is fulfilled with a test or a page, or the row says why not', () => {
  for (const [id, , fulfilled = '', why = ''] of rowsOf(ASVS)) {
    assert.ok(ANSWERS.includes(fulfilled), `${id}: ${fulfilled}`);
    const shown = referencesOf(why).length > 0 || /\]\(/.test(why);
    assert.ok(fulfilled === 'yes' ? shown : why.length > 20, `${id} shows nothing`);
  }
});
