// Gateways of one process share the connections that are being made.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Dialer, TooManyDialsError } from './dialer.ts';
import { openFairDialers } from './fair-dialer.ts';
import { openShares } from './shares.ts';

const target = { host: 'slow.example', port: 443, allow: 'public' } as const;

test('an app whose connections never stand leaves others theirs, and gets its own back', async () => {
  const pending: PromiseWithResolvers<never>[] = [];
  const never: Dialer = {
    connect() {
      const attempt = Promise.withResolvers<never>();
      pending.push(attempt);
      return attempt.promise;
    },
  };
  const dialers = openFairDialers(never, openShares(100, 4));
  const greedy = dialers.open();
  const outcomes = Array.from({ length: 100 }, () => greedy.connect(target).catch((error: unknown) => error));
  assert.equal(pending.length, 20, 'a fifth');
  assert.ok((await outcomes[20]) instanceof TooManyDialsError);
  const other = dialers
    .open()
    .connect(target)
    .catch(() => undefined);
  assert.equal(pending.length, 21);
  for (const attempt of pending) attempt.reject(new Error('no answer'));
  await Promise.all([...outcomes, other]);
  void greedy.connect(target);
  assert.equal(pending.length, 22);
});
