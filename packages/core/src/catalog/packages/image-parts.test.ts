// Promise: pictures that browsers draw again and again are distinguished from those that they draw once, in no time.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@platform/contract';
import { chunk, png } from '../../../../../tests/support/pictures.ts';
import { faultOfParts } from './image-parts.ts';

const PNG = png(16, 16);
/** With a chunk behind its header. */
const pngWith = (type: string, data = Buffer.alloc(8)) =>
  Buffer.concat([PNG.subarray(0, 33), chunk(type, data), PNG.subarray(33)]);

function webp(...chunks: readonly (readonly [type: string, bytes: number])[]): Buffer {
  const parts = chunks.map(([type, bytes]) => {
    const part = Buffer.alloc(8 + bytes + (bytes % 2));
    part.write(type, 'latin1');
    part.writeUInt32LE(bytes, 4);
    return part;
  });
  const body = Buffer.concat(parts);
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  head.writeUInt32LE(4 + body.length, 4);
  return Buffer.concat([head, body]);
}

const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0x12, 0xff, 0]);
const jpeg = (scans: number) =>
  Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xc2]), ...Array.from({ length: scans }, () => scan)]);

const once: Readonly<Record<string, Buffer>> = {
  'a PNG': PNG,
  'a PNG that says what it is': pngWith('tEXt', Buffer.from('Comment\0acTL fcTL fdAT')),
  'a WebP': webp(['VP8 ', 31], ['EXIF', 9]),
  'a WebP with its size in front': webp(['VP8X', 10], ['ICCP', 7], ['VP8L', 40]),
  'a JPEG of one scan': jpeg(1),
  'a progressive JPEG': jpeg(12),
  'a JPEG with a large profile': Buffer.concat([jpeg(12), createHash('shake256', { outputLength: 500_000 }).digest()]),
};
for (const [what, bytes] of Object.entries(once))
  test(`${what} is drawn once`, () => assert.equal(faultOfParts(bytes), null));

const again: Readonly<Record<string, readonly [bytes: Buffer, fault: RegExp]>> = {
  'an animated PNG': [pngWith('acTL'), /animated/],
  'a PNG with frames that it does not announce': [pngWith('fcTL'), /animated/],
  'a PNG with data of frames': [Buffer.concat([PNG, chunk('fdAT', Buffer.alloc(9))]), /animated/],
  'an animated WebP': [webp(['VP8X', 10], ['ANIM', 6], ['ANMF', 20]), /animated/],
  'a WebP with frames behind a chunk of odd length': [webp(['VP8X', 10], ['ICCP', 7], ['ANMF', 20]), /animated/],
  'a JPEG of a thousand scans': [jpeg(1_000), /more than 40 scans/],
};
for (const [what, [bytes, fault]] of Object.entries(again))
  test(`${what} is refused`, () => assert.match(faultOfParts(bytes) ?? '', fault));

test('a picture of the largest size is looked through in no time, wherever it is cut', () => {
  const { value } = limits.screenshotSize;
  const small = [chunk('tEXt', Buffer.alloc(0)), Buffer.from('EXIF\0\0\0\0', 'latin1'), scan, Buffer.from([0xff])];
  for (const start of [PNG.subarray(0, 33), webp(), jpeg(0)])
    for (const piece of small) {
      const bytes = Buffer.alloc(value, piece).fill(start, 0, start.length);
      const begun = process.cpuUsage();
      for (const end of [value, value - 1, value - 7]) faultOfParts(bytes.subarray(0, end));
      assert.ok(process.cpuUsage(begun).user < 1_000_000);
    }
});
