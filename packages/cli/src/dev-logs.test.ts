// What counts as a new line of a log, when lines have a time but no number.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { LogEntry } from '@platform/contract';
import { LogNews } from './dev-logs.ts';

const SINCE = '2026-01-01T00:00:01.000Z';

function line(text: string, at = SINCE): LogEntry {
  return { at, stream: 'stdout', line: text };
}

function texts(entries: readonly LogEntry[]): string[] {
  return entries.map((entry) => entry.line);
}

test('lines come out oldest first, each once', () => {
  const news = new LogNews(new Date(SINCE));
  const later = '2026-01-01T00:00:02.000Z';
  assert.deepEqual(texts(news.take([line('b'), line('a')])), ['a', 'b']);
  assert.deepEqual(texts(news.take([line('c', later), line('b'), line('a')])), ['c']);
  assert.deepEqual(texts(news.take([line('c', later), line('b'), line('a')])), []);
});

test('equal lines of the same moment are counted, not merged', () => {
  const news = new LogNews(new Date(SINCE));
  assert.deepEqual(texts(news.take([line('x'), line('x')])), ['x', 'x']);
  assert.deepEqual(texts(news.take([line('x'), line('x'), line('x')])), ['x']);
});

test('what was there before is no news', () => {
  const news = new LogNews(new Date(SINCE));
  assert.deepEqual(texts(news.take([line('new'), line('old', '2026-01-01T00:00:00.999Z')])), ['new']);
});
