// Promises of reading the size of an image: right for what real encoders write, and nothing for what is cut or made up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { png } from '../../../../../tests/support/pictures.ts';
import { imageSize } from './image-size.ts';

/** SOI, an APP1 segment longer than any head that is read, a table, fill bytes, then the frame header. */
function jpeg(width: number, height: number, frame = 0xc2): Buffer {
  const application = Buffer.alloc(60_000);
  application.set([0xff, 0xe1]);
  application.writeUInt16BE(59_998, 2);
  const table = Buffer.from([0xff, 0xc4, 0x00, 0x04, 1, 2]);
  const start = Buffer.from([0xff, 0xff, 0xff, frame, 0x00, 0x0b, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  start.writeUInt16BE(height, 7);
  start.writeUInt16BE(width, 9);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), application, table, start]);
}

function webp(chunk: string, body: Buffer): Buffer {
  const head = Buffer.alloc(20);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(12 + body.length, 4);
  head.write(`WEBP${chunk}`, 8, 'latin1');
  head.writeUInt32LE(body.length, 16);
  return Buffer.concat([head, body]);
}

function lossy(width: number, height: number): Buffer {
  const body = Buffer.alloc(16);
  body.set([0x30, 0x01, 0x00, 0x9d, 0x01, 0x2a]);
  body.writeUInt16LE(width, 6);
  body.writeUInt16LE(height | 0x4000, 8);
  return webp('VP8 ', body);
}

function lossless(width: number, height: number): Buffer {
  const body = Buffer.alloc(16);
  body[0] = 0x2f;
  body.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  return webp('VP8L', body);
}

function extended(width: number, height: number): Buffer {
  const body = Buffer.alloc(10);
  body.writeUIntLE(width - 1, 4, 3);
  body.writeUIntLE(height - 1, 7, 3);
  return webp('VP8X', body);
}

for (const [what, image] of [
  ['PNG', png(1_290, 2_796)],
  ['progressive JPEG', jpeg(1_290, 2_796)],
  ['baseline JPEG', jpeg(1_290, 2_796, 0xc0)],
  ['lossy WebP', lossy(1_290, 2_796)],
  ['lossless WebP', lossless(1_290, 2_796)],
  ['extended WebP', extended(1_290, 2_796)],
] as const) {
  test(`the size of a ${what} is read`, () => {
    assert.deepEqual(imageSize(image), { width: 1_290, height: 2_796 });
  });

  test(`a ${what} that is cut anywhere before its size has none, and breaks nothing`, () => {
    for (let end = 0; end < Math.min(image.length, 64); end += 1) {
      const size = imageSize(image.subarray(0, end));
      assert.ok(size === null || size.width === 1_290, `cut at ${end}`);
    }
  });
}

test('what looks like an image and is none has no size', () => {
  const notPng = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100, 0x20)]);
  const scanFirst = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xda]), Buffer.alloc(100)]);
  const endless = Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(100, 0xff)]);
  const noStartCode = lossy(10, 10).fill(0, 23, 26);
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>');
  for (const bytes of [notPng, scanFirst, endless, noStartCode, svg, jpeg(0, 10), Buffer.alloc(0)])
    assert.equal(imageSize(bytes), null);
});
