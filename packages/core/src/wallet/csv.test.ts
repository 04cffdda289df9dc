// However a spreadsheet splits a table, no cell of what somebody wrote begins like a formula.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf, thorough } from '../../../../tests/support/thorough.ts';
import { textCell } from './csv.ts';

const DANGEROUS = ['=', '+', '-', '@', '|', '%', '＝', '＋', '－', '＠'];
const BEFORE = ['', ' ', '\t', '\r', '\n', '\r\n', '\u00a0', '\u200b', '\ufeff', '"', '""', "'", ' "', '\u3000', '\0'];
const SPLIT = ['', 'x;', 'x\t', 'x\n', 'x\r\n', 'x;;', 'x";', 'x,";', ';', '\t;'];

/** As spreadsheets do: quotes count where a cell begins with one. */
function cellsOf(text: string, separator: string): string[] {
  const cells: string[] = [];
  let at = 0;
  while (at <= text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else {
          at += 1;
          break;
        }
      }
    }
    while (at < text.length && text[at] !== separator && text[at] !== '\n') {
      cell += text[at];
      at += 1;
    }
    at += 1;
    cells.push(cell);
  }
  return cells;
}

function assertHarmless(text: string): void {
  for (const separator of [',', ';', '\t']) {
    // A table begins with columns that are no text of anybody.
    const line = `2026-11-29T00:00:00.000Z,-0.30,CREDIT,${textCell(text)},${textCell('wen-1')}`;
    const cells = cellsOf(line, separator);
    for (const cell of cells) {
      const [first = ''] = cell.replace(/^[\s\p{C}\p{Z}"]+/u, '');
      assert.ok(cell === '-0.30' || !DANGEROUS.includes(first), JSON.stringify({ text, separator, cells }));
    }
    if (separator === ',') assert.deepEqual(cells.slice(0, 3), ['2026-11-29T00:00:00.000Z', '-0.30', 'CREDIT']);
  }
}

test('nothing before a formula hides it, and no separator brings one', () => {
  for (const split of SPLIT)
    for (const before of BEFORE) for (const sign of DANGEROUS) assertHarmless(`${split}${before}${sign}1+1`);
});

test('random texts', (context) => {
  const random = randomOf(context);
  const parts = [...DANGEROUS, ...BEFORE, ...SPLIT, 'a', '1', ',', '.', 'é', '😀'];
  for (let count = 0; count < thorough(2_000, 200_000); count += 1)
    assertHarmless(
      Array.from({ length: 1 + Math.floor(random() * 8) }, () => parts[Math.floor(random() * parts.length)]).join(''),
    );
});

test('what is no formula stays what it is', () => {
  for (const text of [
    '',
    'Lunch',
    'Rent, March',
    'He said "hi"',
    'a - b',
    '50% off',
    'me@example.com',
    '12.50',
    'a; b',
    "it's",
  ])
    assert.deepEqual(cellsOf(textCell(text), ','), [text]);
  assert.equal(textCell(null), '');
});
