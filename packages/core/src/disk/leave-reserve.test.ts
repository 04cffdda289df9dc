// On a full disk apps add nothing to the database beside it, and everything else goes on.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { leavingReserve } from './leave-reserve.ts';

/** A file system without a free byte, on every Linux. */
const FULL = '/proc';
const taken: string[] = [];
const takeRate = (name: string) => void taken.push(name);

test('what apps may add waits while only the reserve is left; people register, sign in and remove things', async () => {
  const take = leavingReserve(takeRate, FULL);
  for (const name of ['notification', 'searchWrite'] as const) {
    await assert.rejects(
      async () => take(name, 'somebody'),
      (error) =>
        error instanceof RefusalError && error.refusal.code === 'unavailable' && error.refusal.retryAfter === 60,
    );
  }
  for (const name of ['authentication', 'session', 'service', 'none'] as const) await take(name, 'somebody');
  assert.deepEqual(taken, ['authentication', 'session', 'service', 'none']);
});

test('with space nothing is held back', async () => {
  taken.length = 0;
  await leavingReserve(takeRate, tmpdir())('notification', 'somebody');
  assert.deepEqual(taken, ['notification']);
});
