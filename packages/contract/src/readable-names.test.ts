// Names that look like another or hide something are refused; names in every script, and emoji, are taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishNotificationBody } from './domains/notifications.ts';
import { manifest } from './domains/packages.ts';
import { searchEntry } from './domains/search.ts';
import { nothingHidden, unmixedWords } from './readable-names.ts';

const [showsAll] = nothingHidden;
const [isUnmixed] = unmixedWords;

const HIDING: readonly string[] = [
  ...[
    '\u200bhidden',
    'pay\u200cpal',
    'pay\u200dpal',
    'a\u2060b',
    'a\ufeffb',
    'a\u00adb',
    'x\u3164y',
    'x\uffa0y',
    'x\u115fy',
  ],
  ...[
    'ok\u034f',
    'a\ufe0fb',
    'a\u180bb',
    'tag\u{e0041}',
    'a\u{e0100}',
    'a\u200eb',
    'a\u200fb',
    'a\u061cb',
    'x\u17b4y',
    'a\u2064b',
  ],
  ...[
    '\u2800',
    'a\u2800b',
    '1\ufe0f',
    '\u{1f3f4}\u{e0041}',
    '\u{1f600}\u200d',
    '\u{1f600}\u200da',
    'b\u{1d173}c',
    'a\u{e01ef}',
  ],
];

const TAKEN: readonly string[] = [
  ...[
    'Größe',
    'Notes',
    'ملاحظات',
    'هست\u200cم',
    'שָׁלוֹם\u200f',
    '第一章：开始',
    'メモ帳',
    '한국어',
    'หนังสือ',
    'Ελληνικά',
    'Заметки',
  ],
  ...['👩‍💻 🏳️‍🌈', '👨‍👩‍👧‍👦', '👍🏽', '❤️', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', '©', '☎️'],
  ...['e\u0301', 'a\u00a0b', 'क्\u200dष', 'ශ්\u200dරී', 'नमस्ते', '葛\u{e0100}城', 'C++', 'Ⅳ', 'µTorrent'],
];

test('nothing that draws nothing passes, but where scripts and emoji are written with it', () => {
  for (const text of HIDING) assert.equal(showsAll(text), false, JSON.stringify(text));
  for (const text of TAKEN) assert.equal(showsAll(text), true, JSON.stringify(text));
});

test('every code point that draws nothing is refused between Latin letters', () => {
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const character = String.fromCodePoint(point);
    if (/\p{Default_Ignorable_Code_Point}/u.test(character))
      assert.equal(showsAll(`a${character}b`), false, point.toString(16));
  }
});

test('a word of one script, or of those that are written together, is a name; one that mixes is none', () => {
  for (const text of [
    'pa\u0443pal',
    '\u0421oinbase',
    'G\u03bfogle',
    'W\u0430llet',
    'Ap\u13e2le',
    '\u0555ffice',
    'Wallet \u0440ay',
    'Сοvet',
  ])
    assert.equal(isUnmixed(text), false, text);
  for (const text of [
    ...TAKEN,
    'Яндекс Music',
    'Music-Яндекс',
    'LINEスタンプ',
    'K팝',
    'Tシャツ屋',
    '3Dモデル',
    'Ελλάδα 2',
    'α-Notes',
    'الف-A',
  ])
    assert.equal(isUnmixed(text), true, text);
});

test('names of apps, titles of notifications and titles of what is found hold to it', () => {
  const identity = { schemaVersion: 9, id: 'sample', version: '1.0.0', name: 'Sample', summary: 'A sample' };
  const app = { ...identity, frontend: { entry: 'index.html', chrome: 'auto' } };
  const takes: readonly (readonly [string, (text: string) => boolean])[] = [
    ['an app', (name) => manifest.safeParse({ ...app, name }).success],
    ['a notification', (title) => publishNotificationBody.safeParse({ topic: 'a', title }).success],
    ['an entry', (title) => searchEntry.safeParse({ id: 'a', url: '/a', title }).success],
  ];
  for (const [what, isTaken] of takes) {
    for (const text of HIDING) assert.equal(isTaken(text), false, `${what}: ${JSON.stringify(text)}`);
    for (const text of TAKEN) assert.equal(isTaken(text), true, `${what}: ${JSON.stringify(text)}`);
  }
  assert.equal(manifest.safeParse({ ...app, name: 'pa\u0443pal' }).success, false);
});
