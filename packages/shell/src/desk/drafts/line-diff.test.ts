// What a person reads of the source of an app is what runs, and every change of it is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceFile } from '@platform/contract';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { visibleText } from '../../design/visible-text.ts';
import { compareFiles, linesOf, runsOf } from './line-diff.ts';

function file(path: string, text: string | null): SourceFile {
  return { path, text, bytes: text?.length ?? 7 };
}

test('the lines of a comparison are those of both files, whatever they hold', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', '', '}', ' a'), { maxLength: 30 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(texts, texts, (former, next) => {
      const [compared] = compareFiles([file('x', former)], [file('x', next)]);
      const lines = compared?.lines ?? [];
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

test('two texts that have nothing in common cost no more than reading them', () => {
  const text = (word: string) => Array.from({ length: 100_000 }, (_, n) => `${word} ${n}`).join('\n');
  const [compared] = compareFiles([file('x', text('old'))], [file('x', text('new'))]);
  assert.equal(compared?.lines?.length, 200_000);
});

test('what draws nothing or turns the order around is seen', () => {
  assert.equal(
    visibleText('a\u202Eb\u2066c\u200Bd\u00ADe\u0000\r'),
    'a[U+202E]b[U+2066]c[U+200B]d[U+00AD]e[U+0000][U+000D]',
  );
  assert.equal(visibleText('\u{E0041}\u2028\uFEFF'), '[U+E0041][U+2028][U+FEFF]');
  assert.equal(visibleText('\tconst größe = "植物"; // 🌱'), '\tconst größe = "植物"; // 🌱');
});
