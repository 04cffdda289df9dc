// A disk without room: what could not be written is refused, what was there before stays, and it goes on once there is room.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { onOwnDisk } from '../../../../tests/support/own-disk.ts';
import { openAccountStore } from './account-store.ts';

const SIZE_MIB = 8;

onOwnDisk(import.meta.url, { sizeMiB: SIZE_MIB, timeout: 120_000 }, (folder) => {
  test('a change that finds no room is refused, and the store opens with what it had', async () => {
    const file = path.join(folder, 'log');
    const filler = path.join(folder, 'filler');
    const key = randomBytes(32);
    const store = await openAccountStore(file, key);
    store.table<string>('kept').set('one', 'before');
    await store.commit();
    assert.throws(() => writeFileSync(filler, Buffer.alloc(SIZE_MIB * 1024 * 1024)), { code: 'ENOSPC' });
    store.table<string>('kept').set('two', 'x'.repeat(100_000));
    await assert.rejects(store.commit(), { code: 'ENOSPC' });
    assert.equal(store.failed, true);
    await assert.rejects(store.commit(), { code: 'ENOSPC' });
    await store.close();

    rmSync(filler);
    const again = await openAccountStore(file, key);
    assert.equal(again.table('kept').get('one'), 'before');
    assert.equal(again.table('kept').get('two'), undefined);
    again.table<string>('kept').set('two', 'after');
    await again.commit();
    await again.close();
    const last = await openAccountStore(file, key);
    assert.equal(last.table('kept').get('two'), 'after');
    await last.close();
  });
});
