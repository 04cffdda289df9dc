// Promises of large bodies: what is kept is complete and lies under the hash of its bytes, too much is not stored, and what
// a crash leaves is gone after the next start, but nothing that anybody still receives.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../../../tests/support/postgres.ts';
import { openDatabase } from '../database/open-database.ts';
import { BlobStore } from './blob-store.ts';
import { storeStream } from './store-stream.ts';

const tooMuch = new Error('too much');
const nothing = async () => new Set<string>();
const hashOf = (content: string) => createHash('sha256').update(content).digest('hex');

let database: TestDatabase;
let opened: ReturnType<typeof openDatabase>;
let other: ReturnType<typeof openDatabase>;
let folder: string;
let store: BlobStore;

before(async () => {
  database = await testDatabase();
  const open = () => openDatabase({ url: database.url, onError: () => undefined });
  [opened, other] = [open(), open()];
});
after(async () => {
  await opened.close();
  await other.close();
  await database.drop();
  fs.rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
  folder = fs.mkdtempSync(path.join(tmpdir(), 'platform-blobs-'));
  store = new BlobStore(folder, '.bin');
});

async function* pieces(...contents: string[]): AsyncGenerator<Buffer> {
  for (const content of contents) yield Buffer.from(content);
}

/** Receives a body and keeps it, with a folder of its own if a text is unpacked. */
function keep(contents: readonly string[], { limit = 100, unpacked }: { limit?: number; unpacked?: string } = {}) {
  return store.receive(opened.pool, async (scratch) => {
    const file = path.join(scratch, 'body');
    const beside = path.join(scratch, 'unpacked');
    if (unpacked !== undefined) fs.mkdirSync(beside);
    if (unpacked !== undefined) fs.writeFileSync(path.join(beside, 'part'), unpacked);
    const stored = await storeStream(pieces(...contents), file, { limit, exceeded: () => tooMuch });
    await store.keep({ hash: stored.hash, file, unpacked: beside });
    return stored;
  });
}

test('a body that is kept lies under its hash for its owner alone, and nothing of its reception is left', async () => {
  const stored = await keep(['one ', 'two'], { unpacked: 'a part' });
  assert.deepEqual(stored, { hash: hashOf('one two'), size: 7 });
  assert.equal(await text(store.open(stored.hash, stored.size)), 'one two');
  assert.equal(fs.readFileSync(path.join(store.unpacked(stored.hash), 'part'), 'utf8'), 'a part');
  assert.equal(fs.statSync(store.file(stored.hash)).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(path.join(folder, 'incoming')), []);
  await keep(['one two'], { unpacked: 'another part' });
  assert.equal(
    fs.readFileSync(path.join(store.unpacked(stored.hash), 'part'), 'utf8'),
    'a part',
    'what is there stays',
  );
  await store.remove(stored.hash);
  assert.deepEqual(fs.readdirSync(folder), ['incoming']);
});

test('of a body that is too large no byte beyond the limit is stored, and nothing of it stays', async () => {
  let most = 0;
  const watched = store.receive(opened.pool, async (scratch) => {
    const file = path.join(scratch, 'body');
    const consume = async (bytes: AsyncIterable<Buffer>) => {
      for await (const _piece of bytes) most = Math.max(most, fs.statSync(file).size);
    };
    await storeStream(pieces('12345', '67890', '1'), file, { limit: 10, exceeded: () => tooMuch, consume });
  });
  await assert.rejects(watched, tooMuch);
  assert.equal(most, 10);
  assert.deepEqual(fs.readdirSync(path.join(folder, 'incoming')), []);
});

test('what is no hash leads to no path', () => {
  for (const hash of ['', '..', `../${'a'.repeat(61)}`, 'A'.repeat(64), `${'a'.repeat(64)}/`])
    assert.throws(() => store.file(hash), TypeError, hash);
});

test('a sweep removes scratch and what no row refers to, and nothing else', async () => {
  const kept = await keep(['kept']);
  const lost = await keep(['lost'], { unpacked: 'of the lost' });
  fs.mkdirSync(path.join(folder, 'incoming', 'left'));
  fs.writeFileSync(path.join(folder, 'README'), 'not ours');
  await store.sweep(opened.pool, async (hashes) => {
    assert.deepEqual(hashes.sort(), [kept.hash, lost.hash].sort());
    return new Set([kept.hash]);
  });
  assert.deepEqual(fs.readdirSync(folder).sort(), ['README', `${kept.hash}.bin`].sort());
});

test('no replica sweeps while another one receives', async () => {
  await store.receive(opened.pool, async (scratch) => {
    fs.writeFileSync(path.join(scratch, 'body'), 'half of it');
    await store.sweep(other.pool, nothing);
    assert.ok(fs.existsSync(path.join(scratch, 'body')));
  });
  await store.sweep(other.pool, nothing);
  assert.deepEqual(fs.readdirSync(folder), []);
});
