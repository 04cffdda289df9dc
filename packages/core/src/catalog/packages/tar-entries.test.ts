// Promise of the tar reader: what it takes, another reader understands the same way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusalError } from '@platform/contract';
import tar from 'tar-stream';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { thorough } from '../../../../../tests/support/thorough.ts';
import { type EntryDescription, sealed, tarOf } from '../../../test-support/vector-archives.ts';
import { readTarEntries } from './tar-entries.ts';

type Listing = readonly { readonly name: string; readonly kind: string; readonly body: string }[];

const entries: EntryDescription[] = [
  { name: 'manifest.json', type: 'file', content: '{"a":1}' },
  { name: 'frontend/', type: 'dir' },
  { name: 'frontend/index.html', type: 'file', content: '<p>hi</p>'.repeat(100) },
  { nameRepeat: 'frontend/long', repeat: 15, type: 'file', content: 'x', viaPax: true },
  { nameRepeat: 'workload/long', repeat: 20, type: 'file', content: 'yy' },
  { name: 'a.txt', type: 'file', content: 'z', pax: { mtime: '1.5', comment: 'c' } },
  { name: 'empty', type: 'file', content: '' },
];
const original = Buffer.concat([...tarOf(entries)]);

async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function listed(bytes: Buffer, length = 4_096): Promise<Listing | null> {
  const found = [];
  try {
    for await (const { name, kind, body } of readTarEntries(pieces(bytes, length))) {
      const parts: Buffer[] = [];
      for await (const part of body) parts.push(part);
      found.push({ name, kind: kind === 'file' ? 'file' : 'directory', body: Buffer.concat(parts).toString('latin1') });
    }
  } catch (error) {
    assert.ok(error instanceof RefusalError, String(error));
    return null;
  }
  return found;
}

async function listedByOther(bytes: Buffer): Promise<Listing> {
  const found = [];
  const extract = tar.extract();
  extract.end(bytes);
  for await (const entry of extract) {
    const parts: Buffer[] = [];
    for await (const part of entry as AsyncIterable<Buffer>) parts.push(part);
    // The packed folder itself is no entry of the package, and its prefix no part of a name.
    const name = entry.header.name.replace(/^\.(\/|$)/, '').replace(/\/$/, '');
    if (name === '' && entry.header.type === 'directory') continue;
    found.push({
      name,
      kind: String(entry.header.type),
      body: Buffer.concat(parts).toString('latin1'),
    });
  }
  return found;
}

test('entries, long names and contents come out as another reader sees them, whatever the pieces', async () => {
  const expected = await listedByOther(original);
  assert.equal(expected.length, entries.length);
  for (const length of [1, 511, 512, 513, 1e6]) assert.deepEqual(await listed(original, length), expected);
});

test('contents that are not read are skipped, also when reading had begun', async () => {
  const names = [];
  for await (const { name, body } of readTarEntries(pieces(original, 100))) {
    names.push(name);
    for await (const _ of body) break;
  }
  assert.equal(names.length, entries.length);
});

test('an archive with some of its bytes changed is refused, or means the same to both readers', async () => {
  const change = fc.record({
    at: fc.nat(original.length - 1),
    byte: fc.oneof(fc.constantFrom(0, 0x20, 0x2f, 0x2e, 0x30, 0x37, 0x80, 0xff), fc.nat(255)),
  });
  let taken = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), fc.boolean(), async (changes, reseal) => {
      const bytes = Buffer.from(original);
      for (const { at, byte } of changes) {
        bytes[at] = byte;
        const block = bytes.subarray(at - (at % 512), at - (at % 512) + 512);
        if (reseal && block.toString('latin1', 257, 262) === 'ustar') sealed(block);
      }
      const ours = await listed(bytes);
      if (ours === null) {
        refused += 1;
        return;
      }
      taken += 1;
      assert.deepEqual(ours, await listedByOther(bytes));
    }),
    { numRuns: thorough(1_000, 20_000) },
  );
  assert.ok(taken > 300 && refused > 300, `both happen often: ${taken} taken, ${refused} refused`);
});

test('data after the end mark is refused, padding is not', async () => {
  assert.notEqual(await listed(Buffer.concat([original, Buffer.alloc(10_240)])), null);
  assert.equal(await listed(Buffer.concat([original, Buffer.alloc(100)])), null, 'not a whole block');
  assert.equal(await listed(Buffer.concat([original, original])), null, 'a second archive');
  assert.equal(await listed(original.subarray(0, -512)), null, 'half an end mark');
  assert.equal(await listed(original.subarray(0, -1024)), null, 'no end mark');
});
