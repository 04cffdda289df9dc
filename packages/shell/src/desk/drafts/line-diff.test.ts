// What a person reads of the source of an app is what runs, and every change of it is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceFile } from '@platform/contract';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { visibleText } from '../../design/visible-text.ts';
import { comparedLines, compareFiles, type Line, linesOf, runsOf } from './line-diff.ts';
import { LINE_PORTION, PORTION, partOf } from './portions.ts';

function file(path: string, text: string | null): SourceFile {
  return { path, text, bytes: text?.length ?? 7, ofPlatform: false };
}

test('the lines of a comparison are those of both files, whatever they hold', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', '', '}', ' a'), { maxLength: 30 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(texts, texts, (former, next) => {
      const [compared] = compareFiles([file('x', former)], [file('x', next)]);
      const lines = (compared && comparedLines(compared)) ?? [];
      const without = (kind: string) => lines.filter((line) => line.kind !== kind).map(({ text }) => text);
      assert.deepEqual(without('removed'), linesOf(next));
      assert.deepEqual(without('added'), linesOf(former));
      assert.equal(compared?.change === 'same', former === next);
      assert.deepEqual(
        runsOf(lines).flatMap((run) => run.lines),
        lines,
      );
      for (const { folded, lines: run } of runsOf(lines))
        assert.ok(!folded || run.every(({ kind }) => kind === 'same'), 'a change is never folded');
    }),
  );
});

test('files are compared by name: what changed first, what stayed last', () => {
  const former = [file('same', 's'), file('gone', 'g'), file('other', 'o'), file('picture', null)];
  const next = [file('same', 's'), file('other', 'p'), file('fresh', 'f'), { ...file('picture', null), bytes: 8 }];
  assert.deepEqual(
    compareFiles(former, next).map(({ path, change }) => [path, change]),
    [
      ['other', 'changed'],
      ['picture', 'changed'],
      ['fresh', 'added'],
      ['gone', 'removed'],
      ['same', 'same'],
    ],
  );
});

/** @returns every line of the comparison of two versions of one file */
function linesBetween(former: readonly string[], next: readonly string[]): readonly Line[] {
  const [compared] = compareFiles([file('x', former.join('\n'))], [file('x', next.join('\n'))]);
  return (compared && comparedLines(compared)) ?? assert.fail();
}

const numbered = (count: number, word: string) => Array.from({ length: count }, (_, n) => `${word} ${n}`);

test('two texts that have nothing in common cost no more than reading them', () => {
  assert.equal(linesBetween(numbered(100_000, 'old'), numbered(100_000, 'new')).length, 200_000);
});

test('a changed line is in view however many unchanged ones come before it', () => {
  const same = numbered(5_000, 'same');
  const { runs, left } = partOf(runsOf(linesBetween([...same, 'old'], [...same, 'new'])), PORTION);
  const inView = runs.filter(({ folded }) => !folded).flatMap(({ lines }) => lines);
  assert.deepEqual(
    inView.filter(({ kind }) => kind !== 'same').map(({ kind, text }) => [kind, text]),
    [
      ['removed', 'old'],
      ['added', 'new'],
    ],
  );
  assert.equal(left, 0, 'nothing is said to be left');
  assert.equal(runs.find(({ folded }) => folded)?.lines.length, 4_997, 'what is folded is whole');
});

test('every line comes into view in time and in its order, and the number of those that are left is right', () => {
  const line = fc.record({
    kind: fc.constantFrom('same', 'added', 'removed'),
    text: fc.constantFrom('a', 'b'.repeat(499), 'c'.repeat(500), 'd'.repeat(LINE_PORTION + 1)),
  }) as fc.Arbitrary<Line>;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const runs = runsOf(lines);
      const unfolded = runs.filter(({ folded }) => !folded).flatMap((run) => run.lines);
      for (let rows = 20; rows < 2_000; rows += 20) {
        const { runs: shown, left } = partOf(runs, rows);
        const inView = shown.filter(({ folded }) => !folded).flatMap((run) => run.lines);
        assert.deepEqual(inView, unfolded.slice(0, unfolded.length - left));
        assert.ok(left === 0 || inView.length > 0);
      }
      assert.deepEqual(partOf(runs, 2_000), { runs, left: 0 });
    }),
  );
});

test('what draws nothing or turns the order around is seen', () => {
  assert.equal(
    visibleText('a\u202Eb\u2066c\u200Bd\u00ADe\u0000\r'),
    'a[U+202E]b[U+2066]c[U+200B]d[U+00AD]e[U+0000][U+000D]',
  );
  assert.equal(visibleText('\u{E0041}\u2028\uFEFF'), '[U+E0041][U+2028][U+FEFF]');
  assert.equal(visibleText('\tconst größe = "植物"; // 🌱'), '\tconst größe = "植物"; // 🌱');
});
