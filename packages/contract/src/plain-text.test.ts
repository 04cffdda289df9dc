// What becomes of text from elsewhere before a person reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeInJson, plainLine, plainLogLine, plainText } from './plain-text.ts';

const HARMFUL = ['\0', '\u0007', '\b', '\r', '\u001b', '\u007f', '\u0080', '\u009b', '\u2028', '\u2029'].concat([
  ...['\u202a', '\u202e', '\u2066', '\u2069', '\ud800', '\udfff'],
]);

test('nothing harmful is left of a line, a text, a log line or JSON', () => {
  for (const character of HARMFUL) {
    const text = `a${character}b`;
    assert.equal(plainLine(text), 'a b');
    assert.equal(plainText(text), 'a\ufffdb');
    assert.equal(plainLogLine(text), 'a\ufffdb');
    const json = escapeInJson(JSON.stringify({ text }));
    assert.equal(plainText(json), json, JSON.stringify(character));
    assert.deepEqual(JSON.parse(json), { text });
  }
});

test('a text keeps its tabs, line breaks and spaces; a log line its tabs and spaces', () => {
  assert.equal(plainText('  a\n\tb  '), '  a\n\tb  ');
  assert.equal(plainLogLine('  a\tb\nc'), '  a\tb\ufffdc');
  assert.equal(plainLine('  a\n\tb  '), 'a b');
});

test('every script and its joiners stay as they are', () => {
  for (const text of ['Größe', 'ملاحظات', 'هست\u200cم', 'שָׁלוֹם\u200f', '第一章：开始', '👩‍💻 🏳️‍🌈', 'e\u0301'])
    for (const clean of [plainLine, plainText, plainLogLine, escapeInJson]) assert.equal(clean(text), text);
});

test('what is too long is cut, and no pair in two', () => {
  assert.equal(plainLine('abc', 2), 'ab');
  assert.equal(plainLine('a😀b', 2), 'a');
  assert.equal(plainLine('a😀b', 3), 'a😀');
  assert.equal(plainLogLine('abc', 2), 'ab');
});
