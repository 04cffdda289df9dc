// Gateways of one process share its memory for bodies: a greedy one leaves the others theirs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REGION, STORE_CREDENTIALS, startFakeStore } from '../test-support/fake-store.ts';
import { type GatewayToStore, startGatewayToStore } from '../test-support/storage-under-test.ts';
import { openMemoryBudget } from './memory-budget.ts';

const MiB = 1024 * 1024;

test('an app with large bodies under way leaves room for those of others, and gets its own back', async (t) => {
  const store = await startFakeStore('operators-bucket');
  const memory = openMemoryBudget(80 * MiB);
  const start = () =>
    startGatewayToStore({ origin: store.origin, region: REGION, credentials: STORE_CREDENTIALS }, { memory });
  const [greedy, other] = [await start(), await start()];
  t.after(async () => {
    await Promise.all([greedy.close(), other.close()]);
    await store.close();
  });
  const put = (gateway: GatewayToStore, mebibytes: number) =>
    gateway.send({ method: 'PUT', path: '/app/large', body: Buffer.alloc(mebibytes * MiB) });
  const held = Promise.withResolvers<() => void>();
  store.next = (_req, res) => held.resolve(() => res.writeHead(200).end());
  const first = put(greedy, 15);
  const release = await held.promise;
  const second = await put(greedy, 15);
  assert.deepEqual([second.status, /<Code>(\w+)/.exec(second.body)?.[1]], [503, 'SlowDown']);
  assert.equal((await put(other, 10)).status, 200);
  release();
  assert.equal((await first).status, 200);
  assert.equal((await put(greedy, 15)).status, 200);
});
