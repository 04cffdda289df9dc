// The encryption threads: each caller gets its own message, a wrong key fails one message only, and closing the pool
// leaves no call pending.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decryptPush, newBrowserKeys } from '../../../../tests/support/push-crypto.ts';
import { EncryptionPool } from './encryption-pool.ts';

let pool: EncryptionPool;
before(() => {
  pool = new EncryptionPool();
});
after(() => pool.close());

test('of many messages at once each is encrypted for its browser', async () => {
  const browsers = Array.from({ length: 5 }, newBrowserKeys);
  const texts = Array.from({ length: 100 }, (_, index) => `message ${index} ${'ä'.repeat(index * 10)}`);
  await Promise.all(
    texts.map(async (text, index) => {
      const keys = browsers[index % browsers.length];
      assert.ok(keys !== undefined);
      assert.equal(decryptPush(await pool.encrypt(keys, text), keys).toString(), text);
    }),
  );
});

test('a key that is none fails its message, and no other of the batch', async () => {
  const keys = newBrowserKeys();
  const wrong = { ...keys, p256dh: Buffer.alloc(65, 4).toString('base64url') };
  const [first, second, third] = await Promise.allSettled([keys, wrong, keys].map((one) => pool.encrypt(one, 'text')));
  assert.deepEqual([first?.status, second?.status, third?.status], ['fulfilled', 'rejected', 'fulfilled']);
});

test('what is under way when the threads end fails, and so does what is asked later', async () => {
  const own = new EncryptionPool();
  const keys = newBrowserKeys();
  const running = Array.from({ length: 200 }, () => own.encrypt(keys, 'text'));
  const [settled] = await Promise.all([Promise.allSettled(running), own.close()]);
  assert.equal(settled.at(-1)?.status, 'rejected');
  await assert.rejects(own.encrypt(keys, 'text'));
});
