// What a page says of its errors goes to core only as what core takes, whatever it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageErrorReport } from '@platform/contract';
import { reportIn } from './page-error-report.ts';

const error = { message: 'x is not a function', file: '/a.js', line: 3, column: 7, stack: 'at a.js:3' };

test('an error passes as it is', () => {
  assert.deepEqual(reportIn({ type: 'platform.page-error', error }), error);
  assert.deepEqual(reportIn({ error: { message: 'x' } }), {
    ...{ message: 'x', file: null, line: null, column: null, stack: null },
  });
});

test('what is none is left out', () => {
  for (const data of [{}, { error: null }, { error: 'x' }, { error: {} }, { error: { message: 1 } }, { error: [] }])
    assert.equal(reportIn(data), null, JSON.stringify(data));
});

test('whatever else it holds, core takes it', () => {
  const long = 'x'.repeat(100_000);
  for (const change of [
    ...[{ message: long }, { message: 'a\0b\ud800' }, { file: long }, { file: {} }, { stack: long }, { stack: 7 }],
    ...[{ line: -1 }, { line: 1e300 }, { line: 1.5 }, { line: '3' }, { column: Number.NaN }, { more: true }],
  ])
    assert.ok(
      pageErrorReport.safeParse(reportIn({ error: { ...error, ...change } })).success,
      JSON.stringify(change).slice(0, 60),
    );
});
