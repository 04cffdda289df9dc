// What a person reads when their session ended without their doing.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { errors } from '@platform/contract';
import { END_NOTICES, sessionEndOf } from './session-end.ts';

test('every refusal that ends a session says so in its own words, and no other ends one', () => {
  const ends = (Object.keys(errors) as (keyof typeof errors)[])
    .map((code) => [code, sessionEndOf({ code })])
    .filter(([, end]) => end !== null);
  assert.deepEqual(Object.fromEntries(ends), {
    unauthenticated: 'ended',
    session_expired: 'ended',
    session_replaced: 'replaced',
    head_too_large: 'cookies-deleted',
  });
  assert.equal(END_NOTICES.replaced, errors.session_replaced.title);
});
