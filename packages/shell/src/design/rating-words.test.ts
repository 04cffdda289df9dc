// What a review and the Store say of a security rating.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { securityRating } from '@platform/contract/security-rating';
import { causes, ratingWords, trustWords } from './rating-words.ts';

const rated = (...ids: string[]) =>
  securityRating({ permissions: ids.map((id) => ({ id, resources: ['*'] })), backend: null });

test('an update says what the rating was and what it becomes', () => {
  assert.equal(ratingWords(4, undefined), 'Security 4 of 5.');
  assert.equal(ratingWords(4, 4), 'Security stays 4 of 5.');
  assert.equal(ratingWords(2, 4), 'Security was 4 of 5 and becomes 2 of 5.');
  assert.equal(trustWords(2), 'needs a lot of trust');
});

test('the causes are the gravest reasons: two of an update that makes it worse, otherwise one', () => {
  const before = rated('notifications.publish');
  assert.deepEqual(causes(rated('notifications.publish', 'network.public'), before), [
    'It can connect to any address on the internet.',
  ]);
  assert.deepEqual(causes(rated('messaging.read', 'messaging.send'), before), [
    'It can read your messages and pass on what it learns, because it can send messages as you.',
  ]);
  assert.equal(causes(rated('network.public', 'runtime.network-tunnel', 'endpoints.public'), before).length, 2);
  assert.equal(causes(rated('network.public', 'runtime.network-tunnel')).length, 1);
  assert.deepEqual(causes(before, rated('network.public')), ['It can send you notifications.'], 'it becomes better');
  assert.deepEqual(causes(before, before), ['It can send you notifications.']);
  assert.deepEqual(causes(rated()), ['It reaches nothing but its own data.']);
});
