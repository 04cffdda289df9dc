import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdleCollection } from './idle-collection.ts';

const MIB = 2 ** 20;

test('memory is collected once the process is idle and holds more than it needed', () => {
  let [busy, resident, collections] = [0, 100 * MIB, 0];
  const collection = new IdleCollection({
    busy: () => busy,
    resident: () => resident,
    collect() {
      collections += 1;
      resident = 120 * MIB;
    },
  });
  collection.look();
  assert.equal(collections, 0, 'nothing to collect');
  [busy, resident] = [0.8, 500 * MIB];
  collection.look();
  assert.equal(collections, 0, 'not while it works');
  busy = 0;
  collection.look();
  assert.equal(collections, 1);
  for (let look = 0; look < 10; look += 1) collection.look();
  assert.equal(collections, 1, 'not again for what remains');
  resident = 160 * MIB;
  collection.look();
  assert.equal(collections, 2);
});
