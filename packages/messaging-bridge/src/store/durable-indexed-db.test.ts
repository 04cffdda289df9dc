// The IndexedDB of the crypto library over an account's store: what a transaction reported as complete is there after a crash, a
// transaction that was taken back left nothing, and nothing of one account is another's.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { fc } from '../../../../tests/support/fast-check.ts';
import { openAccountStore } from './account-store.ts';
import { attachIndexedDb } from './durable-indexed-db.ts';
import { openDatabase } from './indexed-db-internals.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'durable-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const key = randomBytes(32);
let count = 0;
const newPrefix = () => {
  count += 1;
  return `account${count}`;
};

const settled = (target: IDBTransaction) =>
  new Promise<'complete' | 'abort'>((resolve) => {
    target.oncomplete = () => resolve('complete');
    target.onabort = () => resolve('abort');
  });
const answered = <Value>(request: IDBRequest<Value>) =>
  new Promise<Value>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function connect(prefix: string): Promise<IDBDatabase> {
  const name = `${prefix}::things`;
  await openDatabase(indexedDB, name, 1, (database) => {
    if (database.objectStoreNames.contains('things')) return;
    const things = database.createObjectStore('things');
    things.createIndex('kind', 'kind');
    database.createObjectStore('counted', { keyPath: 'id' });
  });
  return answered(indexedDB.open(name));
}

async function contents(database: IDBDatabase): Promise<unknown> {
  // A transaction ends with its last request.
  const things = () => database.transaction('things').objectStore('things');
  return {
    keys: await answered(things().getAllKeys()),
    values: await answered(things().getAll()),
    ofKind: await answered(things().index('kind').getAllKeys('a')),
    counted: await answered(database.transaction('counted').objectStore('counted').getAll()),
  };
}

type Step =
  | { readonly act: 'put'; readonly key: number; readonly kind: string }
  | { readonly act: 'delete'; readonly from: number; readonly to: number }
  | { readonly act: 'clear' }
  | { readonly act: 'count'; readonly id: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constant('put' as const), key: fc.nat(9), kind: fc.constantFrom('a', 'b') }),
  fc.record({ act: fc.constant('delete' as const), from: fc.nat(9), to: fc.nat(9) }),
  fc.record({ act: fc.constant('clear' as const) }),
  fc.record({ act: fc.constant('count' as const), id: fc.constantFrom('x', 'y') }),
);

function perform(transaction: IDBTransaction, one: Step): void {
  const things = transaction.objectStore('things');
  if (one.act === 'put') things.put({ kind: one.kind, bytes: new Uint8Array([one.key]) }, one.key);
  else if (one.act === 'clear') things.clear();
  else if (one.act === 'count') transaction.objectStore('counted').put({ id: one.id, at: new Date(0) });
  else things.delete(IDBKeyRange.bound(Math.min(one.from, one.to), Math.max(one.from, one.to)));
}

test('whatever is done in transactions, a copy of the file at their end opens as what was there then', async () => {
  const transaction = fc.record({ steps: fc.array(step, { maxLength: 5 }), isAborted: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(transaction, { maxLength: 6 }), async (all) => {
      const [prefix, copied] = [newPrefix(), newPrefix()];
      const file = path.join(folder, prefix);
      const store = await openAccountStore(file, key);
      const detach = await attachIndexedDb(prefix, store);
      const database = await connect(prefix);
      for (const { steps, isAborted } of all) {
        const running = database.transaction(['things', 'counted'], 'readwrite');
        const end = settled(running);
        for (const one of steps) perform(running, one);
        if (isAborted) running.abort();
        assert.equal(await end, isAborted ? 'abort' : 'complete');
      }
      const before = await contents(database);
      // As a crash leaves it: nothing was closed.
      copyFileSync(file, path.join(folder, copied));
      detach();
      await store.close();

      const again = await openAccountStore(path.join(folder, copied), key);
      const detachAgain = await attachIndexedDb(prefix, again);
      const reopened = await connect(prefix);
      assert.deepEqual(await contents(reopened), before);
      detachAgain();
      await again.close();
    }),
  );
});

test('a transaction whose changes cannot be written is taken back, and says so', async () => {
  const prefix = newPrefix();
  const store = await openAccountStore(path.join(folder, prefix), key);
  let isFull = false;
  const detach = await attachIndexedDb(prefix, {
    ...store,
    write: (changes) => (isFull ? Promise.reject(new Error('no room')) : store.write(changes)),
  });
  const database = await connect(prefix);
  const put = async (number: number) => {
    const running = database.transaction('things', 'readwrite');
    running.objectStore('things').put({ kind: 'a' }, number);
    return settled(running);
  };
  assert.equal(await put(1), 'complete');
  isFull = true;
  assert.equal(await put(2), 'abort');
  assert.deepEqual(await answered(database.transaction('things').objectStore('things').getAllKeys()), [1]);
  isFull = false;
  assert.equal(await put(3), 'complete');
  detach();
  await store.close();
});

test('a store that is made smaller while it is used loses nothing', async () => {
  const prefix = newPrefix();
  const file = path.join(folder, prefix);
  const store = await openAccountStore(file, key);
  const detach = await attachIndexedDb(prefix, store);
  const database = await connect(prefix);
  let largest = 0;
  for (let round = 0; round < 150; round += 1) {
    const running = database.transaction('things', 'readwrite');
    const end = settled(running);
    running.objectStore('things').put({ kind: 'a', text: 'x'.repeat(20_000), round }, round % 3);
    store.table<number>('rounds').set('last', round);
    assert.equal(await end, 'complete');
    largest = Math.max(largest, store.bytes());
  }
  await store.commit();
  assert.ok(store.bytes() < largest, `${store.bytes()} of at most ${largest} bytes`);
  const before = await contents(database);
  detach();
  await store.close();
  const again = await openAccountStore(file, key);
  const detachAgain = await attachIndexedDb(prefix, again);
  assert.equal(again.table('rounds').get('last'), 149);
  assert.deepEqual(await contents(await connect(prefix)), before);
  detachAgain();
  await again.close();
});

test('an account that is closed leaves nothing in memory, and two that are open do not meet', async () => {
  const [one, other] = [newPrefix(), newPrefix()];
  const stores = await Promise.all([one, other].map((prefix) => openAccountStore(path.join(folder, prefix), key)));
  const [first, second] = stores;
  assert.ok(first !== undefined && second !== undefined);
  const [detachOne, detachOther] = [await attachIndexedDb(one, first), await attachIndexedDb(other, second)];
  const running = (await connect(one)).transaction('things', 'readwrite');
  running.objectStore('things').put({ kind: 'a' }, 1);
  assert.equal(await settled(running), 'complete');
  assert.deepEqual(await answered((await connect(other)).transaction('things').objectStore('things').getAllKeys()), []);
  detachOne();
  detachOther();
  const names = (await indexedDB.databases()).map(({ name }) => name);
  assert.ok(!names.some((name) => name?.startsWith(one) || name?.startsWith(other)));
  await Promise.all(stores.map((store) => store.close()));
});
