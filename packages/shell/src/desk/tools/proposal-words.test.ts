// Proposed calls in words: nothing of an argument is hidden, cut, or passes for something else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visibleText } from '../../design/visible-text.ts';
import { answerOf, argumentsInWords, summaryOf } from './proposal-words.ts';

test('what cannot be seen is named, and lines stay', () => {
  assert.equal(visibleText('a\u202eb\u0000c\u200bd\ne\tf'), 'a[U+202E]b[U+0000]c[U+200B]d\ne\tf');
  assert.equal(visibleText('Grüße, 你好, 👋'), 'Grüße, 你好, 👋');
});

test('every value is there in whole, under the path of its names', () => {
  const given = {
    to: 'ben',
    message: { body: 'Hello\nBen', tags: ['a', 'b'] },
    urgent: false,
    nothing: {},
    none: null,
  };
  assert.deepEqual(
    argumentsInWords(given).map(({ name, text }) => [name, text]),
    [
      ['to', 'ben'],
      ['message › body', 'Hello\nBen'],
      ['message › tags', '[\n  "a",\n  "b"\n]'],
      ['urgent', 'false'],
      ['nothing', '{}'],
      ['none', 'null'],
    ],
  );
});

test('many members, and long names of what holds them, are shown as JSON', () => {
  const inner = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`a${at}`, 0]));
  for (const given of [{ ['x'.repeat(100_000)]: { a: 1, b: 2 } }, { many: inner }, inner]) {
    const words = argumentsInWords(given);
    const drawn = words.reduce((sum, { name, text }) => sum + name.length + text.length, 0);
    assert.ok(drawn < 1_000_000, `${drawn}`);
    assert.equal(words.length, 1);
  }
});

test('a name that looks like a path is no path', () => {
  const names = argumentsInWords({ 'to › name': 1, to: { name: 2 }, '': 3 }).map(({ name }) => name);
  assert.deepEqual(names, ['"to › name"', 'to › name', '""']);
});

test('what is long is folded, and none of it is lost', () => {
  const text = 'x'.repeat(100_000);
  const [long, lines] = argumentsInWords({ text, lines: 'a\n'.repeat(9), short: 'a' });
  assert.deepEqual([long?.isLong, long?.text.length, lines?.isLong], [true, 100_000, true]);
});

test('a tool of an app is named with its app', () => {
  assert.equal(
    summaryOf({ app: { id: 'notes', name: 'Notes' }, title: 'Add a note', tool: 'notes.add' }),
    'Add a note in Notes',
  );
  assert.equal(summaryOf({ app: { id: 'notes', name: 'Notes' }, title: null, tool: 'notes.add' }), 'add in Notes');
  assert.equal(summaryOf({ app: { id: 'notes', name: 'Notes' }, title: ' ', tool: 'notes.add' }), 'add in Notes');
  assert.equal(summaryOf({ app: null, title: 'Send a message', tool: 'platform-messaging.send' }), 'Send a message');
});

test('of an answer the texts are shown, whatever else is in it', () => {
  assert.equal(
    answerOf({ content: [{ type: 'text', text: 'a' }, null, { type: 'image' }, { type: 'text', text: 'b' }] }),
    'a\nb',
  );
  assert.equal(answerOf(undefined), '');
  assert.equal(answerOf({ content: 'x' }), '');
});
