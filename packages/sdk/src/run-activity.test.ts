// What becomes JSON on its way to the platform.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asJson } from './run-activity.ts';

test('a value becomes what the next execution sees, and one with too many levels is refused in plain words', () => {
  assert.deepEqual(asJson({ at: new Date(0), none: undefined }), { at: '1970-01-01T00:00:00.000Z' });
  assert.equal(asJson(undefined), null);
  let deep: unknown = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  assert.throws(() => asJson(deep), { name: 'PlatformError', code: 'invalid_request', message: /too many levels/ });
});
