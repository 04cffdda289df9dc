// The parser of event streams: whatever the pieces, the events are the same.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { fc } from '../../../tests/support/fast-check.ts';
import { eventParser } from './event-text.ts';

const STREAM = [
  ': a comment\n\n',
  'id: 7\nevent: notification\ndata: {"a":\ndata: 1}\n\n',
  'event:apps\r\ndata:{}\r\n\r\n',
  'data: "no name"\r\r',
  'retry: 10\nevent: lonely\n\n',
  'id\ndata: 3\n\n',
].join('');
const EVENTS = [
  { event: 'notification', data: { a: 1 }, id: '7' },
  { event: 'apps', data: {}, id: '7' },
  { event: '', data: 'no name', id: '7' },
  { event: '', data: 3, id: '' },
];

test('events are read from a whole stream', () => {
  assert.deepEqual(eventParser()(STREAM), EVENTS);
});

test('where the pieces are cut changes nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 12 }), (cuts) => {
      const parse = eventParser();
      const places = [0, ...cuts.sort((one, other) => one - other), STREAM.length];
      const events = places.slice(1).flatMap((end, index) => parse(STREAM.slice(places[index], end)));
      assert.deepEqual(events, EVENTS);
    }),
  );
});

test('an id without data is kept: a stream that breaks before its first event resumes where it began', () => {
  const ids: string[] = [];
  const parse = eventParser((id) => ids.push(id));
  assert.deepEqual(parse('id: 41\n\n: heartbeat\n\n'), []);
  assert.equal(ids.at(-1), '41');
});
