// Pictures for packages under test.
import { crc32, deflateSync } from 'node:zlib';

/**
 * A valid PNG of one colour, in grey. Beyond a few million pixels only its header is true: such a picture is refused by
 * its size.
 *
 * @param bytes the length it is filled up to
 */
export function png(width: number, height: number, bytes = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = width * height > 4_000_000 ? Buffer.alloc(0) : Buffer.alloc((width + 1) * height, 0x99);
  for (let row = 0; row < height && pixels.length > 0; row += 1) pixels[row * (width + 1)] = 0;
  const parts = [
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ];
  const image = Buffer.concat(parts);
  return Buffer.concat([image, Buffer.alloc(Math.max(0, bytes - image.length))]);
}

/** A chunk of a PNG. */
export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}
