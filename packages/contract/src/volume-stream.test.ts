// A volume on its way: names of any bytes, links, and frames of a node that lies.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fc } from '../../../tests/support/fast-check.ts';
import {
  entryFrame,
  leadsInside,
  nameOfBytes,
  pieceHead,
  VolumeReader,
  VolumeStreamError,
  volumeEntry,
  zerosFrame,
} from './volume-stream.ts';

const file = (bytes: number) => ({ type: 'file', path: 'a', bytes, executable: false, modified: 0 }) as const;

/** In pieces of so many bytes. */
async function* cut(frames: readonly Buffer[], size: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.concat(frames);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

const readerOf = (frames: readonly Buffer[], size = 7) => new VolumeReader(cut(frames, size));

async function contentOf(reader: VolumeReader): Promise<Buffer> {
  const entry = await reader.entry();
  assert.equal(entry.type, 'file');
  const pieces: Buffer[] = [];
  for await (const piece of reader.content(entry.type === 'file' ? entry.bytes : 0)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('names', () => {
  test('of any bytes are text from which the bytes can be told, and which the stream takes', () => {
    const names = fc
      .uint8Array({ minLength: 1, maxLength: 40 })
      .filter((name) => !name.includes(0) && !name.includes(0x2f) && !['.', '..'].includes(String(Buffer.from(name))));
    const tricky = fc.array(fc.constantFrom('%', '41', '\\', '\n', 'é', '\u202e', 'a'), { minLength: 1 });
    const any = fc.oneof(
      names,
      tricky.map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(any, (name) => {
        const text = nameOfBytes(name);
        const back = Buffer.concat(
          text
            .split(/(%[0-9A-F]{2})/i)
            .map((part) => (/^%[0-9A-F]{2}$/i.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
        );
        assert.deepEqual(back, Buffer.from(name));
        assert.ok(volumeEntry.safeParse({ type: 'folder', path: text, modified: 0 }).success, text);
      }),
    );
  });

  for (const path of ['', '/a', 'a/', 'a//b', '..', 'a/../b', '.', 'a\\b', 'a\nb', 'a\0', '\ud800', 'x/'.repeat(200)])
    test(`${JSON.stringify(path).slice(0, 30)} is no path`, () => {
      assert.equal(volumeEntry.safeParse({ type: 'folder', path, modified: 0 }).success, false);
    });
});

describe('links', () => {
  const cases: readonly [string, string, boolean][] = [
    ['l', 'a', true],
    ['l', './a/b', true],
    ['l', '.', true],
    ['d/l', '../a', true],
    ['d/e/l', '../../a', true],
    ['l', '/etc/passwd', false],
    ['l', '..', false],
    ['l', '../a', false],
    ['d/l', '../../a', false],
    ['l', 'a/../..', false],
    ['l', 'a/..', false],
    ['l', 'a\\..', false],
    ['l', 'a\nb', false],
  ];
  for (const [path, target, isInside] of cases)
    test(`from ${path} to ${JSON.stringify(target)} ${isInside ? 'stay' : 'lead out'}`, () => {
      assert.equal(leadsInside({ path, target }), isInside);
    });
});

describe('frames', () => {
  test('give what was sent, however it arrives', async () => {
    const first = Buffer.alloc(5_000, 1);
    const frames = [
      entryFrame(file(20_001)),
      pieceHead(5_000),
      first,
      zerosFrame(15_000),
      pieceHead(1),
      Buffer.from([7]),
      entryFrame({ type: 'end' }),
    ];
    for (const size of [1, 7, 4_096, 100_000]) {
      const reader = readerOf(frames, size);
      assert.deepEqual(await contentOf(reader), Buffer.concat([first, Buffer.alloc(15_000), Buffer.from([7])]));
      assert.deepEqual(await reader.entry(), { type: 'end' });
    }
  });

  const lies: Record<string, Buffer[]> = {
    'more content than it said': [entryFrame(file(10)), pieceHead(11), Buffer.alloc(11)],
    'less content than it said': [entryFrame(file(10)), entryFrame({ type: 'end' })],
    'content that ends early': [entryFrame(file(10)), pieceHead(10), Buffer.alloc(4)],
    'more zeros than it said': [entryFrame(file(10)), zerosFrame(11)],
    'pieces of one byte': [entryFrame(file(10_000)), pieceHead(1), Buffer.alloc(1)],
    'empty pieces': [entryFrame(file(10)), pieceHead(0)],
    'a piece as large as it likes': [entryFrame(file(2 ** 40)), pieceHead(2 ** 40)],
    'an entry as large as it likes': [Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])],
    'a file without a size': [Buffer.from('{"type":"file"}')],
    'a negative size': [entryFrame(file(-1))],
    'a path out of the volume': [entryFrame({ ...file(0), path: '../../etc/passwd' })],
    nothing: [],
  };
  for (const [lie, frames] of Object.entries(lies))
    test(`with ${lie} are refused`, async () => {
      await assert.rejects(contentOf(readerOf(frames)), VolumeStreamError);
    });
});
