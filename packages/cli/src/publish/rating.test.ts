// What an author reads of the security rating.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifest } from '@platform/contract';
import { ratingLines } from './rating.ts';

function linesOf(more: object): string[] {
  const app = { schemaVersion: 9, id: 'rated', version: '1.0.0', name: 'Rated', summary: 'Is rated.', frontend: {} };
  return ratingLines(manifest.parse({ ...app, ...more }));
}

test('the rating is said with every reason, the gravest first', () => {
  assert.deepEqual(linesOf({}), ['  security  5 of 5: Needs almost no trust']);
  const permissions = [
    { id: 'notifications.publish', resources: ['news'] },
    { id: 'messaging.read', resources: ['*'] },
    { id: 'network.connect', resources: ['https://api.example.com'] },
  ];
  assert.deepEqual(linesOf({ permissions }), [
    '  security  1 of 5: Needs complete trust',
    '    It can read your messages and pass on what it learns, because it can exchange data with outside services.',
    '    It can read your messages.',
    '    It can exchange data with outside services.',
    '    It can send you notifications.',
  ]);
});
